//! The cookie that carries a session's secret.

use std::time::Duration;

use http::HeaderMap;
use http::header::COOKIE;

/// The prefix makes the browser refuse the cookie unless it is secure, of this host alone and for all its paths.
const NAME: &str = "__Host-ma2h_session";

/// The secret of the session, if the browser sent one.
pub(super) fn read(headers: &HeaderMap) -> Option<&str> {
    let pairs = headers
        .get_all(COOKIE)
        .into_iter()
        .filter_map(|value| value.to_str().ok());
    pairs
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(name, secret)| *name == NAME && !secret.is_empty())
        .map(|(_, secret)| secret)
}

/// `Set-Cookie` for a session that lives this long.
pub(super) fn set(secret: &str, lifetime: Duration) -> String {
    format!(
        "{NAME}={secret}; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age={}",
        lifetime.as_secs()
    )
}

/// `Set-Cookie` that takes it away.
pub(super) fn clear() -> String {
    set("", Duration::ZERO)
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue, header::COOKIE};

    use super::read;

    #[test]
    fn finds_its_own_among_others() {
        let cases = [
            ("__Host-ma2h_session=abc", Some("abc")),
            ("a=b; __Host-ma2h_session=abc; c=d", Some("abc")),
            ("a=b;__Host-ma2h_session=abc", Some("abc")),
            ("x__Host-ma2h_session=abc", None),
            ("__host-ma2h_session=abc", None),
            ("__Host-ma2h_session=", None),
            ("__Host-ma2h_session", None),
            ("", None),
        ];
        for (header, secret) in cases {
            let mut headers = HeaderMap::new();
            headers.insert(COOKIE, HeaderValue::from_static(header));
            assert_eq!(read(&headers), secret, "{header}");
        }
        let mut headers = HeaderMap::new();
        headers.append(COOKIE, HeaderValue::from_static("a=b"));
        headers.append(COOKIE, HeaderValue::from_static("__Host-ma2h_session=abc"));
        assert_eq!(read(&headers), Some("abc"), "HTTP/2 may split the header");
    }
}
