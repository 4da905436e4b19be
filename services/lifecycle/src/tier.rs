//! What every call of the tier works with.

use std::sync::Arc;
use std::time::Duration;

use hub_platform::config::Config;
use hub_platform::db::Pool;

use crate::announce::Announcer;
use crate::mailbox::Heads;
use crate::push::Policy;
use crate::rooms::Rooms;

/// How long a commit may take.
const COMMITTED_WITHIN: Duration = Duration::from_secs(5);

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
    /// How many more directives mailboxes may hold.
    pub(crate) mailbox_rooms: Rooms,
    /// Where mailboxes begin.
    pub(crate) heads: Heads,
}

impl Tier {
    pub(crate) fn new(pool: Pool, announcer: Announcer, config: Arc<Config>) -> Self {
        let policy = Policy::of(&config.callback);
        let heads = Heads::new(late(&config));
        Self {
            pool,
            announcer,
            config,
            policy,
            rooms: Rooms::default(),
            mailbox_rooms: Rooms::default(),
            heads,
        }
    }

    /// How long after the beginning of a statement what it writes may be committed.
    pub(crate) fn late(&self) -> Duration {
        late(&self.config)
    }

    /// How long a published job may stay unclaimed before the relay publishes it again.
    pub(crate) fn republish_after_ms(&self) -> i64 {
        bigint(self.config.lifecycle.republish_after_ms)
    }
}

fn late(config: &Config) -> Duration {
    Duration::from_millis(config.database.statement_timeout_ms) + COMMITTED_WITHIN
}

/// A configured number as PostgreSQL takes it; the ranges of the configuration keep it far from the limit.
pub(crate) fn bigint(configured: u64) -> i64 {
    i64::try_from(configured).unwrap_or(i64::MAX)
}
