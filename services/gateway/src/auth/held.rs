//! Calls that are held open: their places, and their end when their callers no longer may, or nobody can tell.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use ma2h::error::Problem;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use super::turns::{Turn, Turns};
use super::{Authenticated, unauthenticated};
use crate::edge::errors::Refusal;
use crate::principal::{Credential, Principal};

/// How long a held call goes on without its credential having been read.
const TRUSTED_FOR: Duration = Duration::from_secs(3);
/// When who found no place may come again.
const RETRY_AFTER_SECONDS: u32 = 5;

/// What is held at this gateway. Bounded, in sum and for each credential.
pub(crate) struct Held {
    places: Arc<Semaphore>,
    per_credential_max: usize,
    turns: Turns,
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
    turns: Turns,
    _place: OwnedSemaphorePermit,
}

impl Held {
    /// At most so many calls at a time, and so many of each credential.
    pub(crate) fn new(calls_max: usize, per_credential_max: usize) -> Self {
        Self {
            places: Arc::new(Semaphore::new(calls_max.min(Semaphore::MAX_PERMITS))),
            per_credential_max,
            turns: Turns::default(),
            callers: Arc::default(),
            check: Notify::new(),
        }
    }

    /// A place for a call: 429 if its caller holds too many, 503 if all do together.
    pub(crate) fn take(&self, caller: &Authenticated, kind: HoldKind) -> Result<Hold, Refusal> {
        let Authenticated { principal, read_at } = caller;
        // The deployment's admin has nothing to wait for.
        let credential = principal.credential().ok_or_else(unauthenticated)?;
        let Ok(place) = self.places.clone().try_acquire_owned() else {
            return Err(Refusal::busy("too many calls are held open", RETRY_AFTER_SECONDS));
        };
        let caller = HeldCaller {
            principal: principal.clone(),
            credential,
            seen_at: Instant::from_std(*read_at),
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
            turns: self.turns.clone(),
            _place: place,
        })
    }

    /// Has every held credential read again now.
    pub(crate) fn check_now(&self) {
        self.check.notify_one();
    }

    /// Ends when that was asked for since it ended last.
    pub(super) async fn check_asked(&self) {
        self.check.notified().await;
    }

    /// All that hold calls.
    pub(super) fn credentials(&self) -> Vec<Credential> {
        lock(&self.callers).counts.keys().copied().collect()
    }

    /// What was found of these credentials by a reading that began at `read_at`: those not among `valid` have ended.
    pub(super) fn found(
        &self,
        read: &HashSet<Credential>,
        valid: &HashMap<Credential, Principal>,
        read_at: Instant,
    ) {
        for caller in lock(&self.callers).by_id.values_mut() {
            if valid.get(&caller.credential) == Some(&caller.principal) {
                caller.seen_at = caller.seen_at.max(read_at);
            } else if read.contains(&caller.credential) && caller.seen_at <= read_at {
                // What was read of it since knows better.
                caller.end(Ending::Revoked);
            }
        }
    }

    /// Ends the calls of which nothing has been found for too long.
    pub(super) fn end_unchecked(&self) {
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

    /// Waits for this call's turn to ask another tier, unless it ends before, or `until` comes.
    pub(crate) async fn turn(&self, until: Instant) -> Result<Turn, Refusal> {
        let turn = tokio::select! {
            turn = timeout_at(until, self.turns.next()) => turn,
            ending = self.ended() => return Err(ending.into()),
        };
        let busy = || Refusal::busy("too many held calls have something to ask", RETRY_AFTER_SECONDS);
        turn.ok().flatten().ok_or_else(busy)
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        lock(&self.callers).remove(self.id);
        metrics::gauge!("hub_http_held_requests", "kind" => self.kind.as_str()).decrement(1);
    }
}

/// No code panics while it holds the lock; were it to, the maps would still be whole.
fn lock(callers: &Mutex<Callers>) -> MutexGuard<'_, Callers> {
    callers.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use futures_util::FutureExt;
    use tokio::time::{Instant, advance};

    use super::{Ending, Held, HoldKind, TRUSTED_FOR};
    use crate::auth::Authenticated;
    use crate::auth::turns::TURNS_MAX;
    use crate::principal::{Agent, Credential, Principal};

    const CREDENTIAL: Credential = Credential::Token([7; 32]);

    fn agent(credential: Credential) -> Authenticated {
        let agent = Agent {
            account: "acme".to_owned(),
            id: "a".to_owned(),
            credential,
        };
        Authenticated {
            principal: Principal::Agent(agent),
            read_at: Instant::now().into_std(),
        }
    }

    fn held() -> Held {
        Held::new(3, 2)
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
        let read = HashSet::from([CREDENTIAL, Credential::Token([8; 32])]);
        let valid = HashMap::from([(CREDENTIAL, good.principal)]);
        places.found(&read, &valid, Instant::now());
        assert_eq!(kept.ended().now_or_never(), None);
        assert_eq!(revoked.ended().now_or_never(), Some(Ending::Revoked));
    }

    /// Its human was given another role meanwhile, and came again.
    #[tokio::test(start_paused = true)]
    async fn an_older_reading_ends_no_call_that_came_after_it() {
        let places = held();
        let read_at = Instant::now();
        advance(TRUSTED_FOR / 2).await;
        let hold = places.take(&agent(CREDENTIAL), HoldKind::Poll).ok().unwrap();
        places.found(&HashSet::from([CREDENTIAL]), &HashMap::new(), read_at);
        assert_eq!(hold.ended().now_or_never(), None);
        places.found(&HashSet::from([CREDENTIAL]), &HashMap::new(), Instant::now());
        assert_eq!(hold.ended().now_or_never(), Some(Ending::Revoked));
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_outlives_no_more_than_three_seconds_of_silence() {
        let places = held();
        let caller = agent(CREDENTIAL);
        let hold = places.take(&caller, HoldKind::Poll).ok().unwrap();
        let (read, valid) = (
            HashSet::from([CREDENTIAL]),
            HashMap::from([(CREDENTIAL, caller.principal)]),
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

    #[tokio::test(start_paused = true)]
    async fn a_call_that_was_read_a_while_ago_has_that_much_less_time() {
        let places = held();
        let caller = agent(CREDENTIAL);
        advance(TRUSTED_FOR / 2).await;
        let hold = places.take(&caller, HoldKind::Poll).ok().unwrap();
        places.end_unchecked();
        assert_eq!(hold.ended().now_or_never(), None);
        advance(TRUSTED_FOR / 2).await;
        places.end_unchecked();
        assert_eq!(hold.ended().now_or_never(), Some(Ending::Unchecked));
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_for_a_turn_gets_it_or_ends() {
        let places = held();
        let hold = places.take(&agent(CREDENTIAL), HoldKind::Poll).ok().unwrap();
        let until = Instant::now() + TRUSTED_FOR / 2;
        let mut turns = Vec::new();
        for _ in 0..TURNS_MAX {
            turns.push(hold.turn(until).await.ok().unwrap());
        }
        assert!(hold.turn(until).await.is_err());
        turns.pop();
        turns.push(hold.turn(until).await.ok().unwrap());
        advance(TRUSTED_FOR).await;
        places.end_unchecked();
        let ended = hold.turn(Instant::now() + TRUSTED_FOR).await.err().unwrap();
        assert!(ended.is_unavailable());
    }
}
