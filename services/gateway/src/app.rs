//! What every call shares.

use std::sync::Arc;
use std::time::Duration;

use hub_platform::config::{self, Config};
use hub_platform::db::{self, Pool, Tier};
use hub_platform::grpc::{self, TraceContext, TracedChannel};
use hub_platform::nats::Nats;
use hub_platform::shutdown::Shutdown;
use hub_proto::delivery::delivery_client::DeliveryClient;
use hub_proto::lifecycle::lifecycle_client::LifecycleClient;
use hub_proto::presence::presence_client::PresenceClient;
use tokio::time::Instant;

use crate::Error;
use crate::admin::forget::Turns;
use crate::auth::cache::Cache;
use crate::auth::held::Held;
use crate::auth::{self, LookUps};
use crate::discovery::keys::Keys;
use crate::edge::body;
use crate::edge::budget::Budget;
use crate::health::{Answered, Peers};
use crate::mailbox::{self, Looks};
use crate::messages::{self, budget::SpentBudgets};
use crate::presence::Touches;
use crate::wakes::Wakes;

/// The gateway's shared state, one per process, handed to every handler as `State<Arc<App>>`.
pub(crate) struct App {
    /// The whole configuration.
    pub(crate) config: Arc<Config>,
    /// The base of the URLs the hub hands out, without a slash at its end.
    pub(crate) public_url: String,
    /// Connections as the role that writes schema `directory`.
    pub(crate) pool: Pool,
    /// The connection over which held credentials are checked.
    pub(crate) checks_pool: Pool,
    /// Every state of a message. Clone it to call, through [`App::ask`].
    pub(crate) lifecycle: LifecycleClient<TracedChannel>,
    /// Secrets, keys, callback hosts, and what is signed for a drain.
    pub(crate) delivery: DeliveryClient<TracedChannel>,
    /// Who is there.
    pub(crate) presence: PresenceClient<TracedChannel>,
    /// The tiers behind this one, for readiness.
    pub(crate) peers: Peers,
    /// What they answered a moment ago.
    pub(crate) answered: Answered,
    /// What happened, on whichever replica; hints only.
    pub(crate) wakes: Wakes,
    /// Principals looked up a moment ago.
    pub(crate) principals: Cache,
    /// Look-ups of others.
    pub(crate) look_ups: LookUps,
    /// Who has a call held open, and whether they still may.
    pub(crate) held: Arc<Held>,
    /// What the request bodies in hand may take together.
    pub(crate) bodies: Budget,
    /// What the large answers on their way may take together.
    pub(crate) answers: Budget,
    /// Rate budgets that are known to be spent.
    pub(crate) spent_budgets: SpentBudgets,
    /// Changes that delivery takes part in.
    pub(crate) turns: Turns,
    /// Signs of life on their way to presence.
    pub(crate) touches: Touches,
    /// Looks at the mailboxes of those who wait for them.
    pub(crate) looks: Looks,
    /// The hub's public keys, read a moment ago.
    pub(crate) keys: Keys,
    /// Ends held calls, and what runs in the background.
    pub(crate) shutdown: Shutdown,
}

impl App {
    /// Nothing is connected before it is used. `nats` is none where a test does without.
    pub(crate) fn new(
        config: Arc<Config>,
        public_url: String,
        nats: Option<Nats>,
        shutdown: Shutdown,
    ) -> Result<Self, Error> {
        let pool = db::connect(&config.database, Tier::Gateway)?;
        let checks_pool = db::connect_apart(&config.database, Tier::Gateway)?;
        let lifecycle = grpc::channel(&config.peers, &config.peers.lifecycle_urls)?;
        let delivery = grpc::channel(&config.peers, &config.peers.delivery_urls)?;
        let presence = grpc::channel(&config.peers, &config.peers.presence_urls)?;
        let bytes_max = grpc::message_bytes_max(&config.limits);
        let peers = Peers {
            lifecycle: lifecycle.clone(),
            delivery: delivery.clone(),
            presence: presence.clone(),
        };
        let lifecycle = LifecycleClient::with_interceptor(lifecycle, TraceContext)
            .max_decoding_message_size(bytes_max)
            .max_encoding_message_size(bytes_max);
        let delivery = DeliveryClient::with_interceptor(delivery, TraceContext)
            .max_decoding_message_size(bytes_max)
            .max_encoding_message_size(bytes_max);
        let presence = PresenceClient::with_interceptor(presence, TraceContext);
        Ok(Self {
            peers,
            answered: Answered::default(),
            wakes: Wakes::new(nats),
            principals: Cache::new(config.gateway.principal_cache_ms),
            look_ups: auth::look_ups(pool.clone(), &shutdown),
            held: Arc::new(Held::new(
                config.gateway.held_requests_max,
                config.gateway.held_requests_per_credential_max,
            )),
            bodies: Budget::new(
                "request bodies",
                config.gateway.in_flight_bytes_max,
                config.gateway.in_flight_bytes_per_credential_max,
                body::bytes_max(&config.limits),
            ),
            answers: Budget::new(
                "large answers",
                config.gateway.answer_bytes_max,
                config.gateway.in_flight_bytes_per_credential_max,
                messages::answer_bytes_max(&config.limits),
            ),
            spent_budgets: SpentBudgets::default(),
            turns: Turns::default(),
            touches: Touches::new(config.clone(), presence.clone(), &shutdown),
            looks: mailbox::looks(config.clone(), lifecycle.clone(), &shutdown),
            pool,
            checks_pool,
            lifecycle,
            delivery,
            presence,
            keys: Keys::default(),
            public_url,
            config,
            shutdown,
        })
    }

    /// Until when a held call that has something to ask waits for its turn: beyond its deadline as long as a call may take.
    pub(crate) fn turn_until(&self, deadline: Instant) -> Instant {
        deadline.max(Instant::now()) + Duration::from_millis(self.config.peers.call_timeout_ms)
    }

    /// Calls another tier, again where it got no answer; what the tier refuses comes back as its problem.
    pub(crate) async fn ask<T, F, Fut>(&self, attempt: F) -> Result<T, ma2h::Problem>
    where
        F: FnMut() -> Fut,
        Fut: Future<Output = Result<tonic::Response<T>, tonic::Status>>,
    {
        ask(&self.config.peers, attempt).await
    }
}

/// The same, for what holds no [`App`].
pub(crate) async fn ask<T, F, Fut>(peers: &config::Peers, attempt: F) -> Result<T, ma2h::Problem>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<tonic::Response<T>, tonic::Status>>,
{
    let answer = grpc::call(peers, attempt).await;
    answer.map_err(|status| grpc::status_to_problem(&status))
}
