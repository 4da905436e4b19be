//! The presence tier: who is there.
//!
//! It learns that from what agents do anyway (§15.1), and keeps one row for each, by PostgreSQL's clock.

mod principals;
mod recent;
mod service;
mod sweep;

use std::sync::Arc;
use std::time::Duration;

use hub_platform::config::Config;
use hub_platform::db::{self, Tier};
use hub_platform::health::Readiness;
use hub_platform::shutdown::Shutdown;
use hub_platform::{grpc, nats};
use hub_proto::presence::presence_server::PresenceServer;
use tokio::net::TcpListener;
use tonic::service::Routes;

use principals::Principals;
use recent::Recent;
use service::Service;

/// Why the tier does not start, or stopped.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database settings.
    #[error(transparent)]
    Database(#[from] db::Error),
    /// The NATS settings.
    #[error(transparent)]
    Nats(#[from] nats::Error),
    /// The gRPC server.
    #[error(transparent)]
    Grpc(#[from] grpc::Error),
}

/// The migrations of schema `presence`, oldest first: name and SQL.
pub fn migrations() -> Vec<(&'static str, &'static str)> {
    vec![("V1__principals", include_str!("../migrations/V1__principals.sql"))]
}

/// Every statement the tier runs, by name: a test prepares them against the migrated schema.
pub fn statements() -> Vec<(&'static str, &'static str)> {
    [principals::STATEMENTS, sweep::STATEMENTS].concat()
}

/// Serves the tier until shutdown, and forgets agents that have gone.
pub async fn serve(config: Arc<Config>, listener: TcpListener, shutdown: Shutdown) -> Result<(), Error> {
    let pool = db::connect(&config.database, Tier::Presence)?;
    let nats = nats::connect(&config.nats).await?;
    let presence = &config.presence;
    let principals = Principals::new(
        pool.clone(),
        presence.freshness_seconds,
        presence.write_through_ms,
    );
    let recent = Recent::new(Duration::from_millis(presence.write_through_ms));
    let server = PresenceServer::new(Service::new(principals, recent, nats));
    shutdown.spawn(sweep::run(
        pool.clone(),
        Duration::from_millis(presence.sweep_interval_ms),
        i64::try_from(presence.freshness_seconds).unwrap_or(i64::MAX),
        shutdown.clone(),
    ));
    let readiness = Readiness::of_database(&pool, &shutdown);
    grpc::serve(listener, Routes::new(server), readiness, shutdown).await?;
    Ok(())
}
