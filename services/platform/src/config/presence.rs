//! Who is there (§15).

use super::section::section;

section! {
    /// Who is there (§15).
    Presence in "presence" {
        /// How long an agent counts as online after it was heard from (§15.2).
        freshness_seconds: u64 = "HUB_PRESENCE_FRESHNESS_SECONDS", "90", "seconds", 1 to 86400;
        /// How old the stored time may become before it is written again.
        write_through_ms: u64 = "HUB_PRESENCE_WRITE_THROUGH_MS", "5000", "milliseconds", 0 to 60000;
        /// How often some of those that were heard from are looked at, and forgotten where there is no such agent any more.
        sweep_interval_ms: u64 = "HUB_PRESENCE_SWEEP_INTERVAL_MS", "10000", "milliseconds", 10 to 3_600_000;
        /// Longest hold of a mailbox stream without a sign of life (§8.7.2); not longer than the freshness.
        stream_max_hold_seconds: u64 = "HUB_STREAM_MAX_HOLD_SECONDS", "60", "seconds", 1 to 86400;
    }
}
