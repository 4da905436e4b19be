//! A call that a hub refused: what that means, and when it may be made again (§8.5, §8.6).

use std::time::Duration;

use time::macros::format_description;
use time::{OffsetDateTime, PrimitiveDateTime};

use crate::error::ErrorCode;

/// Shortest pause before a call that was one too many is made again.
const PAUSE_MIN: Duration = Duration::from_secs(1);
/// Longest pause that is chosen here; what the hub asks for is kept however long it is.
const PAUSE_MAX: Duration = Duration::from_mins(1);

/// What kind of call it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touchpoint {
    /// A submit, also an addressed one.
    Submit,
    /// A read of a message.
    Read,
    /// A cancel or a resolve.
    End,
    /// An acknowledgement of an answer.
    Acknowledge,
    /// One that presents the caller's own session, or registers one.
    Session,
}

/// The code to act by. One that is not known refines another, and is taken for the one that this kind of call would have
/// met without it.
pub fn meaning(touchpoint: Touchpoint, status: u16, code: &str) -> ErrorCode {
    code.parse().unwrap_or_else(|_| base(touchpoint, status))
}

fn base(touchpoint: Touchpoint, status: u16) -> ErrorCode {
    match (status, touchpoint) {
        (401, _) => ErrorCode::Unauthenticated,
        (403, _) => ErrorCode::NotAuthorized,
        (404, _) => ErrorCode::NotFound,
        (405, _) => ErrorCode::MethodNotAllowed,
        (409, Touchpoint::Submit) => ErrorCode::IdempotencyConflict,
        (409, Touchpoint::End) => ErrorCode::AlreadyTerminal,
        (409, Touchpoint::Acknowledge) => ErrorCode::NotAcknowledgeable,
        (409, _) => ErrorCode::Conflict,
        (410, Touchpoint::Submit) => ErrorCode::DestinationGone,
        (410, _) => ErrorCode::Gone,
        (413, _) => ErrorCode::PayloadTooLarge,
        (415, _) => ErrorCode::UnsupportedMediaType,
        (422, _) => ErrorCode::InvalidField,
        (429, _) => ErrorCode::RateLimited,
        (503, _) => ErrorCode::Unavailable,
        (500.., _) => ErrorCode::Internal,
        _ => ErrorCode::ValidationError,
    }
}

/// How long to wait before the same call is made again; none where it would only be refused again. `retry_after` is the
/// header as it came, `attempts` how often the call was made, `now` Unix seconds.
pub fn pause(status: u16, retry_after: Option<&str>, attempts: u32, now: i64) -> Option<Duration> {
    let may_repeat = status == 429 || status >= 500;
    if !may_repeat {
        return None;
    }
    let doubled = PAUSE_MIN.saturating_mul(2_u32.saturating_pow(attempts.saturating_sub(1)));
    let own = doubled.min(PAUSE_MAX);
    let asked = retry_after.and_then(|text| asked_for(text.trim(), now));
    Some(asked.unwrap_or(own).max(PAUSE_MIN))
}

/// Seconds, or a date (RFC 9110 §10.2.3).
fn asked_for(text: &str, now: i64) -> Option<Duration> {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        // More digits than a number has are a very long time.
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::from(u32::MAX))));
    }
    let format = format_description!(
        "[weekday repr:short], [day] [month repr:short] [year] [hour]:[minute]:[second] GMT"
    );
    let at = PrimitiveDateTime::parse(text, format).ok()?.assume_utc();
    let now = OffsetDateTime::from_unix_timestamp(now).ok()?;
    Some(Duration::try_from(at - now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{PAUSE_MAX, Touchpoint, meaning, pause};
    use crate::error::ErrorCode;

    #[test]
    fn a_code_that_is_not_known_is_the_one_it_refines() {
        let cases = [
            (
                Touchpoint::Session,
                410,
                "session_closed_by_operator",
                ErrorCode::SessionClosedByOperator,
            ),
            (
                Touchpoint::Session,
                403,
                "session_closed_by_operator",
                ErrorCode::SessionClosedByOperator,
            ),
            (Touchpoint::Session, 410, "session_moved", ErrorCode::Gone),
            (
                Touchpoint::Submit,
                410,
                "session_moved",
                ErrorCode::DestinationGone,
            ),
            (Touchpoint::Read, 410, "archived", ErrorCode::Gone),
            (
                Touchpoint::Submit,
                409,
                "key_reused",
                ErrorCode::IdempotencyConflict,
            ),
            (Touchpoint::End, 409, "too_late", ErrorCode::AlreadyTerminal),
            (
                Touchpoint::Acknowledge,
                409,
                "too_early",
                ErrorCode::NotAcknowledgeable,
            ),
            (Touchpoint::Submit, 422, "option_unknown", ErrorCode::InvalidField),
            (Touchpoint::Submit, 429, "inbox_full", ErrorCode::RateLimited),
            (Touchpoint::Submit, 403, "paused", ErrorCode::NotAuthorized),
            (Touchpoint::Read, 404, "", ErrorCode::NotFound),
            (Touchpoint::Submit, 418, "teapot", ErrorCode::ValidationError),
            (Touchpoint::Read, 502, "bad_gateway", ErrorCode::Internal),
        ];
        for (touchpoint, status, code, expected) in cases {
            assert_eq!(
                meaning(touchpoint, status, code),
                expected,
                "{touchpoint:?} {status} {code}"
            );
        }
    }

    #[test]
    fn a_caller_waits_as_it_is_told_and_never_returns_at_once() {
        // 1994-11-06T08:49:37Z
        let now = 784_111_777;
        let seconds =
            |status, header, attempts| pause(status, header, attempts, now).map(|pause| pause.as_secs());
        assert_eq!(seconds(429, Some("30"), 1), Some(30));
        assert_eq!(seconds(429, Some(" 7 "), 5), Some(7));
        assert_eq!(seconds(503, Some("3600"), 1), Some(3600));
        assert_eq!(seconds(429, Some("Sun, 06 Nov 1994 08:50:37 GMT"), 1), Some(60));
        // Never at once, whatever is said.
        for header in [
            None,
            Some("0"),
            Some(""),
            Some("-5"),
            Some("soon"),
            Some("Sun, 06 Nov 1994 08:00:00 GMT"),
        ] {
            assert_eq!(seconds(429, header, 1), Some(1), "{header:?}");
        }
        assert_eq!(seconds(429, None, 4), Some(8));
        assert_eq!(pause(429, None, u32::MAX, now), Some(PAUSE_MAX));
        assert!(pause(429, Some("99999999999999999999999"), 1, now) > Some(Duration::from_secs(1 << 31)));
        for status in [200, 400, 403, 404, 409, 410, 422] {
            assert_eq!(seconds(status, Some("1"), 1), None, "{status}");
        }
    }
}
