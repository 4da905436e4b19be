//! Calls that are held open, and whether their callers still may: a revocation ends them within seconds, whether or not
//! NATS told of it, and so does not being able to tell.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use ma2h::error::Problem;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::unauthenticated;
use crate::app::App;
use crate::directory::credentials;
use crate::edge::errors::Refusal;
use crate::principal::{Credential, Principal};

/// How often every held credential is read again; revocations are promised within 3 s.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// How long one reading may take.
const CHECK_TIMEOUT: Duration = Duration::from_secs(1);
/// How long a held call goes on without its credential having been read.
const TRUSTED_FOR: Duration = Duration::from_secs(3);
/// Credentials of one statement.
const CHECK_BATCH_MAX: usize = 1000;
/// When who found no place may come again.
const RETRY_AFTER_SECONDS: u32 = 5;

/// What is held at this gateway. Bounded, in sum and for each credential.
pub(crate) struct Held {
    places: Arc<Semaphore>,
    per_credential_max: usize,
    /// How old what was read of a credential may be when its call is taken.
    cached_for: Duration,
    callers: Arc<Mutex<Callers>>,
    check: Notify,
}

#[derive(Default)]
struct Callers {
    next_id: u64,
    by_id: HashMap<u64, HeldCaller>,
    /// How many calls each credential holds.
    counts: HashMap<Credential, usize>,
}

#[derive(Clone)]
struct HeldCaller {
    principal: Principal,
    credential: Credential,
    /// When the credential was last found to be good.
    seen_at: Instant,
    ended: Arc<Ended>,
}

#[derive(Default)]
struct Ended {
    token: CancellationToken,
    how: OnceLock<Ending>,
}

/// Why a held call ends before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Its credential has ended, or may no longer what it might.
    Revoked,
    /// Whether the credential still holds could not be read for too long.
    Unchecked,
}

impl From<Ending> for Refusal {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::Revoked => unauthenticated().into(),
            Ending::Unchecked => {
                Problem::unavailable("the credential cannot be checked now, try again").into()
            }
        }
    }
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
    ended: Arc<Ended>,
    callers: Arc<Mutex<Callers>>,
    _place: OwnedSemaphorePermit,
}

impl Held {
    /// At most so many calls at a time, and so many of each credential; a principal may come out of a cache that old.
    pub(crate) fn new(calls_max: usize, per_credential_max: usize, cached_for: Duration) -> Self {
        Self {
            places: Arc::new(Semaphore::new(calls_max.min(Semaphore::MAX_PERMITS))),
            per_credential_max,
            cached_for,
            callers: Arc::default(),
            check: Notify::new(),
        }
    }

    /// A place for a call: 429 if its caller holds too many, 503 if all do together.
    pub(crate) fn take(&self, principal: &Principal, kind: HoldKind) -> Result<Hold, Refusal> {
        // The deployment's admin has nothing to wait for.
        let credential = principal.credential().ok_or_else(unauthenticated)?;
        let Ok(place) = self.places.clone().try_acquire_owned() else {
            return Err(Refusal::busy("too many calls are held open", RETRY_AFTER_SECONDS));
        };
        let now = Instant::now();
        let caller = HeldCaller {
            principal: principal.clone(),
            credential,
            seen_at: now.checked_sub(self.cached_for).unwrap_or(now),
            ended: Arc::default(),
        };
        let ended = caller.ended.clone();
        let Some(id) = lock(&self.callers).add(caller, self.per_credential_max) else {
            let message = "too many calls of this credential are held open";
            return Err(Problem::rate_limited(message, RETRY_AFTER_SECONDS).into());
        };
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

    fn credentials(&self) -> Vec<Credential> {
        lock(&self.callers).counts.keys().copied().collect()
    }

    /// What was found of these credentials by a reading that began at `read_at`: those not among `valid` have ended.
    fn found(&self, read: &HashSet<Credential>, valid: &HashMap<Credential, Principal>, read_at: Instant) {
        for caller in lock(&self.callers).by_id.values_mut() {
            if valid.get(&caller.credential) == Some(&caller.principal) {
                caller.seen_at = caller.seen_at.max(read_at);
            } else if read.contains(&caller.credential) {
                caller.end(Ending::Revoked);
            }
        }
    }

    /// Ends the calls of which nothing has been found for too long.
    fn end_unchecked(&self) {
        for caller in lock(&self.callers).by_id.values() {
            if caller.seen_at.elapsed() >= TRUSTED_FOR {
                caller.end(Ending::Unchecked);
            }
        }
    }
}

impl Callers {
    /// None where its credential holds as many as it may.
    fn add(&mut self, caller: HeldCaller, per_credential_max: usize) -> Option<u64> {
        let count = self.counts.entry(caller.credential).or_default();
        if *count >= per_credential_max {
            return None;
        }
        *count += 1;
        let id = self.next_id;
        self.next_id += 1;
        self.by_id.insert(id, caller);
        Some(id)
    }

