//! Times on their way between tiers. None is made here.

use prost_types::Timestamp;
use time::OffsetDateTime;

/// As gRPC carries it.
pub fn stamp(at: OffsetDateTime) -> Timestamp {
    Timestamp {
        seconds: at.unix_timestamp(),
        // Below a thousand million, so it fits.
        nanos: i32::try_from(at.nanosecond()).unwrap_or_default(),
    }
}

/// The time that a stamp says; none where that is out of range.
pub fn time_of(stamp: &Timestamp) -> Option<OffsetDateTime> {
    let nanos = u32::try_from(stamp.nanos).ok()?;
    OffsetDateTime::from_unix_timestamp(stamp.seconds)
        .ok()?
        .replace_nanosecond(nanos)
        .ok()
}

#[cfg(test)]
mod tests {
    use prost_types::Timestamp;

    use super::{stamp, time_of};

    #[test]
    fn there_and_back() {
        for (seconds, nanos) in [(0, 0), (1_786_000_000, 123_456_000), (-1, 999_999_000)] {
            let given = Timestamp { seconds, nanos };
            assert_eq!(time_of(&given).map(stamp), Some(given));
        }
        for (seconds, nanos) in [(i64::MAX, 0), (0, -1), (0, 1_000_000_000)] {
            assert_eq!(time_of(&Timestamp { seconds, nanos }), None);
        }
    }
}
