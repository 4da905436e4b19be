//! The four tiers in one process. They talk gRPC here as well, over loopback.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use hub_platform::config::Config;
use hub_platform::db::Tier;
use hub_platform::shutdown::Shutdown;
use hub_platform::telemetry;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::tiers;

/// Who stops first: each before those it calls.
const STOP_ORDER: [Tier; 4] = [Tier::Gateway, Tier::Delivery, Tier::Presence, Tier::Lifecycle];
/// What a tier may take beyond its own grace before it is given up.
const STOP_SLACK: Duration = Duration::from_secs(2);

/// Four running tiers.
pub struct Hub {
    gateway: SocketAddr,
    grace: Duration,
    running: Vec<Running>,
    failures: mpsc::Receiver<anyhow::Error>,
}

struct Running {
    tier: Tier,
    shutdown: Shutdown,
    task: JoinHandle<()>,
}

impl Hub {
    /// Takes the ports, then starts the tiers. Ports that only the tiers themselves use are free ones, unless
    /// configured.
    pub async fn start(mut config: Config) -> anyhow::Result<Self> {
        let mut listeners = Vec::new();
        for tier in STOP_ORDER {
            let listener = tiers::bind(tier, own_address(tier, &config)).await?;
            listeners.push((tier, listener));
        }
        connect(&mut config, &listeners)?;

        let gateway = listeners[0].1.local_addr().context("the gateway's address")?;
        let grace = Duration::from_secs(config.listen.shutdown_grace_seconds);
        let config = Arc::new(config);
        let (failed, failures) = mpsc::channel(listeners.len());
        let running = listeners.into_iter().map(|(tier, listener)| {
            let shutdown = Shutdown::new();
            let serving = tiers::serve(tier, Arc::clone(&config), listener, shutdown.clone());
            let task = tokio::spawn(watch(
                tier,
                tokio::spawn(serving),
                shutdown.clone(),
                failed.clone(),
            ));
            Running { tier, shutdown, task }
        });
        let running = running.collect();
        Ok(Self {
            gateway,
            grace,
            running,
            failures,
        })
    }

    /// Where the gateway listens.
    pub fn gateway(&self) -> SocketAddr {
        self.gateway
    }

    /// Ends when a tier has ended that nobody stopped, with the reason.
    pub async fn failed(&mut self) -> anyhow::Error {
        match self.failures.recv().await {
            Some(error) => error,
            None => std::future::pending().await,
        }
    }

    /// Stops the tiers, callers before those they call.
    pub async fn stop(self) {
        for mut running in self.running {
            running.shutdown.trigger();
            if tokio::time::timeout(self.grace + STOP_SLACK, &mut running.task)
                .await
                .is_err()
            {
                tracing::warn!(tier = running.tier.as_str(), "did not stop in time");
                running.task.abort();
            }
        }
    }
}

fn own_address(tier: Tier, config: &Config) -> SocketAddr {
    let configured = tiers::address(tier, config);
    let default = Config::fields()
        .into_iter()
        .find(|field| field.variable == address_variable(tier));
    let is_default = default.is_some_and(|field| field.default == configured.to_string());
    if is_default {
        SocketAddr::from((Ipv4Addr::LOCALHOST, 0))
    } else {
        configured
    }
}

fn address_variable(tier: Tier) -> String {
    format!("HUB_{}_ADDR", tier.as_str().to_uppercase())
}

/// Tells each tier where the others are.
fn connect(config: &mut Config, listeners: &[(Tier, TcpListener)]) -> anyhow::Result<()> {
    for (tier, listener) in listeners {
        let address = listener
            .local_addr()
            .with_context(|| format!("{tier}'s address"))?;
        let urls = vec![format!("http://{address}")];
        match tier {
            Tier::Gateway => config.gateway.port = address.port(),
            Tier::Lifecycle => config.peers.lifecycle_urls = urls,
            Tier::Delivery => config.peers.delivery_urls = urls,
            Tier::Presence => config.peers.presence_urls = urls,
        }
    }
    Ok(())
}

/// Waits for a tier's end, and reports it where nobody asked for it.
async fn watch(
    tier: Tier,
    serving: JoinHandle<anyhow::Result<()>>,
    shutdown: Shutdown,
    failed: mpsc::Sender<anyhow::Error>,
) {
    let error = match serving.await {
        Ok(Ok(())) if shutdown.is_triggered() => return,
        Ok(Ok(())) => anyhow::anyhow!("{tier} ended by itself"),
        Ok(Err(error)) => error.context(format!("{tier} failed")),
        Err(error) => anyhow::Error::new(error).context(format!("{tier} broke down")),
    };
    // There is room for one from each tier.
    failed.try_send(error).ok();
}

/// Runs the four tiers until a signal, or until one of them fails.
pub async fn run() -> anyhow::Result<()> {
    let config = Config::from_environment()?;
    let _telemetry = telemetry::init(&config.telemetry, "hub")?;
    let shutdown = Shutdown::on_signals()?;
    tiers::serve_metrics(&config, &shutdown).await?;
    let mut hub = Hub::start(config).await?;
    tracing::info!(address = %hub.gateway(), "started");
    let failure = tokio::select! {
        () = shutdown.requested() => None,
        error = hub.failed() => Some(error),
    };
    hub.stop().await;
    failure.map_or(Ok(()), Err)
}
