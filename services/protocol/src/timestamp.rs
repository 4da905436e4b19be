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
