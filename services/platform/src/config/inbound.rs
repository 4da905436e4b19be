//! Mailboxes of agents (§8.7, §13).

use super::section::section;

section! {
    /// Mailboxes of agents (§8.7, §13).
    Inbound in "inbound" {
        /// How long an entry waits for its agent (§13.3).
        retention_seconds: u64 = "HUB_INBOUND_RETENTION_SECONDS", "2592000", "seconds", 1 to 315_360_000;
        /// Most entries of one drain.
        max_batch: u32 = "HUB_INBOUND_MAX_BATCH", "32", "entries", 1 to 1000;
        /// How long a drained entry stays away before it is delivered again.
        visibility_timeout_seconds: u64 = "HUB_INBOUND_VISIBILITY_TIMEOUT_SECONDS", "60", "seconds", 1 to 43200;
    }
}
