//! PostgreSQL and NATS as children of this process, for development and tests.

mod account;
mod child;
mod cluster;
mod launch;
mod nats;
mod port;
mod postgres;
mod program;
#[cfg(test)]
mod tests;
mod workdir;

pub use child::{Child, Signal};
pub use launch::Launch;
pub use nats::{Nats, NatsOptions};
pub use port::free_port;
pub use postgres::{Postgres, PostgresOptions};
pub use program::{Missing, find_nats, find_postgres};

/// What keeps a server from starting.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The program is not installed.
    #[error(transparent)]
    Missing(#[from] Missing),
    /// Its files cannot be prepared.
    #[error("cannot prepare {path}: {source}")]
    Files {
        /// The file or directory.
        path: String,
        /// Why not.
        source: std::io::Error,
    },
    /// It could not be run, or ended at once.
    #[error("{program} failed: {message}")]
    Failed {
        /// Its name.
        program: &'static str,
        /// Why, with the last lines it wrote.
        message: String,
    },
    /// It does not answer.
    #[error("{program} was not ready within {waited_ms} ms")]
    NotReady {
        /// Its name.
        program: &'static str,
        /// How long it was waited for.
        waited_ms: u128,
    },
}
