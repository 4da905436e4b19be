//! What every call of the tier works with.

use std::sync::Arc;

use hub_platform::config::Config;
use hub_platform::db::Pool;

use crate::announce::Announcer;
use crate::push::Policy;
use crate::submit::Rooms;

/// The tier. Its calls are methods, each in the module of its noun.
#[derive(Debug)]
pub(crate) struct Tier {
    pub(crate) pool: Pool,
    pub(crate) announcer: Announcer,
    pub(crate) config: Arc<Config>,
    /// When a push is tried again, and when it is given up.
    pub(crate) policy: Policy,
    /// How many more messages agents may have open.
    pub(crate) rooms: Rooms,
}

impl Tier {
    pub(crate) fn new(pool: Pool, announcer: Announcer, config: Arc<Config>) -> Self {
        let policy = Policy::of(&config.callback);
        Self {
            pool,
            announcer,
            config,
            policy,
            rooms: Rooms::default(),
        }
    }

    /// How long a published job may stay unclaimed before the relay publishes it again.
    pub(crate) fn republish_after_ms(&self) -> i64 {
        bigint(self.config.lifecycle.republish_after_ms)
    }
}

/// A configured number as PostgreSQL takes it; the ranges of the configuration keep it far from the limit.
pub(crate) fn bigint(configured: u64) -> i64 {
    i64::try_from(configured).unwrap_or(i64::MAX)
}
