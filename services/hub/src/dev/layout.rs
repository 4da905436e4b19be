//! Which replica of which tier listens where.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use hub_platform::config::Config;
use hub_platform::db::Tier;

use super::board::{Slot, What};
use super::ports;
use super::process::TierProcess;
use super::settings::Settings;
use super::state::State;
use crate::tiers;

/// Every replica, and the addresses by which they find each other.
pub(crate) struct Layout {
    replicas: Vec<Replica>,
    base_urls: Vec<String>,
}

/// One process of a tier.
pub(crate) struct Replica {
    pub tier: Tier,
    pub slot: Slot,
    port: u16,
    metrics_port: u16,
    peers: Peers,
}

#[derive(Clone)]
struct Peers {
    lifecycle: Vec<String>,
    delivery: Vec<String>,
    presence: Vec<String>,
    public_url: String,
}

impl Layout {
    /// Gives every replica its ports: those it had at the last start where they are still free.
    pub(crate) fn new(settings: &Settings, state: &mut State) -> anyhow::Result<Self> {
        let count = settings.replicas;
        let gateway = gateway_ports(settings, state)?;
        let lifecycle = state.ports("lifecycle", count)?;
        let delivery = state.ports("delivery", count)?;
        let presence = state.ports("presence", count)?;
        let base_urls: Vec<String> = gateway
            .iter()
            .map(|port| format!("https://127.0.0.1:{port}"))
            .collect();
        let peers = Peers {
            lifecycle: urls(&lifecycle),
            delivery: urls(&delivery),
            presence: urls(&presence),
            // One for all gateways, so that a submit that is repeated at another gets the same answer.
            public_url: settings
                .config
                .gateway
                .public_url
                .clone()
                .unwrap_or_else(|| base_urls[0].clone()),
        };

        let mut replicas = Vec::new();
        // Who is called starts before who calls.
        for (tier, ports) in [
            (Tier::Lifecycle, lifecycle),
            (Tier::Presence, presence),
            (Tier::Delivery, delivery),
            (Tier::Gateway, gateway),
        ] {
            let metrics_ports = state.ports(&format!("{tier} metrics"), count)?;
            for (replica, (port, metrics_port)) in ports.into_iter().zip(metrics_ports).enumerate() {
                let slot = Slot {
                    what: What::Tier(tier),
                    replica,
                };
                replicas.push(Replica {
                    tier,
                    slot,
                    port,
                    metrics_port,
                    peers: peers.clone(),
                });
            }
        }
        state.save()?;
        Ok(Self { replicas, base_urls })
    }

    pub(crate) fn replicas(&self) -> &[Replica] {
        &self.replicas
    }

    /// Every gateway.
    pub(crate) fn base_urls(&self) -> &[String] {
        &self.base_urls
    }

    /// The first gateway.
    pub(crate) fn base_url(&self) -> &str {
        &self.base_urls[0]
    }

    /// Where each replica serves its metrics.
    pub(crate) fn metrics(&self) -> BTreeMap<String, String> {
        let url = |replica: &Replica| format!("http://127.0.0.1:{}/metrics", replica.metrics_port);
        self.replicas
            .iter()
            .map(|replica| (replica.slot.to_string(), url(replica)))
            .collect()
    }
}

impl Replica {
    /// The process of this replica, not yet running.
    pub(crate) fn process(
        &self,
        program: &Path,
        common: &Config,
        logs: &Path,
    ) -> anyhow::Result<TierProcess> {
        let log = logs.join(format!("{}.log", self.slot));
        if log.exists() {
            std::fs::rename(&log, log.with_extension("log.before"))?;
        }
        Ok(TierProcess::new(
            program.to_owned(),
            self.tier,
            self.config(common),
            log,
        ))
    }

    fn config(&self, common: &Config) -> Config {
        let own = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        let mut config = common.clone();
        match self.tier {
            Tier::Gateway => config.gateway.port = self.port,
            Tier::Lifecycle => config.listen.lifecycle_addr = own,
            Tier::Delivery => config.listen.delivery_addr = own,
            Tier::Presence => config.listen.presence_addr = own,
        }
        config.listen.metrics_addr = Some(SocketAddr::from((Ipv4Addr::LOCALHOST, self.metrics_port)));
        config.peers.lifecycle_urls.clone_from(&self.peers.lifecycle);
        config.peers.delivery_urls.clone_from(&self.peers.delivery);
        config.peers.presence_urls.clone_from(&self.peers.presence);
        config.gateway.public_url = Some(self.peers.public_url.clone());
        config
    }
}

/// The configured port and those after it, or free ones.
fn gateway_ports(settings: &Settings, state: &mut State) -> anyhow::Result<Vec<u16>> {
    let first = settings.config.gateway.port;
    if first == 0 {
        return state.ports("gateway", settings.replicas);
    }
    let count = u16::try_from(settings.replicas)?;
    let ports: Vec<u16> = (0..count).map_while(|offset| first.checked_add(offset)).collect();
    anyhow::ensure!(
        ports.len() == settings.replicas,
        "HUB_PORT {first} leaves no room for {count} gateways"
    );
    match ports.iter().find(|&&port| !ports::is_free(port)) {
        Some(&taken) => Err(tiers::port_taken(taken)),
        None => Ok(ports),
    }
}

fn urls(ports: &[u16]) -> Vec<String> {
    ports
        .iter()
        .map(|port| format!("http://127.0.0.1:{port}"))
        .collect()
}
