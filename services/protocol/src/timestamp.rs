//! RFC 3339 times.

use time::format_description::well_known::Rfc3339;
use time::{OffsetDateTime, UtcOffset};

/// UTC, always with six decimals: what PostgreSQL keeps, and one spelling per instant.
pub fn format(at: OffsetDateTime) -> String {
    let at = at.checked_to_offset(UtcOffset::UTC).unwrap_or(at);
    let (year, month, day) = at.to_calendar_date();
    let (hour, minute, second, micro) = at.to_hms_micro();
    let month = u8::from(month);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micro:06}Z")
}

/// Reads any RFC 3339 time whose instant lies in the years 0 to 9999 of UTC; `None` for everything else.
pub fn parse(text: &str) -> Option<OffsetDateTime> {
    let at = OffsetDateTime::parse(text, &Rfc3339).ok()?;
    // The offset may carry it past the last year, where arithmetic would panic.
    let at = at.checked_to_offset(UtcOffset::UTC)?;
    (0..=9999).contains(&at.year()).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::{format, parse};

    #[test]
    fn one_spelling_per_instant() {
        let cases = [
            ("2026-06-04T15:48:30Z", "2026-06-04T15:48:30.000000Z"),
            ("2026-06-04T15:48:30.5Z", "2026-06-04T15:48:30.500000Z"),
            ("2026-06-04T15:48:30.123456789Z", "2026-06-04T15:48:30.123456Z"),
            ("2026-06-04T17:48:30+02:00", "2026-06-04T15:48:30.000000Z"),
            ("2026-06-04t15:48:30z", "2026-06-04T15:48:30.000000Z"),
            ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000000Z"),
            ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"),
            ("2016-12-31T23:59:60Z", "2016-12-31T23:59:59.999999Z"),
        ];
        for (text, expected) in cases {
            let at = parse(text).unwrap();
            assert_eq!(format(at), expected, "{text}");
            assert_eq!(parse(expected).map(format).as_deref(), Some(expected));
        }
    }

    #[test]
    fn what_is_no_time() {
        let cases = [
            "",
            "2026-06-04",
            "2026-06-04T15:48:30",
            "2026-06-04 15:48",
            "2026-13-04T15:48:30Z",
            "2026-02-30T15:48:30Z",
            "2026-06-04T24:00:00Z",
            "tomorrow",
            // Beyond the last year, once in UTC.
            "9999-12-31T23:59:59-01:00",
            "0000-01-01T00:00:00+01:00",
        ];
        for text in cases {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
