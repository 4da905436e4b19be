//! `Retry-After` as a wait: whole seconds, or a date counted from the hub's clock.

use http::HeaderValue;
use time::format_description::BorrowedFormatItem;
use time::macros::format_description;
use time::{Duration, OffsetDateTime, PrimitiveDateTime};

/// The longest wait that is passed on; lifecycle bounds it further.
const WAIT_SECONDS_MAX: i64 = 86_400;

/// The one form of date that senders still write (RFC 9110 §5.6.7).
const DATE: &[BorrowedFormatItem<'_>] =
    format_description!("[weekday repr:short], [day] [month repr:short] [year] [hour]:[minute]:[second] GMT");

/// What the other side asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RetryAfter {
    /// So many seconds from now.
    Seconds(i64),
    /// Not before this time.
    At(OffsetDateTime),
}

/// Reads the header; what is not understood was not said.
pub(super) fn parse(header: Option<&HeaderValue>) -> Option<RetryAfter> {
    let text = header?.to_str().ok()?.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        // A number too large to hold is a long wait as well.
        return Some(RetryAfter::Seconds(text.parse().unwrap_or(WAIT_SECONDS_MAX)));
    }
    let date = PrimitiveDateTime::parse(text, DATE).ok()?;
    Some(RetryAfter::At(date.assume_utc()))
}

impl RetryAfter {
    /// The wait from `now`, in milliseconds.
    pub(crate) fn wait_ms(self, now: OffsetDateTime) -> u32 {
        let wait = match self {
            Self::Seconds(seconds) => Duration::seconds(seconds),
            Self::At(time) => time - now,
        };
        let bounded = wait.clamp(Duration::ZERO, Duration::seconds(WAIT_SECONDS_MAX));
        u32::try_from(bounded.whole_milliseconds()).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::datetime;

    fn check(text: &str, expected_ms: Option<u32>) {
        let header = HeaderValue::from_str(text).unwrap();
        let now = datetime!(2026-05-04 10:00:00 UTC);
        assert_eq!(
            parse(Some(&header)).map(|asked| asked.wait_ms(now)),
            expected_ms,
            "{text:?}"
        );
    }

    #[test]
    fn seconds_and_dates_are_understood_within_bounds() {
        check("0", Some(0));
        check("120", Some(120_000));
        check("99999999999999999999999", Some(86_400_000));
        check("604800", Some(86_400_000));
        check("Mon, 04 May 2026 10:00:30 GMT", Some(30_000));
        check("Mon, 04 May 2026 09:00:00 GMT", Some(0));
        check("-1", None);
        check("soon", None);
        check("", None);
        assert_eq!(parse(None), None);
    }
}
