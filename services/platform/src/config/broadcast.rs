//! One directive to many agents.

use super::section::section;

section! {
    /// One directive to many agents.
    Broadcast in "broadcast" {
        /// Most agents of one broadcast.
        recipients_max: u32 = "HUB_BROADCAST_RECIPIENTS_MAX", "10000", "agents", 1 to 100_000;
        /// What the directives of one broadcast may take together: each holds the content.
        content_bytes_max: u64 = "HUB_BROADCAST_CONTENT_BYTES_MAX", "268435456", "bytes", 1_048_576 to 1_099_511_627_776;
        /// Most broadcasts of one account that may be under way: taken, and not with all their agents yet.
        under_way_max: u32 = "HUB_BROADCAST_UNDER_WAY_MAX", "100", "broadcasts", 1 to 100_000;
        /// Agents that one job of a broadcast reaches, in one transaction; large content makes it fewer.
        chunk_max: u32 = "HUB_BROADCAST_CHUNK_MAX", "200", "agents", 1 to 1000;
    }
}
