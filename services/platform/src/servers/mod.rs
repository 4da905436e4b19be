//! PostgreSQL and NATS as children of this process, for development and tests.

mod nats;
mod postgres;

pub use nats::{Nats, NatsOptions};
pub use postgres::{Postgres, PostgresOptions};

/// What keeps a server from starting.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The program is not installed.
    #[error("{program} is not installed: {remedy}")]
    Missing {
        /// Its name.
        program: &'static str,
        /// The command that installs it.
        remedy: String,
    },
    /// It could not be run, or ended at once.
    #[error("{program}: {message}")]
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
