//! The four tiers, as the binary and the tests start them.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context as _;
use hub_platform::config::Config;
use hub_platform::db::{self, Tier};
use hub_platform::migrate::TierMigrations;
use hub_platform::shutdown::Shutdown;
use tokio::net::TcpListener;

/// The migrations of every tier. A tier comes after those whose views it reads.
pub fn migrations() -> Vec<TierMigrations> {
    vec![
        TierMigrations {
            tier: Tier::Gateway,
            migrations: hub_gateway::migrations(),
        },
        TierMigrations {
            tier: Tier::Presence,
            migrations: hub_presence::migrations(),
        },
        TierMigrations {
            tier: Tier::Delivery,
            migrations: hub_delivery::migrations(),
        },
        hub_lifecycle::migrations(),
    ]
}

/// Every SQL statement that a tier runs, with its name.
pub fn statements(tier: Tier) -> Vec<(&'static str, &'static str)> {
    match tier {
        Tier::Gateway => hub_gateway::statements(),
        Tier::Lifecycle => hub_lifecycle::statements().to_vec(),
        Tier::Delivery => hub_delivery::statements(),
        Tier::Presence => hub_presence::statements(),
    }
}

/// Runs one tier until shutdown, on a database that was migrated for it.
pub async fn serve(
    tier: Tier,
    config: Arc<Config>,
    listener: TcpListener,
    shutdown: Shutdown,
) -> anyhow::Result<()> {
    check_migrated(tier, &config).await?;
    match tier {
        Tier::Gateway => hub_gateway::serve(config, listener, shutdown).await?,
        Tier::Lifecycle => hub_lifecycle::serve(config, listener, shutdown).await?,
        Tier::Delivery => hub_delivery::serve(config, listener, shutdown).await?,
        Tier::Presence => hub_presence::serve(config, listener, shutdown).await?,
    }
    Ok(())
}

/// By a connection of its own, which is not kept.
async fn check_migrated(tier: Tier, config: &Config) -> anyhow::Result<()> {
    let pool = db::connect(&config.database, tier)?;
    for of_tier in migrations().iter().filter(|of| of.tier == tier) {
        hub_platform::migrate::check(&pool, of_tier).await?;
    }
    Ok(())
}

/// Where a tier is configured to listen.
pub fn address(tier: Tier, config: &Config) -> SocketAddr {
    match tier {
        Tier::Gateway => config.gateway.addr(),
        Tier::Lifecycle => config.listen.lifecycle_addr,
        Tier::Delivery => config.listen.delivery_addr,
        Tier::Presence => config.listen.presence_addr,
    }
}

/// Takes a port before anything else is done, so that a port in use is the first thing to be said.
pub async fn bind(tier: Tier, address: SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address)
        .await
        .map_err(|error| match (error.kind(), tier) {
            (io::ErrorKind::AddrInUse, Tier::Gateway) => port_taken(address.port()),
            _ => anyhow::Error::new(error).context(format!("{tier}: listen on {address}")),
        })
}

/// Says that the gateway's port is in use, and the way out.
pub(crate) fn port_taken(port: u16) -> anyhow::Error {
    anyhow::anyhow!("port {port} is in use: choose another with HUB_PORT, or any free one with HUB_PORT=0")
}

/// Starts what a process has once, whichever tiers it runs.
pub(crate) async fn serve_metrics(config: &Config, shutdown: &Shutdown) -> anyhow::Result<()> {
    hub_platform::metrics::install();
    if let Some(address) = config.listen.metrics_addr {
        let serving = hub_platform::metrics::serve(address, shutdown).await;
        serving.with_context(|| format!("serve metrics on {address}"))?;
    }
    Ok(())
}
