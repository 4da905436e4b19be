//! What stands on every answer.

use axum::http::{HeaderMap, HeaderValue, header};

/// Adds what the handler has not said otherwise.
pub(super) fn finish(headers: &mut HeaderMap) {
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    headers
        .entry(header::X_CONTENT_TYPE_OPTIONS)
        .or_insert(HeaderValue::from_static("nosniff"));
}
