//! `GET /openapi.json`: the description of all that is served here.

use std::sync::LazyLock;

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ma2h::error::Problem;
use ma2h_schema::openapi;
use sha2::{Digest, Sha256};

use crate::edge::answer;
use crate::edge::errors::Refusal;

/// It changes with a release only; a client that asks again after this long is told in a few bytes that it has not.
const CACHE_CONTROL: HeaderValue = HeaderValue::from_static("public, max-age=300");

struct Document {
    text: String,
    /// Quoted, as the header has it.
    etag: String,
}

static DOCUMENT: LazyLock<Result<Document, &'static str>> = LazyLock::new(|| {
    let text = openapi::document()?.to_string();
    let etag = format!("\"{}\"", BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(&text)));
    Ok(Document { text, etag })
});

pub(super) async fn handle(headers: HeaderMap) -> Result<Response, Refusal> {
    let document = DOCUMENT.as_ref().map_err(|reason| {
        tracing::error!(reason, "the OpenAPI document is not one");
        Problem::internal()
    })?;
    let mut response = if is_known(&headers, &document.etag) {
        answer::empty(StatusCode::NOT_MODIFIED)
    } else {
        answer::json_text(StatusCode::OK, document.text.clone())
    };
    let etag = HeaderValue::from_str(&document.etag).map_err(|_| Problem::internal())?;
    response.headers_mut().insert(header::ETAG, etag);
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, CACHE_CONTROL);
    Ok(response)
}

/// Whether the caller has this version already (RFC 9110 §13.1.2; a proxy that compressed made the tag a weak one).
fn is_known(headers: &HeaderMap, etag: &str) -> bool {
    let given = headers.get_all(header::IF_NONE_MATCH).iter();
    let mut tags = given
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','));
    tags.any(|tag| {
        let tag = tag.trim();
        tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == etag
    })
}

#[cfg(test)]
mod tests {
    use super::{HeaderMap, header, is_known};

    #[test]
    fn a_known_version_is_told_by_its_tag() {
        let cases = [
            (&["\"a\""][..], true),
            (&["\"b\", W/\"a\""], true),
            (&["\"b\"", "\"a\""], true),
            (&["*"], true),
            (&["\"b\""], false),
            (&["a"], false),
            (&[], false),
        ];
        for (tags, expected) in cases {
            let mut headers = HeaderMap::new();
            for tag in tags {
                headers.append(header::IF_NONE_MATCH, tag.parse().unwrap());
            }
            assert_eq!(is_known(&headers, "\"a\""), expected, "{tags:?}");
        }
    }
}
