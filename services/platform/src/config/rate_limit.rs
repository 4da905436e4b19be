//! What one agent may ask for.

use super::section::section;

section! {
    /// What one agent.id may ask for; an account's policy stays beneath it.
    RateLimit in "rate_limit" {
        /// Requests of one agent; 0 for no limit.
        requests_per_minute: u64 = "HUB_RATE_LIMIT_REQUESTS_PER_MINUTE", "60", "requests per minute", 0 to 1_000_000;
        /// Addressed messages of one agent; 0 for no limit.
        inter_agent_requests_per_minute: Option<u64> = "HUB_RATE_LIMIT_INTER_AGENT_REQUESTS_PER_MINUTE", "", "requests per minute", 0 to 1_000_000;
        /// Entries waiting in one agent's mailbox; 0 for no limit.
        inbox_depth: u64 = "HUB_RATE_LIMIT_INBOX_DEPTH", "1000", "entries", 0 to 1_000_000;
    }
}
