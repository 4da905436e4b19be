//! How a tier reaches the others.

use super::section::section;

section! {
    /// How a tier reaches the others.
    Peers in "peers" {
        /// The lifecycle replicas.
        lifecycle_urls: Vec<String> = "HUB_LIFECYCLE_URLS", "http://127.0.0.1:7101", "comma list of URLs";
        /// The delivery replicas.
        delivery_urls: Vec<String> = "HUB_DELIVERY_URLS", "http://127.0.0.1:7102", "comma list of URLs";
        /// The presence replicas.
        presence_urls: Vec<String> = "HUB_PRESENCE_URLS", "http://127.0.0.1:7103", "comma list of URLs";
        /// How long a call may take, with all its retries.
        call_timeout_ms: u64 = "HUB_PEERS_CALL_TIMEOUT_MS", "10000", "milliseconds", 10 to 300_000;
        /// How long one attempt of a call may take before another replica is asked.
        attempt_timeout_ms: u64 = "HUB_PEERS_ATTEMPT_TIMEOUT_MS", "5000", "milliseconds", 10 to 300_000;
        /// How long opening a connection may take.
        connect_timeout_ms: u64 = "HUB_PEERS_CONNECT_TIMEOUT_MS", "1000", "milliseconds", 10 to 60000;
        /// How often a connection is asked whether it still lives, and how long it may take to say so.
        keepalive_ms: u64 = "HUB_PEERS_KEEPALIVE_MS", "2000", "milliseconds", 100 to 60000;
        /// Pause before the first retry of a call; it doubles, with jitter.
        retry_first_delay_ms: u64 = "HUB_PEERS_RETRY_FIRST_DELAY_MS", "25", "milliseconds", 1 to 10000;
        /// Longest pause between retries of a call.
        retry_max_delay_ms: u64 = "HUB_PEERS_RETRY_MAX_DELAY_MS", "500", "milliseconds", 1 to 60000;
    }
}
