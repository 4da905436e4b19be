//! The lifecycle tier: every state of a message is decided here, each transition as one compare-and-set in PostgreSQL.
//!
//! It alone writes the schema `lifecycle`. It talks to nobody outside and signs nothing.

mod acks;
mod announce;
mod bounded;
mod broadcasts;
mod chunks;
mod column;
mod conclude;
mod cursor;
mod directives;
mod erase;
mod error;
mod expire;
mod human_key;
mod list;
mod look_back;
mod mailbox;
mod message_id;
mod pause;
mod principal;
mod push;
mod read;
mod response;
mod retain;
mod rooms;
mod service;
mod sole_resolver;
mod statement;
mod submit;
mod tier;

use std::sync::Arc;

use hub_platform::config::Config;
use hub_platform::health::Readiness;
use hub_platform::migrate::TierMigrations;
use hub_platform::shutdown::Shutdown;
use hub_platform::{db, grpc, nats};
use hub_proto::lifecycle::lifecycle_server::LifecycleServer;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tonic::service::Routes;

use announce::Announcer;
use service::Service;
pub use statement::statements;
use tier::Tier;

/// What keeps the tier from serving.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database's settings.
    #[error(transparent)]
    Database(#[from] db::Error),
    /// The settings of NATS.
    #[error(transparent)]
    Nats(#[from] nats::Error),
    /// The server.
    #[error(transparent)]
    Grpc(#[from] grpc::Error),
    /// A pass that runs as long as the tier has ended.
    #[error("a background task of the lifecycle tier ended before it was asked to")]
    TaskEnded,
}

/// The schema of this tier, oldest change first.
pub fn migrations() -> TierMigrations {
    TierMigrations {
        tier: db::Tier::Lifecycle,
        migrations: vec![
            ("V1__messages", include_str!("../migrations/V1__messages.sql")),
            ("V2__pushes", include_str!("../migrations/V2__pushes.sql")),
            ("V3__limits", include_str!("../migrations/V3__limits.sql")),
            ("V4__retention", include_str!("../migrations/V4__retention.sql")),
            ("V5__redelivery", include_str!("../migrations/V5__redelivery.sql")),
            ("V6__mailboxes", include_str!("../migrations/V6__mailboxes.sql")),
            (
                "V7__sole_resolvers",
                include_str!("../migrations/V7__sole_resolvers.sql"),
            ),
            (
                "V8__held_pushes",
                include_str!("../migrations/V8__held_pushes.sql"),
            ),
            ("V9__push_kinds", include_str!("../migrations/V9__push_kinds.sql")),
            (
                "V10__broadcasts",
                include_str!("../migrations/V10__broadcasts.sql"),
            ),
            ("V11__claims", include_str!("../migrations/V11__claims.sql")),
            (
                "V12__redelivered_at",
                include_str!("../migrations/V12__redelivered_at.sql"),
            ),
            ("V13__attempts", include_str!("../migrations/V13__attempts.sql")),
            (
                "V14__broadcasts_under_way",
                include_str!("../migrations/V14__broadcasts_under_way.sql"),
            ),
            (
                "V15__tombstones_end",
                include_str!("../migrations/V15__tombstones_end.sql"),
            ),
            (
                "V16__moved_webhooks",
                include_str!("../migrations/V16__moved_webhooks.sql"),
            ),
            ("V17__put_backs", include_str!("../migrations/V17__put_backs.sql")),
            ("V18__tracks", include_str!("../migrations/V18__tracks.sql")),
            (
                "V19__awaited_outcomes",
                include_str!("../migrations/V19__awaited_outcomes.sql"),
            ),
        ],
    }
}

/// Serves the tier until shutdown: its calls, the sweeps of messages and mailboxes, retention, the relays of
/// pushes and broadcasts, and the fan-out of those.
pub async fn serve(config: Arc<Config>, listener: TcpListener, shutdown: Shutdown) -> Result<(), Error> {
    let pool = db::connect(&config.database, db::Tier::Lifecycle)?;
    let nats = nats::connect(&config.nats).await?;
    let (jobs, fan_outs) = (nats.jobs(), nats.fan_outs());
    let readiness = Readiness::of_database(&pool, &shutdown);
    let (announcer, announcing) = Announcer::new(nats);
    let bytes_max = grpc::message_bytes_max(&config.limits);
    let tier = Arc::new(Tier::new(pool, announcer, config));

    // Owned here: dropped with this future, they end.
    let mut tasks = JoinSet::new();
    tasks.spawn(announcing);
    tasks.spawn(Arc::clone(&tier).sweep(shutdown.clone()));
    tasks.spawn(Arc::clone(&tier).retain(shutdown.clone()));
    tasks.spawn(Arc::clone(&tier).sweep_mailboxes(shutdown.clone()));
    tasks.spawn(Arc::clone(&tier).relay(jobs, shutdown.clone()));
    tasks.spawn(Arc::clone(&tier).relay_broadcasts(fan_outs.clone(), shutdown.clone()));
    tasks.spawn(Arc::clone(&tier).fan_out(fan_outs, shutdown.clone()));

    let service = LifecycleServer::new(Service::new(tier, shutdown.clone()))
        .max_decoding_message_size(bytes_max)
        .max_encoding_message_size(bytes_max);
    let serving = grpc::serve(listener, Routes::new(service), readiness, shutdown.clone());
    tokio::pin!(serving);
    loop {
        tokio::select! {
            served = &mut serving => {
                served?;
                break;
            }
            Some(_) = tasks.join_next(), if !shutdown.is_triggered() => {
                if !shutdown.is_triggered() {
                    return Err(Error::TaskEnded);
                }
            }
        }
    }
    // The passes have been asked to end; the announcer ends when the last call has left its word.
    while tasks.join_next().await.is_some() {}
    Ok(())
}
