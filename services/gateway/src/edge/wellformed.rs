//! What a request must be before it is anybody's: said once which host is meant, and nothing asked for that is not done here.

use axum::extract::Request;
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use ma2h::error::Problem;

use super::errors::Refusal;

/// The layer that refuses what is not.
pub(super) async fn check(request: Request, next: Next) -> Response {
    match check_headers(request.headers()) {
        Ok(()) => next.run(request).await,
        Err(problem) => Refusal::from(problem).into_response(),
    }
}

fn check_headers(headers: &HeaderMap) -> Result<(), Problem> {
    // A proxy may have read the other one.
    if headers.get_all(header::HOST).iter().count() > 1 {
        return Err(Problem::validation("host: expected once"));
    }
    let is_known = |value: &axum::http::HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"100-continue");
    if !headers.get_all(header::EXPECT).iter().all(is_known) {
        return Err(Problem::validation("expect: only 100-continue is known"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderMap, HeaderName};

    use super::check_headers;

    #[test]
    fn what_is_said_twice_or_cannot_be_done_is_refused() {
        type Headers = &'static [(&'static str, &'static str)];
        let cases: [(Headers, bool); 6] = [
            (&[], true),
            (&[("host", "a.example")], true),
            (&[("host", "a.example"), ("host", "a.example")], false),
            (&[("host", "a.example"), ("host", "b.example")], false),
            (&[("expect", "100-Continue")], true),
            (&[("expect", "a-miracle")], false),
        ];
        for (given, is_fit) in cases {
            let mut headers = HeaderMap::new();
            for (name, value) in given {
                headers.append(name.parse::<HeaderName>().unwrap(), value.parse().unwrap());
            }
            assert_eq!(check_headers(&headers).is_ok(), is_fit, "{given:?}");
        }
    }
}
