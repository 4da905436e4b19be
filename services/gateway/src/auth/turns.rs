//! Turns of held calls to ask another tier. Those that have something to ask at once, as when a broadcast reaches them all,
//! do so few at a time: the tiers behind stay there for others.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Held calls that ask another tier at a time.
pub(super) const TURNS_MAX: usize = 64;

/// The turns of one gateway. Clones share them.
#[derive(Clone)]
pub(super) struct Turns(Arc<Semaphore>);

/// A held call's turn to ask another tier; over when dropped.
pub(crate) struct Turn {
    _permit: OwnedSemaphorePermit,
}

impl Default for Turns {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(TURNS_MAX)))
    }
}

impl Turns {
    /// The next turn; none once there are none any more.
    pub(super) async fn next(&self) -> Option<Turn> {
        let _waiting = Waiting::begin();
        let permit = self.0.clone().acquire_owned().await.ok()?;
        Some(Turn { _permit: permit })
    }
}

/// Counts who waits for a turn.
struct Waiting;

impl Waiting {
    fn begin() -> Self {
        metrics::gauge!("hub_http_held_requests_in_turn").increment(1);
        Self
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        metrics::gauge!("hub_http_held_requests_in_turn").decrement(1);
    }
}
