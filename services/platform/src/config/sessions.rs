//! Sessions of agents (§16).

use super::section::section;

section! {
    /// Sessions of agents (§16).
    Sessions in "sessions" {
        /// Shortest lease (§16.1).
        min_ttl_seconds: u64 = "HUB_SESSIONS_MIN_TTL_SECONDS", "120", "seconds", 1 to 86400;
        /// Longest lease.
        max_ttl_seconds: u64 = "HUB_SESSIONS_MAX_TTL_SECONDS", "3600", "seconds", 1 to 604_800;
        /// The lease of who asks for none.
        default_ttl_seconds: u64 = "HUB_SESSIONS_DEFAULT_TTL_SECONDS", "900", "seconds", 1 to 604_800;
        /// Live sessions of one agent.id.
        max_live_per_agent: u32 = "HUB_SESSIONS_MAX_LIVE_PER_AGENT", "16", "sessions", 1 to 10000;
        /// How long an ended session can still be read (§16.3).
        terminal_retention_seconds: u64 = "HUB_SESSIONS_TERMINAL_RETENTION_SECONDS", "86400", "seconds", 1 to 31_536_000;
        /// Whether an account may let agents list their sessions (§16.4).
        agent_list_visibility: bool = "HUB_SESSIONS_AGENT_LIST_VISIBILITY", "false", "true or false";
    }
}
