//! The delivery tier: all that leaves the hub for an agent, or for an account's own client.
//!
//! It keeps their secrets sealed, knows which hosts may be called back, signs Responses, directives and acknowledgements and
//! pushes them. What is owed, and what a failed attempt means, lifecycle decides.

mod drain;
mod error;
mod forget;
mod guard;
mod health;
mod hosts;
mod keys;
mod reseal;
pub mod rotation;
mod service;
mod sweep;
mod vault;
mod webhooks;
mod worker;

use std::sync::Arc;
use std::time::Duration;

use hub_platform::config::Config;
use hub_platform::db::{self, Tier};
use hub_platform::grpc::TraceContext;
use hub_platform::health::Readiness;
use hub_platform::shutdown::Shutdown;
use hub_platform::{grpc, nats};
use hub_proto::delivery::delivery_server::DeliveryServer;
use hub_proto::lifecycle::lifecycle_client::LifecycleClient;
use tokio::net::TcpListener;
use tonic::service::Routes;

pub use error::{CallError, Error};

use drain::Drains;
use forget::Forgetting;
use guard::Guard;
use health::{Breaker, Health, Teller};
use hosts::{Hosts, Verifier};
use keys::{EntryKeys, HubKeys};
use service::Service;
use vault::{Keyring, Vault};
use webhooks::Webhooks;
use worker::{Tools, Worker};

/// The migrations of schema `delivery`, oldest first: name and SQL.
pub fn migrations() -> Vec<(&'static str, &'static str)> {
    vec![
        (
            "V1__secrets_keys_hosts",
            include_str!("../migrations/V1__secrets_keys_hosts.sql"),
        ),
        (
            "V2__verification_rotation",
            include_str!("../migrations/V2__verification_rotation.sql"),
        ),
        (
            "V3__host_health",
            include_str!("../migrations/V3__host_health.sql"),
        ),
        ("V4__webhooks", include_str!("../migrations/V4__webhooks.sql")),
        (
            "V5__rechallenged_hosts",
            include_str!("../migrations/V5__rechallenged_hosts.sql"),
        ),
    ]
}

/// Every statement the tier runs, by name: a test prepares them against the migrated schema.
pub fn statements() -> Vec<(&'static str, &'static str)> {
    [
        vault::STATEMENTS,
        keys::STATEMENTS,
        hosts::STATEMENTS,
        webhooks::STATEMENTS,
        health::STATEMENTS,
        forget::STATEMENTS,
        worker::STATEMENTS,
        reseal::STATEMENTS,
        sweep::STATEMENTS,
    ]
    .concat()
}

/// Serves the tier until shutdown, then finishes the pushes in hand.
pub async fn serve(config: Arc<Config>, listener: TcpListener, shutdown: Shutdown) -> Result<(), Error> {
    let pool = db::connect(&config.database, Tier::Delivery)?;
    let keyring = Arc::new(Keyring::of(&config.security)?);
    let hub_keys = HubKeys::new(pool.clone(), keyring.clone(), &config.keys);
    let nats = nats::connect(&config.nats).await?;
    let guard = guard(&config)?;
    let health = Health::new(pool.clone(), Breaker::of(&config.callback));
    let tools = Tools {
        pool: pool.clone(),
        keyring: keyring.clone(),
        hub_keys: hub_keys.clone(),
        guard: guard.clone(),
        jobs: nats.jobs(),
        health: health.clone(),
    };
    let worker = Worker::new(&config, tools, shutdown.clone())?;
    let teller = Teller::new(&config, health.clone(), worker.lifecycle());
    let telling = shutdown.spawn(teller.run(shutdown.clone()));
    let worker = shutdown.spawn(worker.run());

    shutdown.spawn(sweep::run(
        pool.clone(),
        Duration::from_millis(config.keys.sweep_interval_ms),
        shutdown.clone(),
    ));

    let message_bytes_max = grpc::message_bytes_max(&config.limits);
    let entry_keys = EntryKeys::new(pool.clone(), keyring.clone());
    let lifecycle = grpc::channel(&config.peers, &config.peers.lifecycle_urls)?;
    let drains = Drains {
        lifecycle: LifecycleClient::with_interceptor(lifecycle, TraceContext)
            .max_decoding_message_size(message_bytes_max)
            .max_encoding_message_size(message_bytes_max),
        peers: config.peers.clone(),
        entry_keys: entry_keys.clone(),
        hub_keys: hub_keys.clone(),
    };
    let service = Service {
        vault: Vault::new(pool.clone(), keyring.clone(), &config.keys),
        entry_keys,
        drains,
        hosts: Hosts::new(pool.clone()),
        webhooks: Webhooks::new(pool.clone()),
        verifier: Verifier::new(&config, pool.clone(), guard.clone()),
        guard,
        forgetting: Forgetting::new(pool.clone()),
        hub_keys,
        health,
    };
    let server = DeliveryServer::new(service)
        .max_decoding_message_size(message_bytes_max)
        .max_encoding_message_size(message_bytes_max);
    let readiness = Readiness::of_database(&pool, &shutdown);
    let serving = grpc::serve(listener, Routes::new(server), readiness, shutdown);
    let working = async {
        worker.await.flatten().map_err(Error::Worker)?;
        telling.await.map_err(Error::Worker)
    };
    tokio::try_join!(async { serving.await.map_err(Error::from) }, working)?;
    Ok(())
}

fn guard(config: &Config) -> Result<Guard, guard::Error> {
    let callback = &config.callback;
    Guard::new(&guard::Options {
        development: config.security.development,
        timeout: Duration::from_millis(callback.timeout_ms),
        body_bytes_max: callback.response_bytes_max,
        idle_per_host_max: callback.per_host_max,
        extra_ca_file: callback.extra_ca_file.as_deref(),
        dns_servers: &config.callback_hosts.dns_servers,
    })
}
