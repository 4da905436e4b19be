//! NATS: wake-ups and jobs. It may be away, and may lose all it holds: PostgreSQL is the truth.

mod jobs;
mod wake;

pub use jobs::{Consumer, Delivery, Jobs};
pub use wake::{bucket, Wake, WakeEvent, WakeKind, Wakes, WAKE_BUCKETS};

use crate::config;

/// A connection that restores itself. Clones share it.
#[derive(Clone, Debug)]
pub struct Nats {
    client: async_nats::Client,
}

/// What is wrong with the settings; a server that is away is no error.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A setting.
    #[error("HUB_NATS_URL: {0}")]
    Settings(String),
}

/// Connects, or goes on trying in the background.
pub async fn connect(config: &config::Nats) -> Result<Nats, Error> {
    let _ = config;
    todo!()
}

impl Nats {
    /// Whether the server is connected now.
    pub fn is_connected(&self) -> bool {
        self.client.connection_state() == async_nats::connection::State::Connected
    }

    /// Tells every process that something happened. A hint: what is lost is found by looking.
    pub async fn wake(&self, wake: &Wake) {
        let _ = wake;
        todo!()
    }

    /// What happened in every account, from now on.
    pub fn wakes(&self) -> Wakes {
        todo!()
    }

    /// The push jobs.
    pub fn jobs(&self) -> Jobs {
        todo!()
    }
}
