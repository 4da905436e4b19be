//! Pushes Responses (§8.3), directives (§8.7) and acknowledgements (§14.4): takes jobs, claims what they stand for, tries each
//! push once, and records how it went. What is owed stands in lifecycle's rows until then, so a worker may die at any point.

mod attempt;
pub(crate) mod clock;
mod intake;
mod material;
mod metrics;
mod outcome;
mod permits;
mod settle;
mod signed;

use std::sync::Arc;
use std::time::Duration;

use hub_platform::config::{Config, Peers};
use hub_platform::db::Pool;
use hub_platform::grpc::{self, TraceContext, TracedChannel};
use hub_platform::nats::Jobs;
use hub_platform::shutdown::Shutdown;
use hub_proto::lifecycle::lifecycle_client::LifecycleClient;
use tokio::sync::Semaphore;
use tokio::task::{JoinError, JoinSet};
use tokio_util::task::TaskTracker;

use crate::error::Error;
use crate::guard::Guard;
use crate::health::Health;
use crate::keys::HubKeys;
use crate::vault::Keyring;

use attempt::Sender;
use material::Materials;
use permits::{Bounds, HostPermits};
use settle::Settler;

/// The statements of this module, by name.
pub(crate) const STATEMENTS: &[(&str, &str)] = &[("worker/read_materials", material::READ)];

/// Claims that are asked for at a time.
const LANES: usize = 4;
/// What is in hand may add up to this.
const IN_HAND_BYTES_MAX: usize = 256 * 1024 * 1024;
/// The share of the places that pushes may take which wait for one host.
const QUEUE_SHARE: usize = 2;
/// How long a push that is in hand may wait for its host.
const HOST_WAIT_MAX: Duration = Duration::from_secs(2);

pub(crate) type Lifecycle = LifecycleClient<TracedChannel>;

/// What a worker works with.
pub(crate) struct Tools {
    pub(crate) pool: Pool,
    pub(crate) keyring: Arc<Keyring>,
    pub(crate) hub_keys: HubKeys,
    pub(crate) guard: Guard,
    pub(crate) jobs: Jobs,
    pub(crate) health: Health,
}

/// Pushes what is owed.
pub(crate) struct Worker {
    jobs: Jobs,
    lifecycle: Lifecycle,
    peers: Peers,
    materials: Materials,
    sender: Arc<Sender>,
    settler: Settler,
    shutdown: Shutdown,
    /// Batches whose pushes are under way.
    batches: TaskTracker,
    /// A place for each push in hand.
    places: Arc<Semaphore>,
    /// Room for what is pushed by them, in KiB.
    room: Arc<Semaphore>,
    batch_max: usize,
    reply_bytes_max: usize,
    /// How long a claim holds.
    claim_lasts: Duration,
}

impl Worker {
    pub(crate) fn new(config: &Config, tools: Tools, shutdown: Shutdown) -> Result<Self, Error> {
        metrics::describe();
        let reply_bytes_max = grpc::message_bytes_max(&config.limits);
        let channel = grpc::channel(&config.peers, &config.peers.lifecycle_urls)?;
        let lifecycle = LifecycleClient::with_interceptor(channel, TraceContext)
            .max_decoding_message_size(reply_bytes_max)
            .max_encoding_message_size(reply_bytes_max);
        let callback = &config.callback;
        let claim_slack = Duration::from_millis(config.lifecycle.claim_slack_ms);
        // A wait comes out of the time in which the claim still holds after the call's own deadline.
        let host_wait_max = HOST_WAIT_MAX.min(claim_slack / 4);
        let batch_max = callback.batch_max.min(callback.in_flight_max);
        Ok(Self {
            jobs: tools.jobs,
            lifecycle: lifecycle.clone(),
            peers: config.peers.clone(),
            materials: Materials {
                pool: tools.pool,
                keyring: tools.keyring,
                hub_keys: tools.hub_keys,
            },
            sender: Arc::new(Sender {
                guard: tools.guard,
                hosts: HostPermits::new(Bounds {
                    calls: callback.per_host_max,
                    queued: callback.per_host_max.max(callback.in_flight_max / QUEUE_SHARE),
                    wait: host_wait_max,
                }),
                timeout: Duration::from_millis(callback.timeout_ms),
            }),
            settler: Settler {
                lifecycle,
                peers: config.peers.clone(),
                shutdown: shutdown.clone(),
                batch_max,
                health: tools.health,
            },
            shutdown,
            batches: TaskTracker::new(),
            places: Arc::new(Semaphore::new(callback.in_flight_max)),
            room: Arc::new(Semaphore::new(
                kib(IN_HAND_BYTES_MAX.max(reply_bytes_max)) as usize
            )),
            batch_max,
            reply_bytes_max,
            claim_lasts: Duration::from_millis(callback.timeout_ms) + claim_slack,
        })
    }

    /// The tier that says what is owed.
    pub(crate) fn lifecycle(&self) -> Lifecycle {
        self.lifecycle.clone()
    }

    /// Works until shutdown, then finishes what is in hand. Ends before only if it breaks.
    pub(crate) async fn run(self) -> Result<(), JoinError> {
        let worker = Arc::new(self);
        let mut lanes = JoinSet::new();
        for _ in 0..LANES {
            lanes.spawn(worker.clone().take_jobs());
        }
        while let Some(ended) = lanes.join_next().await {
            ended?;
        }
        worker.batches.close();
        worker.batches.wait().await;
        Ok(())
    }
}

/// A size in whole KiB, at least one.
fn kib(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(1024).max(1)).unwrap_or(u32::MAX)
}
