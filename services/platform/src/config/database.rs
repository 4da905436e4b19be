//! PostgreSQL.

use super::Secret;
use super::section::section;

section! {
    /// PostgreSQL.
    Database in "database" {
        /// Where it is, as postgres://user:password@host:port/name.
        url: Secret = "HUB_DATABASE_URL", "", "secret";
        /// Connections of one tier's process.
        pool_size: usize = "HUB_DATABASE_POOL_SIZE", "16", "connections", 1 to 1000;
        /// How long opening a connection may take.
        connect_timeout_ms: u64 = "HUB_DATABASE_CONNECT_TIMEOUT_MS", "5000", "milliseconds", 10 to 120_000;
        /// How long a call waits for a free connection.
        acquire_timeout_ms: u64 = "HUB_DATABASE_ACQUIRE_TIMEOUT_MS", "5000", "milliseconds", 10 to 120_000;
        /// How long one statement may run.
        statement_timeout_ms: u64 = "HUB_DATABASE_STATEMENT_TIMEOUT_MS", "10000", "milliseconds", 10 to 600_000;
    }
}
