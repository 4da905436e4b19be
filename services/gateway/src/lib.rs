//! The gateway tier: the HTTPS edge of the hub and its web inbox. It authenticates, limits, holds what waits, and asks the
//! other tiers; it decides nothing about a message and holds no signing key.

mod admin;
mod app;
mod auth;
mod batches;
mod broadcasts;
mod directives;
mod directory;
mod discovery;
mod edge;
mod health;
mod inbox;
mod mailbox;
mod messages;
mod presence;
mod principal;
mod sent;
mod stream;
#[cfg(test)]
mod tests;
mod wakes;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hub_platform::config::Config;
use hub_platform::shutdown::Shutdown;
use hub_platform::{db, grpc, nats};
use tokio::net::TcpListener;

use app::App;

/// How long what runs beside the calls may take to end.
const BACKGROUND_GRACE: Duration = Duration::from_secs(2);

/// What keeps the gateway from serving.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// TLS is not set up, and nothing says that a proxy ends it.
    #[error(
        "HUB_TLS_CERT_FILE and HUB_TLS_KEY_FILE are not set; HTTPS is served, or plaintext behind a proxy with \
             HUB_BEHIND_TLS_PROXY=true"
    )]
    NoCertificate,
    /// The certificate or its key cannot be used.
    #[error("{}: {reason}", file.display())]
    Tls {
        /// The file at fault.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The database's settings.
    #[error(transparent)]
    Database(#[from] db::Error),
    /// The other tiers' addresses.
    #[error(transparent)]
    Peers(#[from] grpc::Error),
    /// The settings of NATS.
    #[error(transparent)]
    Nats(#[from] nats::Error),
    /// The listener failed.
    #[error("the HTTPS listener: {0}")]
    Listener(#[from] std::io::Error),
}

/// Serves HTTPS on a port that is bound already, until `shutdown`: then held calls end early with a normal answer, and
/// what is in hand finishes.
pub async fn serve(config: Arc<Config>, listener: TcpListener, shutdown: Shutdown) -> Result<(), Error> {
    let public_url = config.gateway.public_url_at(listener.local_addr()?);
    let nats = nats::connect(&config.nats).await?;
    let app = Arc::new(App::new(
        config.clone(),
        public_url,
        Some(nats),
        shutdown.clone(),
    )?);
    shutdown.spawn(wakes::listen(app.clone()));
    shutdown.spawn(auth::checks::watch(app.clone()));
    shutdown.spawn(messages::beat::run(app.clone()));
    shutdown.spawn(admin::forget::look_after(app.clone()));
    shutdown.spawn(directory::sweep::run(app.clone()));
    edge::serve(&config, listener, routes(app), &shutdown).await?;
    shutdown.drained(BACKGROUND_GRACE).await;
    Ok(())
}

/// The migrations of schema `directory`: name and SQL, oldest first.
pub fn migrations() -> Vec<(&'static str, &'static str)> {
    vec![
        ("V1__directory", include_str!("../migrations/V1__directory.sql")),
        (
            "V2__published_policies",
            include_str!("../migrations/V2__published_policies.sql"),
        ),
        (
            "V3__published_agents",
            include_str!("../migrations/V3__published_agents.sql"),
        ),
        (
            "V4__labelled_agents",
            include_str!("../migrations/V4__labelled_agents.sql"),
        ),
        (
            "V5__agents_for_presence",
            include_str!("../migrations/V5__agents_for_presence.sql"),
        ),
        ("V6__leaving", include_str!("../migrations/V6__leaving.sql")),
        (
            "V7__directory_ends",
            include_str!("../migrations/V7__directory_ends.sql"),
        ),
    ]
}

/// Every statement the gateway runs: what it is called in logs, and its SQL.
pub fn statements() -> Vec<(&'static str, &'static str)> {
    directory::statements()
}

fn routes(app: Arc<App>) -> Router {
    let routes = Router::new()
        .merge(admin::router())
        .merge(messages::router())
        .merge(directives::router())
        .merge(broadcasts::router())
        .merge(mailbox::router())
        .merge(presence::router())
        .merge(stream::router())
        .merge(discovery::router())
        .merge(health::router())
        .merge(inbox::router());
    edge::around(routes, app)
}
