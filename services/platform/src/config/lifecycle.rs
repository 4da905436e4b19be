//! How long things are kept, and the passes that look for what is due.

use super::section::section;

section! {
    /// How long things are kept, and the passes that look for what is due.
    Lifecycle in "lifecycle" {
        /// How long an idempotency key is remembered (§8.1).
        idempotency_ttl_seconds: u64 = "HUB_IDEMPOTENCY_TTL_SECONDS", "86400", "seconds", 1 to 31_536_000;
        /// How long a message is kept after its terminal (§8.2).
        retention_seconds: u64 = "HUB_RETENTION_SECONDS", "2592000", "seconds", 1 to 315_360_000;
        /// How long the content stays after that, before only the 410 does.
        retention_grace_seconds: u64 = "HUB_RETENTION_GRACE_SECONDS", "86400", "seconds", 0 to 31_536_000;
        /// How long an erased message is told from one that never was (410, then 404); at least as long as a key is remembered.
        tombstone_seconds: u64 = "HUB_TOMBSTONE_SECONDS", "34560000", "seconds", 1 to 3_153_600_000;
        /// How often the passes for expiry, lease lapse and retention run.
        sweep_interval_ms: u64 = "HUB_SWEEP_INTERVAL_MS", "1000", "milliseconds", 10 to 3_600_000;
        /// Rows of one pass's statement.
        sweep_batch_max: u32 = "HUB_SWEEP_BATCH_MAX", "500", "rows", 1 to 10000;
        /// When a job that was published and not claimed is published again.
        republish_after_ms: u64 = "HUB_REPUBLISH_AFTER_MS", "10000", "milliseconds", 100 to 3_600_000;
        /// How often the relay looks for owed pushes that are due.
        relay_interval_ms: u64 = "HUB_RELAY_INTERVAL_MS", "500", "milliseconds", 10 to 60000;
        /// Pushes of one relay statement.
        relay_batch_max: u32 = "HUB_RELAY_BATCH_MAX", "500", "pushes", 1 to 10000;
        /// Jobs in the queue beyond which the relay adds none: the queue is slow, and has lost nothing.
        relay_queue_max: u32 = "HUB_RELAY_QUEUE_MAX", "4096", "jobs", 1 to 1_000_000;
        /// How long after a push's deadline its claim still holds, so that the outcome can be recorded.
        claim_slack_ms: u64 = "HUB_CLAIM_SLACK_MS", "15000", "milliseconds", 100 to 600_000;
    }
}
