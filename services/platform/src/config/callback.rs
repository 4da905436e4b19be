//! Signed pushes to agents (§8.3).

use std::path::PathBuf;

use super::section::section;

section! {
    /// Signed pushes to agents (§8.3).
    Callback in "callback" {
        /// Pause before the first retry.
        first_delay_ms: u64 = "HUB_CALLBACK_FIRST_DELAY_MS", "1000", "milliseconds", 1 to 3_600_000;
        /// What each further pause is multiplied by.
        backoff_factor: f64 = "HUB_CALLBACK_BACKOFF_FACTOR", "3", "factor", 1 to 100;
        /// Longest pause.
        max_delay_ms: u64 = "HUB_CALLBACK_MAX_DELAY_MS", "900000", "milliseconds", 1 to 86_400_000;
        /// Attempts before a push is given up; looks whether a paused host is back are not among them.
        max_attempts: u32 = "HUB_CALLBACK_MAX_ATTEMPTS", "8", "attempts", 1 to 1000;
        /// How long after the first attempt a push is given up, without the time for which its host was not sent to.
        max_duration_seconds: u64 = "HUB_CALLBACK_MAX_DURATION_SECONDS", "86400", "seconds", 1 to 2_592_000;
        /// How long one attempt may take, from name resolution to the answer's end.
        timeout_ms: u64 = "HUB_CALLBACK_TIMEOUT_MS", "15000", "milliseconds", 10 to 120_000;
        /// Attempts of one process at a time.
        in_flight_max: usize = "HUB_CALLBACK_IN_FLIGHT_MAX", "512", "attempts", 1 to 10000;
        /// Attempts of one process at a time to one host.
        per_host_max: usize = "HUB_CALLBACK_PER_HOST_MAX", "16", "attempts", 1 to 1000;
        /// Pushes claimed or settled in one call.
        batch_max: usize = "HUB_CALLBACK_BATCH_MAX", "64", "pushes", 1 to 1000;
        /// First pause of a push whose host has no room for it; it doubles each time.
        defer_first_ms: u64 = "HUB_CALLBACK_DEFER_FIRST_MS", "100", "milliseconds", 1 to 60000;
        /// Failures of a host in a row after which its pushes are held, and tried by one alone.
        breaker_failures: u32 = "HUB_CALLBACK_BREAKER_FAILURES", "10", "failures", 1 to 1_000_000;
        /// How long a host fails before it is paused, and the account's people are told.
        pause_after_seconds: u64 = "HUB_CALLBACK_PAUSE_AFTER_SECONDS", "3600", "seconds", 1 to 2_592_000;
        /// How often one push looks whether a paused host is back.
        pause_probe_seconds: u64 = "HUB_CALLBACK_PAUSE_PROBE_SECONDS", "300", "seconds", 1 to 86400;
        /// Most pushes that one call of a person puts back on the queue; what is left takes another call.
        redeliver_max: u32 = "HUB_CALLBACK_REDELIVER_MAX", "50000", "pushes", 1 to 1_000_000;
        /// What is read of an answer.
        response_bytes_max: usize = "HUB_CALLBACK_RESPONSE_BYTES_MAX", "65536", "bytes", 0 to 1_048_576;
        /// Certificates trusted beside the public ones, PEM.
        extra_ca_file: Option<PathBuf> = "HUB_CALLBACK_EXTRA_CA_FILE", "", "path";
    }
}
