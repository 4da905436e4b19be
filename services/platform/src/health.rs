//! Whether a process can serve.

use std::time::Duration;

use tokio::sync::watch;
use tonic::transport::Channel;

use crate::db::Pool;
use crate::shutdown::Shutdown;

/// Whether a tier can serve; clones share it.
#[derive(Clone, Debug)]
pub struct Readiness {
    state: watch::Sender<bool>,
}

impl Default for Readiness {
    fn default() -> Self {
        Self::new()
    }
}

impl Readiness {
    /// One that is not ready yet.
    pub fn new() -> Self {
        Self { state: watch::Sender::new(false) }
    }

    /// One that is ready while the database answers.
    pub fn of_database(pool: &Pool, shutdown: &Shutdown) -> Self {
        let _ = (pool, shutdown);
        todo!()
    }

    /// Says whether the tier can serve.
    pub fn set(&self, ready: bool) {
        self.state.send_replace(ready);
    }

    /// Whether the tier can serve.
    pub fn is_ready(&self) -> bool {
        *self.state.borrow()
    }

    /// The changes of it.
    pub fn subscribe(&self) -> watch::Receiver<bool> {
        self.state.subscribe()
    }
}

/// Asks a tier over gRPC whether it can serve. No answer in time is a no.
pub async fn is_serving(channel: Channel, within: Duration) -> bool {
    let _ = (channel, within);
    todo!()
}
