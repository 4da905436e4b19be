//! A private NATS server.

use std::path::PathBuf;
use std::process::ExitStatus;

use super::Error;
use crate::config::Secret;

/// Where it runs.
#[derive(Clone, Debug)]
pub struct NatsOptions {
    /// What it holds; made if missing.
    pub dir: PathBuf,
    /// Its port on loopback; 0 picks a free one.
    pub port: u16,
}

/// A running NATS server.
#[derive(Debug)]
pub struct Nats {
    /// Its address.
    pub url: Secret,
    /// Its port.
    pub port: u16,
    /// Its process.
    pub pid: u32,
}

impl Nats {
    /// Starts it and waits until it answers.
    pub async fn start(options: NatsOptions) -> Result<Self, Error> {
        let _ = options;
        todo!()
    }

    /// Waits until it has ended.
    pub async fn wait(&mut self) -> std::io::Result<ExitStatus> {
        todo!()
    }

    /// Asks it to end and waits until it has.
    pub async fn stop(&mut self) -> std::io::Result<()> {
        todo!()
    }

    /// Kills it as a crash would, and waits until it has ended.
    pub async fn kill(&mut self) -> std::io::Result<()> {
        todo!()
    }
}
