//! What stands on every answer.

use axum::http::{HeaderMap, HeaderValue, header};

/// Who has come over HTTPS once does so for a year.
const HTTPS_ONLY: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// Adds what the handler has not said otherwise. A development hub shares its host name with whatever else runs there, so
/// that it makes no promise for it.
pub(super) fn finish(headers: &mut HeaderMap, is_development: bool) {
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    headers
        .entry(header::X_CONTENT_TYPE_OPTIONS)
        .or_insert(HeaderValue::from_static("nosniff"));
    if !is_development {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, HTTPS_ONLY);
    }
}
