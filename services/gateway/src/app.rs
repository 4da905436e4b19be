//! What every call shares.

use std::sync::Arc;

use hub_platform::{config::Config, db::Pool, grpc::TracedChannel, shutdown::Shutdown};
use hub_proto::{
    delivery::delivery_client::DeliveryClient, lifecycle::lifecycle_client::LifecycleClient,
    presence::presence_client::PresenceClient,
};

use crate::{auth::cache::Cache, wakes::Wakes};

/// The gateway's shared state, one per process, handed to every handler as `State<Arc<App>>`.
pub(crate) struct App {
    /// The whole configuration.
    pub(crate) config: Arc<Config>,
    /// Connections as the role that writes schema `directory`.
    pub(crate) pool: Pool,
    /// Every state of a message. Clone it to call.
    pub(crate) lifecycle: LifecycleClient<TracedChannel>,
    /// Secrets, keys, callback hosts.
    pub(crate) delivery: DeliveryClient<TracedChannel>,
    /// Who is there.
    pub(crate) presence: PresenceClient<TracedChannel>,
    /// What happened, on whichever replica; hints only.
    pub(crate) wakes: Wakes,
    /// Principals looked up a moment ago.
    pub(crate) principals: Cache,
    /// Ends held calls, and what runs in the background.
    pub(crate) shutdown: Shutdown,
}
