//! What stands on every answer, and on some requests.

use axum::http::{HeaderMap, HeaderValue, header};
use ma2h::error::Problem;

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

/// Longest key, in bytes.
const KEY_BYTES_MAX: usize = 1024;

/// What names a person's operation, so that a call made again is the same one.
pub(crate) fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(key) = headers.get("idempotency-key") else {
        return Ok(None);
    };
    let key = key
        .to_str()
        .map_err(|_| Problem::validation("idempotency-key: expected visible ASCII"))?;
    if key.is_empty() || key.len() > KEY_BYTES_MAX {
        let message = format!("idempotency-key: expected 1 to {KEY_BYTES_MAX} bytes");
        return Err(Problem::validation(message));
    }
    Ok(Some(key.to_owned()))
}
