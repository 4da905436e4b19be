//! The id that a request is found by in logs and traces.

use axum::http::{HeaderMap, HeaderName, HeaderValue};

/// The header, both ways.
pub(super) static REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Longest id taken over from a caller.
const LENGTH_MAX_BYTES: usize = 128;

/// The caller's id where it is a sane token, otherwise a fresh one.
pub(super) fn choose(headers: &HeaderMap) -> HeaderValue {
    match headers.get(&REQUEST_ID) {
        Some(given) if is_sane(given.as_bytes()) => given.clone(),
        _ => mint(),
    }
}

fn mint() -> HeaderValue {
    HeaderValue::try_from(hub_platform::ids::mint("req"))
        .unwrap_or_else(|_| HeaderValue::from_static("req_unknown"))
}

fn is_sane(id: &[u8]) -> bool {
    let is_sane_byte = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(byte);
    !id.is_empty() && id.len() <= LENGTH_MAX_BYTES && id.iter().all(is_sane_byte)
}

#[cfg(test)]
mod tests {
    use super::{HeaderMap, HeaderValue, REQUEST_ID, choose};

    fn chosen(given: &'static str) -> HeaderValue {
        let mut headers = HeaderMap::new();
        headers.insert(&REQUEST_ID, HeaderValue::from_static(given));
        choose(&headers)
    }

    #[test]
    fn a_sane_id_is_kept_and_any_other_replaced() {
        assert_eq!(chosen("abc-123"), "abc-123");
        assert_ne!(chosen("a b"), "a b");
        assert_ne!(chosen(""), "");
        assert_ne!(choose(&HeaderMap::new()), choose(&HeaderMap::new()));
    }
}
