//! Request bodies: bounded each and together, read within a time.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, HeaderValue, header};
use http_body_util::BodyExt;
use hub_platform::config::Limits;
use ma2h::error::{ErrorCode, Problem};

use super::budget::Room;
use super::call::Call;
use super::errors::Refusal;
use super::fields::Fields;
use crate::app::App;

/// Largest body of a call that is not a submit; a resolve with its comment, or a secret, stays far below it.
const SMALL_BODY_BYTES_MAX: usize = 1 << 20;

/// What the transport takes beyond the largest envelope: who is over MA2H's limit by less is told so in MA2H's terms.
const SLACK_BYTES: usize = 1 << 20;

/// What is set aside for a body before it comes, whatever its length is said to be.
const EXPECTED_BYTES_MAX: usize = 64 * 1024;

/// The largest body that is read at all.
pub(crate) fn bytes_max(limits: &Limits) -> usize {
    limits.max_envelope_bytes + SLACK_BYTES
}

/// A JSON body as text; its room in the budget is given back when it is dropped.
pub(crate) struct JsonText {
    pub(crate) text: String,
    _room: Room,
}

/// Reads a JSON body of at most `bytes_max`.
pub(crate) async fn read_json(app: &App, request: Request, bytes_max: usize) -> Result<JsonText, Refusal> {
    require_json(request.headers())?;
    require_plain(request.headers())?;
    let (bytes, room) = read(app, request, bytes_max).await?;
    let text = String::from_utf8(bytes).map_err(|_| Problem::validation("the body is not UTF-8"))?;
    Ok(JsonText { text, _room: room })
}

/// Reads a body of at most `bytes_max`, whatever is in it, within the time that a body may take.
pub(crate) async fn read(app: &App, request: Request, bytes_max: usize) -> Result<(Vec<u8>, Room), Refusal> {
    let announced = content_length(request.headers());
    let mut room = app.bodies.room(Call::of(request.extensions()).holder());
    if announced.is_some_and(|bytes| bytes > bytes_max) {
        return Err(too_large(bytes_max).into());
    }
    let timeout = Duration::from_millis(app.config.gateway.request_timeout_ms);
    let expected = announced.unwrap_or_default().min(EXPECTED_BYTES_MAX);
    let reading = collect(request.into_body(), expected, bytes_max, &mut room);
    let Ok(bytes) = tokio::time::timeout(timeout, reading).await else {
        return Err(Problem::validation("the body did not arrive in time").into());
    };
    Ok((bytes?, room))
}

/// Charges what has come, not what was announced: who sends nothing takes nothing from others.
async fn collect(
    mut body: Body,
    expected: usize,
    bytes_max: usize,
    room: &mut Room,
) -> Result<Vec<u8>, Refusal> {
    let mut bytes = Vec::with_capacity(expected);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Problem::validation("the body could not be read"))?;
        let Ok(data) = frame.into_data() else { continue };
        if bytes.len() + data.len() > bytes_max {
            return Err(too_large(bytes_max).into());
        }
        room.grow(data.len()).await?;
        bytes.extend_from_slice(&data);
    }
    Ok(bytes)
}

/// The members of a body that is a JSON object, strictly parsed.
pub(crate) struct Object(pub(crate) Fields);

impl FromRequest<Arc<App>> for Object {
    type Rejection = Refusal;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Refusal> {
        let body = read_json(app, request, SMALL_BODY_BYTES_MAX).await?;
        Ok(Self(Fields::of(ma2h::json::parse_strict(&body.text)?)?))
    }
}

/// A small JSON body, still as text.
pub(crate) struct SmallJsonText(pub(crate) JsonText);

impl FromRequest<Arc<App>> for SmallJsonText {
    type Rejection = Refusal;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Refusal> {
        read_json(app, request, SMALL_BODY_BYTES_MAX).await.map(Self)
    }
}

/// `application/json`, if with a charset then UTF-8.
fn require_json(headers: &HeaderMap) -> Result<(), Problem> {
    let content_type = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let mut parts = content_type.split(';').map(str::trim);
    let is_json = parts
        .next()
        .is_some_and(|kind| kind.eq_ignore_ascii_case("application/json"));
    let is_utf8 = parts.all(|parameter| match parameter.split_once('=') {
        Some((name, value)) if name.trim().eq_ignore_ascii_case("charset") => {
            value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8")
        }
        _ => true,
    });
    if is_json && is_utf8 {
        return Ok(());
    }
    Err(Problem::new(
        ErrorCode::UnsupportedMediaType,
        "content-type: expected application/json",
    ))
}

/// Nothing is decompressed: a few bytes could stand for any number.
fn require_plain(headers: &HeaderMap) -> Result<(), Problem> {
    let is_plain = |value: &HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"identity");
    if headers.get_all(header::CONTENT_ENCODING).iter().all(is_plain) {
        return Ok(());
    }
    Err(Problem::new(
        ErrorCode::UnsupportedMediaType,
        "content-encoding: expected none",
    ))
}

fn content_length(headers: &HeaderMap) -> Option<usize> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn too_large(bytes_max: usize) -> Problem {
    Problem::new(
        ErrorCode::PayloadTooLarge,
        format!("the body is larger than {bytes_max} bytes"),
    )
}

#[cfg(test)]
mod tests {
    use super::{HeaderMap, header, require_json};

    #[test]
    fn only_json_in_utf8_is_taken() {
        let cases = [
            ("application/json", true),
            ("application/json; charset=utf-8", true),
            ("Application/JSON;charset=\"UTF-8\"", true),
            ("application/json; charset=latin1", false),
            ("text/plain", false),
            ("application/jsonp", false),
            ("", false),
        ];
        for (content_type, is_taken) in cases {
            let mut headers = HeaderMap::new();
            headers.insert(header::CONTENT_TYPE, content_type.parse().unwrap());
            assert_eq!(require_json(&headers).is_ok(), is_taken, "{content_type}");
        }
        assert!(require_json(&HeaderMap::new()).is_err());
    }
}
