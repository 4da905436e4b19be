//! A private PostgreSQL.

use std::path::PathBuf;
use std::process::ExitStatus;

use super::Error;
use crate::config::Secret;

/// Where and how it runs.
#[derive(Clone, Debug)]
pub struct PostgresOptions {
    /// Its data directory; made if missing.
    pub dir: PathBuf,
    /// Its port on loopback; 0 picks a free one.
    pub port: u16,
    /// Whether commits survive the machine; tests do without.
    pub fsync: bool,
}

/// A running PostgreSQL.
#[derive(Debug)]
pub struct Postgres {
    /// Its address, with user, password and the database `postgres`.
    pub url: Secret,
    /// Its port.
    pub port: u16,
    /// Its process.
    pub pid: u32,
}

impl Postgres {
    /// Starts it and waits until it answers.
    pub async fn start(options: PostgresOptions) -> Result<Self, Error> {
        let _ = options;
        todo!()
    }

    /// Its address with another database.
    pub fn url_of(&self, database: &str) -> Secret {
        let _ = database;
        todo!()
    }

    /// Waits until it has ended.
    pub async fn wait(&mut self) -> std::io::Result<ExitStatus> {
        todo!()
    }

    /// Asks it to end, disconnecting its clients, and waits until it has.
    pub async fn stop(&mut self) -> std::io::Result<()> {
        todo!()
    }

    /// Kills it as a crash would, and waits until it has ended.
    pub async fn kill(&mut self) -> std::io::Result<()> {
        todo!()
    }
}
