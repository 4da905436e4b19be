//! Whether a process can serve.

use std::time::Duration;

use tokio::sync::watch;
use tonic::transport::Channel;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use crate::db::Pool;
use crate::shutdown::Shutdown;

/// How often the database is asked, and how long it may take to answer.
const PING_INTERVAL: Duration = Duration::from_secs(1);
const PING_TIMEOUT: Duration = Duration::from_secs(2);

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
        Self {
            state: watch::Sender::new(false),
        }
    }

    /// One that is ready while the database answers.
    pub fn of_database(pool: &Pool, shutdown: &Shutdown) -> Self {
        let readiness = Self::new();
        tokio::spawn(follow(pool.clone(), readiness.clone(), shutdown.clone()));
        readiness
    }

    /// Says whether the tier can serve.
    pub fn set(&self, ready: bool) {
        let was = self.state.send_replace(ready);
        if was != ready {
            tracing::info!(ready, "readiness changed");
        }
    }

    /// Whether the tier can serve.
    pub fn is_ready(&self) -> bool {
        *self.state.borrow()
    }

    /// Ends when the tier can serve.
    pub async fn ready(&self) {
        // The sender lives as long as `self`.
        let _ = self.subscribe().wait_for(|ready| *ready).await;
    }

    /// The changes of it.
    pub fn subscribe(&self) -> watch::Receiver<bool> {
        self.state.subscribe()
    }
}

async fn follow(pool: Pool, readiness: Readiness, shutdown: Shutdown) {
    while !shutdown.is_triggered() {
        readiness.set(answers(&pool).await);
        tokio::select! {
            () = tokio::time::sleep(PING_INTERVAL) => {}
            () = shutdown.requested() => {}
        }
    }
    readiness.set(false);
}

/// Whether the database answers now.
pub async fn answers(pool: &Pool) -> bool {
    let ping = async {
        let client = pool.get().await.ok()?;
        client.simple_query("SELECT 1").await.ok()
    };
    matches!(tokio::time::timeout(PING_TIMEOUT, ping).await, Ok(Some(_)))
}

/// Asks a tier over gRPC whether it can serve. No answer in time is a no.
pub async fn is_serving(channel: Channel, within: Duration) -> bool {
    let mut client = HealthClient::new(channel);
    let check = client.check(HealthCheckRequest {
        service: String::new(),
    });
    match tokio::time::timeout(within, check).await {
        Ok(Ok(reply)) => reply.into_inner().status() == ServingStatus::Serving,
        Ok(Err(_)) | Err(_) => false,
    }
}
