//! The HTTPS edge.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use super::section::section;
use super::{Network, Secret};

section! {
    /// The HTTPS edge.
    Gateway in "gateway" {
        /// The gateway's HTTPS port; 0 picks a free one.
        port: u16 = "HUB_PORT", "8443", "port", 0 to 65535;
        /// The address the gateway listens on.
        bind: IpAddr = "HUB_BIND", "0.0.0.0", "IP address";
        /// The base of `poll_url`, `review_url` and the like; derived from the port where unset.
        public_url: Option<String> = "HUB_PUBLIC_URL", "", "URL";
        /// The certificate chain, PEM.
        tls_cert_file: Option<PathBuf> = "HUB_TLS_CERT_FILE", "", "path";
        /// The certificate's private key, PEM.
        tls_key_file: Option<PathBuf> = "HUB_TLS_KEY_FILE", "", "path";
        /// Serve plaintext to a proxy that ends TLS; only then are certificate and key not needed.
        behind_tls_proxy: bool = "HUB_BEHIND_TLS_PROXY", "false", "true or false";
        /// Whose X-Forwarded-For is believed: addresses or networks.
        trusted_proxies: Vec<Network> = "HUB_TRUSTED_PROXIES", "", "comma list";
        /// The deployment admin's token, which begins with `ma2h_admin_`; without it there is no deployment admin.
        admin_token: Option<Secret> = "HUB_ADMIN_TOKEN", "", "secret";
        /// Connections at a time.
        connections_max: usize = "HUB_GATEWAY_CONNECTIONS_MAX", "10000", "connections", 1 to 1_000_000;
        /// Requests at a time that wait for something to happen: long-polls and streams.
        held_requests_max: usize = "HUB_GATEWAY_HELD_REQUESTS_MAX", "5000", "requests", 1 to 1_000_000;
        /// How many of them one credential may have.
        held_requests_per_credential_max: usize = "HUB_GATEWAY_HELD_REQUESTS_PER_CREDENTIAL_MAX", "1000", "requests", 1 to 1_000_000;
        /// What all requests in hand may hold of bodies together; at least the largest body fits.
        in_flight_bytes_max: usize = "HUB_GATEWAY_IN_FLIGHT_BYTES_MAX", "268435456", "bytes", 1_048_576 to 17_179_869_184;
        /// What all large answers on their way may hold together; at least the largest answer fits.
        answer_bytes_max: usize = "HUB_GATEWAY_ANSWER_BYTES_MAX", "268435456", "bytes", 1_048_576 to 17_179_869_184;
        /// How much of either the calls of one credential may hold; at least the largest one fits.
        in_flight_bytes_per_credential_max: usize = "HUB_GATEWAY_IN_FLIGHT_BYTES_PER_CREDENTIAL_MAX", "67108864", "bytes", 1_048_576 to 17_179_869_184;
        /// How long a client may read nothing of what waits for it before its connection ends.
        write_stall_ms: u64 = "HUB_GATEWAY_WRITE_STALL_MS", "30000", "milliseconds", 100 to 600_000;
        /// The longest wait that a poll may ask for, of which MA2H allows a minute (§8.2, §8.7).
        wait_max_seconds: u64 = "HUB_GATEWAY_WAIT_MAX_SECONDS", "60", "seconds", 1 to 60;
        /// How often all messages and mailboxes that are waited for are looked at, for what no wake-up told of.
        beat_interval_ms: u64 = "HUB_GATEWAY_BEAT_INTERVAL_MS", "5000", "milliseconds", 100 to 60000;
        /// How long a client may take to send a request's headers.
        header_timeout_ms: u64 = "HUB_GATEWAY_HEADER_TIMEOUT_MS", "10000", "milliseconds", 100 to 300_000;
        /// How long a request's body may take to arrive. Each call of another tier has `HUB_PEERS_CALL_TIMEOUT_MS`.
        request_timeout_ms: u64 = "HUB_GATEWAY_REQUEST_TIMEOUT_MS", "30000", "milliseconds", 100 to 300_000;
        /// How long a token's principal is believed without asking again.
        principal_cache_ms: u64 = "HUB_GATEWAY_PRINCIPAL_CACHE_MS", "2000", "milliseconds", 0 to 2000;
        /// How long the audit is kept, and a token listed that has expired.
        audit_retention_seconds: u64 = "HUB_AUDIT_RETENTION_SECONDS", "34560000", "seconds", 1 to 3_153_600_000;
        /// How often the gateway drops what is older.
        directory_sweep_interval_ms: u64 = "HUB_DIRECTORY_SWEEP_INTERVAL_MS", "60000", "milliseconds", 10 to 3_600_000;
        /// How long a browser stays signed in.
        browser_session_seconds: u64 = "HUB_GATEWAY_BROWSER_SESSION_SECONDS", "43200", "seconds", 60 to 2_592_000;
    }
}

impl Gateway {
    /// Where to listen.
    pub fn addr(&self) -> SocketAddr {
        SocketAddr::new(self.bind, self.port)
    }

    /// The base of the URLs the hub hands out, without a slash at its end.
    pub fn public_url_at(&self, bound: SocketAddr) -> String {
        match &self.public_url {
            Some(url) => url.trim_end_matches('/').to_owned(),
            None if bound.ip().is_unspecified() => format!("https://127.0.0.1:{}", bound.port()),
            None => format!("https://{bound}"),
        }
    }
}