    fn remove(&mut self, id: u64) {
        let Some(caller) = self.by_id.remove(&id) else {
            return;
        };
        if let Some(count) = self.counts.get_mut(&caller.credential) {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&caller.credential);
            }
        }
    }
}

impl HeldCaller {
    fn end(&self, how: Ending) {
        // The first reason stands.
        let _ = self.ended.how.set(how);
        self.ended.token.cancel();
    }
}

impl Hold {
    /// Ends when the caller's credential has ended, or changed what it may do, or could not be read.
    pub(crate) async fn ended(&self) -> Ending {
        self.ended.token.cancelled().await;
        self.ended.how.get().copied().unwrap_or(Ending::Unchecked)
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        lock(&self.callers).remove(self.id);
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
        for credentials in app.held.credentials().chunks(CHECK_BATCH_MAX) {
            check(&app, credentials).await;
        }
        app.held.end_unchecked();
    }
}

/// That the database does not answer here says nothing of what another gateway has revoked.
async fn check(app: &App, credentials: &[Credential]) {
    let read_at = Instant::now();
    let reading = credentials::find_all(&app.pool, credentials);
    let Ok(Ok(valid)) = timeout(CHECK_TIMEOUT, reading).await else {
        metrics::counter!("hub_gateway_credential_checks_failed_total").increment(1);
        return;
    };
    let valid: HashMap<Credential, Principal> = valid
        .into_iter()
        .filter_map(|found| Some((found.principal.credential()?, found.principal)))
        .collect();
    let read = credentials.iter().copied().collect();
    app.held.found(&read, &valid, read_at);
}

/// No code panics while it holds the lock; were it to, the maps would still be whole.
fn lock(callers: &Mutex<Callers>) -> MutexGuard<'_, Callers> {
    callers.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};
    use std::time::Duration;

    use futures_util::FutureExt;
    use tokio::time::{Instant, advance};

    use super::{Ending, Held, HoldKind, TRUSTED_FOR};
    use crate::principal::{Agent, Credential, Principal};

    const CREDENTIAL: Credential = Credential::Token([7; 32]);

    fn agent(credential: Credential) -> Principal {
        Principal::Agent(Agent {
            account: "acme".to_owned(),
            id: "a".to_owned(),
            credential,
        })
    }

    fn held() -> Held {
        Held::new(3, 2, Duration::ZERO)
    }

    #[tokio::test]
    async fn places_are_bounded_for_all_and_for_each_and_given_back() {
        let places = held();
        let (one, other) = (agent(CREDENTIAL), agent(Credential::Token([8; 32])));
        let first = places.take(&one, HoldKind::Poll).ok().unwrap();
        let _second = places.take(&one, HoldKind::Poll).ok().unwrap();
        assert!(places.take(&one, HoldKind::Stream).is_err());
        let third = places.take(&other, HoldKind::Stream).ok().unwrap();
        assert!(places.take(&other, HoldKind::Stream).is_err());
        assert_eq!(places.credentials().len(), 2);
        drop((first, third));
        assert_eq!(places.credentials(), [CREDENTIAL]);
        assert!(places.take(&one, HoldKind::Stream).is_ok());
    }

    #[tokio::test]
    async fn what_has_ended_is_not_held_on() {
        let places = held();
        let (good, bad) = (agent(CREDENTIAL), agent(Credential::Token([8; 32])));
        let (kept, revoked) = (
            places.take(&good, HoldKind::Poll).ok().unwrap(),
            places.take(&bad, HoldKind::Poll).ok().unwrap(),
        );
        let read = HashSet::from([CREDENTIAL, bad.credential().unwrap()]);
        let valid = HashMap::from([(CREDENTIAL, good.clone())]);
        places.found(&read, &valid, Instant::now());
        assert_eq!(kept.ended().now_or_never(), None);
        assert_eq!(revoked.ended().now_or_never(), Some(Ending::Revoked));
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_outlives_no_more_than_three_seconds_of_silence() {
        let places = held();
        let principal = agent(CREDENTIAL);
        let hold = places.take(&principal, HoldKind::Poll).ok().unwrap();
        let (read, valid) = (
            HashSet::from([CREDENTIAL]),
            HashMap::from([(CREDENTIAL, principal)]),
        );
        advance(TRUSTED_FOR / 2).await;
        places.found(&read, &valid, Instant::now());
        advance(TRUSTED_FOR / 2).await;
        places.end_unchecked();
        assert_eq!(hold.ended().now_or_never(), None);
        advance(TRUSTED_FOR / 2).await;
        places.end_unchecked();
        assert_eq!(hold.ended().now_or_never(), Some(Ending::Unchecked));
    }
}
