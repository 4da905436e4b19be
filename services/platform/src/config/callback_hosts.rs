//! How it is found out that a callback's host is the agent's (§9.4), and who is asked for names.

use std::net::SocketAddr;

use super::section::section;

section! {
    /// How it is found out that a callback's host is the agent's (§9.4), and who is asked for names.
    CallbackHosts in "callback_hosts" {
        /// How long one look for a challenge may take.
        verification_timeout_ms: u64 = "HUB_CALLBACK_HOSTS_VERIFICATION_TIMEOUT_MS", "4000", "milliseconds", 10 to 60000;
        /// Looks for challenges that an account may ask for.
        verifications_per_minute: u32 = "HUB_CALLBACK_HOSTS_VERIFICATIONS_PER_MINUTE", "30", "looks", 1 to 10000;
        /// Looks for challenges of one process at a time.
        verifications_max: usize = "HUB_CALLBACK_HOSTS_VERIFICATIONS_MAX", "16", "looks", 1 to 1000;
        /// Name servers that are asked for whatever the hub calls, instead of those of the machine.
        dns_servers: Vec<SocketAddr> = "HUB_CALLBACK_HOSTS_DNS_SERVERS", "", "comma list of addresses with ports";
    }
}
