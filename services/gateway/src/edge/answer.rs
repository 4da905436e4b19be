//! Answers: JSON, and times as text.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use hub_proto::{Timestamp, lifecycle};
use ma2h::ack::Ack;
use ma2h::error::Problem;
use ma2h::timestamp;
use serde_json::Value;
use time::OffsetDateTime;

/// An answer of this status whose body is `value`.
pub(crate) fn json(status: StatusCode, value: &Value) -> Response {
    json_text(status, value.to_string())
}

/// An answer of this status whose body is JSON text already.
pub(crate) fn json_text(status: StatusCode, text: String) -> Response {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// An answer without a body.
pub(crate) fn empty(status: StatusCode) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

/// A page of a list, and where the next begins.
pub(crate) fn page(name: &str, entries: Vec<Value>, next_cursor: Option<String>) -> Value {
    let mut body = serde_json::Map::new();
    body.insert(name.to_owned(), Value::Array(entries));
    if let Some(cursor) = next_cursor {
        body.insert("next_cursor".to_owned(), Value::String(cursor));
    }
    Value::Object(body)
}

/// A `google.protobuf.Timestamp` as RFC 3339.
pub(crate) fn stamp_text(stamp: &Timestamp) -> Option<String> {
    hub_proto::time_of(stamp).map(timestamp::format)
}

/// An acknowledgement as another tier tells it.
pub(crate) fn ack(told: &lifecycle::Ack) -> Option<Ack> {
    Some(Ack {
        ma2h_version: told.ma2h_version.clone(),
        in_reply_to: told.in_reply_to.clone(),
        by: told.by.clone(),
        acked_at: hub_proto::time_of(told.acked_at.as_ref()?)?,
        note: told.note.clone(),
        resolution_id: told.resolution_id.clone(),
    })
}

/// A time that a caller wrote, as RFC 3339; `name` says where.
pub(crate) fn parse_time(name: &str, text: &str) -> Result<OffsetDateTime, Problem> {
    timestamp::parse(text).ok_or_else(|| Problem::validation(format!("{name}: expected a time as RFC 3339")))
}

#[cfg(test)]
mod tests {
    use super::{parse_time, stamp_text};

    #[test]
    fn times_are_written_in_utc() {
        let stamp = hub_proto::Timestamp {
            seconds: 1_754_820_000,
            nanos: 5_000,
        };
        assert_eq!(stamp_text(&stamp).as_deref(), Some("2025-08-10T10:00:00.000005Z"));
        assert!(parse_time("since", "2025-08-10T12:00:00+02:00").is_ok());
        assert!(
            parse_time("since", "yesterday")
                .unwrap_err()
                .message
                .starts_with("since: ")
        );
    }
}
