//! PostgreSQL's clock, as a claim told it, plus the monotonic time since (§9.5): a worker whose own clock is off
//! still signs inside the receiver's window.

use time::OffsetDateTime;
use tokio::time::Instant;

/// A reading of the clock that goes on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HubClock {
    read: OffsetDateTime,
    at: Instant,
}

impl HubClock {
    /// From a reading that has just come. It is late by its way here, never early.
    pub(crate) fn from_reading(reading: hub_proto::Timestamp) -> Option<Self> {
        Some(Self {
            read: hub_proto::time_of(&reading)?,
            at: Instant::now(),
        })
    }

    /// Now.
    pub(crate) fn now(self) -> OffsetDateTime {
        self.read + self.at.elapsed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::Duration;
    use time::macros::datetime;

    #[test]
    fn it_goes_on_from_the_reading() {
        let reading = hub_proto::Timestamp {
            seconds: 1_777_888_999,
            nanos: 500_000_000,
        };
        let clock = HubClock::from_reading(reading).unwrap();
        let since = clock.now() - datetime!(2026-05-04 10:03:19.5 UTC);
        assert!(since >= Duration::ZERO && since < Duration::seconds(5), "{since}");
        assert!(
            HubClock::from_reading(hub_proto::Timestamp {
                seconds: i64::MAX,
                nanos: 0
            })
            .is_none()
        );
    }
}
