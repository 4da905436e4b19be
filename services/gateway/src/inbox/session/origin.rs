//! Whether a form came from the inbox's own pages, as the browser tells it.

use http::header::{HOST, ORIGIN};
use http::request::Parts;
use ma2h::error::Problem;

use crate::principal::not_authorized;

/// Refuses what another site made the browser send.
pub(super) fn check(parts: &Parts) -> Result<(), Problem> {
    if is_own(parts) {
        return Ok(());
    }
    Err(not_authorized(
        "this form did not come from the inbox; load its page and repeat",
    ))
}

fn is_own(parts: &Parts) -> bool {
    let text = |name: &str| {
        parts
            .headers
            .get(name)
            .map(|value| value.to_str().unwrap_or_default())
    };
    if let Some(site) = text("sec-fetch-site") {
        return site == "same-origin";
    }
    // Browsers that do not send it send `Origin` with every form.
    let host = parts
        .uri
        .authority()
        .map(http::uri::Authority::as_str)
        .or_else(|| text(HOST.as_str()));
    let origin = text(ORIGIN.as_str()).and_then(|origin| origin.strip_prefix("https://"));
    matches!((origin, host), (Some(origin), Some(host)) if origin.eq_ignore_ascii_case(host))
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::is_own;

    #[test]
    fn only_the_inbox_itself_may_post() {
        let cases: [(&[(&str, &str)], bool); 10] = [
            (&[("sec-fetch-site", "same-origin")], true),
            (&[("sec-fetch-site", "same-site")], false),
            (
                &[
                    ("sec-fetch-site", "cross-site"),
                    ("host", "hub"),
                    ("origin", "https://hub"),
                ],
                false,
            ),
            (&[("sec-fetch-site", "none")], false),
            (&[("host", "hub:8443"), ("origin", "https://hub:8443")], true),
            (&[("host", "hub:8443"), ("origin", "https://hub")], false),
            (&[("host", "hub"), ("origin", "http://hub")], false),
            (&[("host", "hub"), ("origin", "null")], false),
            (&[("host", "hub"), ("origin", "https://evil.example")], false),
            (&[("host", "hub")], false),
        ];
        for (headers, own) in cases {
            let mut request = Request::post("/inbox/sign-in");
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            let (parts, ()) = request.body(()).unwrap().into_parts();
            assert_eq!(is_own(&parts), own, "{headers:?}");
        }
        let request = Request::post("https://hub:8443/inbox").header("origin", "https://hub:8443");
        let (parts, ()) = request.body(()).unwrap().into_parts();
        assert!(is_own(&parts), "HTTP/2 has the host in the request's address");
    }
}
