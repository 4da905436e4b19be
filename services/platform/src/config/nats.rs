//! NATS: work and wake-ups.

use super::Secret;
use super::section::section;

section! {
    /// NATS: work and wake-ups.
    Nats in "nats" {
        /// Where it is, as nats://user:password@host:port; several separated by commas.
        url: Secret = "HUB_NATS_URL", "", "secret";
        /// What the subjects and streams of this hub begin with.
        prefix: String = "HUB_NATS_PREFIX", "HUB", "letters, digits, hyphens and underscores";
        /// How long the server may take to take a job.
        publish_timeout_ms: u64 = "HUB_NATS_PUBLISH_TIMEOUT_MS", "2000", "milliseconds", 10 to 60000;
        /// Jobs of one process that the server has not yet taken.
        publish_in_flight_max: usize = "HUB_NATS_PUBLISH_IN_FLIGHT_MAX", "256", "jobs", 1 to 65536;
        /// Most that the stream of push jobs holds, and 16 times what that of broadcasts does; what does not fit is published
        /// again when due.
        jobs_max_bytes: u64 = "HUB_NATS_JOBS_MAX_BYTES", "268435456", "bytes", 1_048_576 to 1_099_511_627_776;
        /// When an untaken job is dropped; it is published again when due.
        jobs_max_age_seconds: u64 = "HUB_NATS_JOBS_MAX_AGE_SECONDS", "3600", "seconds", 1 to 604_800;
        /// Copies of each job stream in a cluster of servers.
        jobs_replicas: usize = "HUB_NATS_JOBS_REPLICAS", "1", "servers", 1 to 5;
        /// How long a worker may hold a job before another gets it.
        job_ack_wait_ms: u64 = "HUB_NATS_JOB_ACK_WAIT_MS", "10000", "milliseconds", 100 to 600_000;
        /// Jobs that all workers together hold.
        jobs_held_max: u32 = "HUB_NATS_JOBS_HELD_MAX", "4096", "jobs", 1 to 1_000_000;
        /// Longest pause between attempts to reconnect.
        reconnect_max_delay_ms: u64 = "HUB_NATS_RECONNECT_MAX_DELAY_MS", "1000", "milliseconds", 10 to 60000;
        /// Wake-ups that one process may be behind before it looks at everything instead.
        wake_buffer_max: usize = "HUB_NATS_WAKE_BUFFER_MAX", "65536", "wake-ups", 16 to 1_048_576;
    }
}

/// A prefix becomes part of subjects and of stream names, where dots, spaces and wildcards mean something.
pub(super) fn check_prefix(prefix: &str) -> Result<(), super::Error> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
    if (1..=64).contains(&prefix.len()) && prefix.chars().all(is_plain) {
        return Ok(());
    }
    Err(super::Error::Invalid {
        name: "HUB_NATS_PREFIX".to_owned(),
        expected: "1 to 64 letters, digits, hyphens and underscores".to_owned(),
    })
}
