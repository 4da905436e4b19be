//! Times between PostgreSQL and gRPC. None is made here: PostgreSQL's clock is the only one (design rule 1).

use prost_types::Timestamp;
use time::OffsetDateTime;

/// As gRPC carries it.
pub(crate) fn timestamp(at: OffsetDateTime) -> Timestamp {
    Timestamp {
        seconds: at.unix_timestamp(),
        nanos: i32::try_from(at.nanosecond()).unwrap_or_default(),
    }
}

/// As PostgreSQL takes it; none where the time is out of range.
pub(crate) fn time(timestamp: &Timestamp) -> Option<OffsetDateTime> {
    let nanos = u32::try_from(timestamp.nanos).ok()?;
    OffsetDateTime::from_unix_timestamp(timestamp.seconds)
        .ok()?
        .replace_nanosecond(nanos)
        .ok()
}

#[cfg(test)]
mod tests {
    use prost_types::Timestamp;

    use super::{time, timestamp};

    #[test]
    fn there_and_back() {
        for (seconds, nanos) in [(0, 0), (1_786_000_000, 123_456_000), (-1, 999_999_000)] {
            let given = Timestamp { seconds, nanos };
            assert_eq!(time(&given).map(timestamp), Some(given));
        }
        assert_eq!(
            time(&Timestamp {
                seconds: i64::MAX,
                nanos: 0
            }),
            None
        );
        assert_eq!(
            time(&Timestamp {
                seconds: 0,
                nanos: -1
            }),
            None
        );
    }
}
