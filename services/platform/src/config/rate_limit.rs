//! What one agent may ask for.

use super::section::section;

section! {
    /// What one agent.id may ask for; an account's policy stays beneath it.
    RateLimit in "rate_limit" {
        /// Submits of one agent; 0 for no limit.
        requests_per_minute: u64 = "HUB_RATE_LIMIT_REQUESTS_PER_MINUTE", "60", "per minute", 0 to 1_000_000;
        /// Addressed messages of one agent, which are charged to the common budget where this is unset; 0 for no limit.
        inter_agent_requests_per_minute: Option<u64> = "HUB_RATE_LIMIT_INTER_AGENT_REQUESTS_PER_MINUTE", "", "per minute", 0 to 1_000_000;
        /// Open messages of one agent, and entries waiting in its mailbox; 0 for no limit.
        inbox_depth: u64 = "HUB_RATE_LIMIT_INBOX_DEPTH", "1000", "messages", 0 to 1_000_000;
    }
}
