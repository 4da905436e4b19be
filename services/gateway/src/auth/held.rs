//! Calls that are held open, and whether their callers still may: a revocation ends them within seconds, whether or not
//! NATS told of it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::directory::credentials;
use crate::edge::errors::Refusal;
use crate::principal::{Credential, Principal};

/// How often every held credential is read again; revocations are promised within 3 s.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Credentials of one statement.
const CHECK_BATCH_MAX: usize = 1000;
/// When who found no place may come again.
const RETRY_AFTER_SECONDS: u32 = 5;

/// What is held at this gateway. Bounded.
pub(crate) struct Held {
    places: Arc<Semaphore>,
    next_id: AtomicU64,
    callers: Arc<Mutex<HashMap<u64, HeldCaller>>>,
    check: Notify,
}

#[derive(Clone)]
struct HeldCaller {
    principal: Principal,
    ended: CancellationToken,
}

/// What a held call waits in; the metrics' label.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HoldKind {
    /// A long-poll.
    Poll,
    /// A stream of events.
    Stream,
}

impl HoldKind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Poll => "poll",
            Self::Stream => "stream",
        }
    }
}

/// A held call's place; given back when dropped.
pub(crate) struct Hold {
    id: u64,
    kind: HoldKind,
    ended: CancellationToken,
    callers: Arc<Mutex<HashMap<u64, HeldCaller>>>,
    _place: OwnedSemaphorePermit,
}

impl Held {
    /// At most so many calls at a time.
    pub(crate) fn new(calls_max: usize) -> Self {
        Self {
            places: Arc::new(Semaphore::new(calls_max.min(Semaphore::MAX_PERMITS))),
            next_id: AtomicU64::new(0),
            callers: Arc::default(),
            check: Notify::new(),
        }
    }

    /// A place for a call, or 503.
    pub(crate) fn take(&self, principal: &Principal, kind: HoldKind) -> Result<Hold, Refusal> {
        let Ok(place) = self.places.clone().try_acquire_owned() else {
            return Err(Refusal::busy("too many calls are held open", RETRY_AFTER_SECONDS));
        };
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let ended = CancellationToken::new();
        lock(&self.callers).insert(
            id,
            HeldCaller {
                principal: principal.clone(),
                ended: ended.clone(),
            },
        );
        metrics::gauge!("hub_http_held_requests", "kind" => kind.as_str()).increment(1);
        Ok(Hold {
            id,
            kind,
            ended,
            callers: self.callers.clone(),
            _place: place,
        })
    }

    /// Has every held credential read again now.
    pub(crate) fn check_now(&self) {
        self.check.notify_one();
    }

    fn callers(&self) -> Vec<HeldCaller> {
        lock(&self.callers).values().cloned().collect()
    }
}

impl Hold {
    /// Ends when the caller's credential has ended, or changed what it may do.
    pub(crate) async fn ended(&self) {
        self.ended.cancelled().await;
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        lock(&self.callers).remove(&self.id);
        metrics::gauge!("hub_http_held_requests", "kind" => self.kind.as_str()).decrement(1);
    }
}

/// Reads the held credentials again and again, and ends the calls of those that have ended.
pub(crate) async fn watch(app: Arc<App>) {
    loop {
        tokio::select! {
            () = app.shutdown.requested() => return,
            () = app.held.check.notified() => {}
            () = tokio::time::sleep(CHECK_INTERVAL) => {}
        }
        for callers in app.held.callers().chunks(CHECK_BATCH_MAX) {
            check(&app, callers).await;
        }
    }
}

/// While the database is away nothing can be revoked either, so that its callers stay.
async fn check(app: &App, callers: &[HeldCaller]) {
    let credentials: Vec<Credential> = callers
        .iter()
        .filter_map(|caller| caller.principal.credential())
        .collect();
    let Ok(valid) = credentials::find_all(&app.pool, &credentials).await else {
        return;
    };
    let valid: HashMap<Credential, Principal> = valid
        .into_iter()
        .filter_map(|principal| Some((principal.credential()?, principal)))
        .collect();
    for caller in callers {
        let now = caller
            .principal
            .credential()
            .and_then(|credential| valid.get(&credential));
        if now != Some(&caller.principal) {
            caller.ended.cancel();
        }
    }
}

/// No code panics while it holds the lock; were it to, the map would still be whole.
fn lock(callers: &Mutex<HashMap<u64, HeldCaller>>) -> MutexGuard<'_, HashMap<u64, HeldCaller>> {
    callers.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::{Held, HoldKind};
    use crate::principal::{Agent, Credential, Principal};

    #[test]
    fn places_are_bounded_and_given_back() {
        let places = Held::new(1);
        let agent = Principal::Agent(Agent {
            account: "acme".to_owned(),
            id: "a".to_owned(),
            credential: Credential::Token([7; 32]),
        });
        let first = places.take(&agent, HoldKind::Poll).ok().unwrap();
        assert!(places.take(&agent, HoldKind::Stream).is_err());
        assert_eq!(places.callers().len(), 1);
        drop(first);
        assert!(places.callers().is_empty());
        assert!(places.take(&agent, HoldKind::Stream).is_ok());
    }
}
