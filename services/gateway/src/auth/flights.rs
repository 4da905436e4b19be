//! Look-ups of credentials that are under way: who comes with the same one meanwhile shares the answer, so that a flood
//! with one token asks the database once.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared, WeakShared};
use ma2h::error::Problem;

use super::cache::Ticket;
use crate::directory::credentials::Found;
use crate::principal::Credential;

/// What a look-up comes to, with what was taken before it began.
pub(super) type Looked = Result<(Ticket, Option<Found>), Problem>;
type LookUp = BoxFuture<'static, Looked>;

/// A look-up that began before a revocation is not joined after it.
type Key = (Credential, u64);

/// As many as there are calls that wait for one.
#[derive(Default)]
pub(crate) struct Flights(Mutex<HashMap<Key, WeakShared<LookUp>>>);

impl Flights {
    /// The answer of the look-up under way, or of a new one that begins with this ticket.
    pub(super) async fn join(
        &self,
        credential: Credential,
        ticket: Ticket,
        look_up: impl FnOnce() -> LookUp,
    ) -> Looked {
        let key = (credential, ticket.epoch());
        let passenger = Passenger {
            flight: Some(self.flight(key, look_up)),
            key,
            flights: self,
        };
        match &passenger.flight {
            Some(flight) => flight.clone().await,
            None => Err(Problem::internal()),
        }
    }

    fn flight(&self, key: Key, look_up: impl FnOnce() -> LookUp) -> Shared<LookUp> {
        let mut flights = self.lock();
        let under_way = flights.get(&key).and_then(WeakShared::upgrade);
        if let Some(flight) = under_way.filter(|flight| flight.peek().is_none()) {
            return flight;
        }
        let flight = look_up().shared();
        if let Some(weak) = flight.downgrade() {
            flights.insert(key, weak);
        }
        flight
    }

    /// No code panics while it holds the lock; were it to, the map would still be whole.
    fn lock(&self) -> MutexGuard<'_, HashMap<Key, WeakShared<LookUp>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Who waits for a look-up. It ends when nobody does, and leaves nothing behind.
struct Passenger<'a> {
    /// None only while it is dropped.
    flight: Option<Shared<LookUp>>,
    key: Key,
    flights: &'a Flights,
}

impl Drop for Passenger<'_> {
    fn drop(&mut self) {
        self.flight = None;
        let mut flights = self.flights.lock();
        let under_way = flights.get(&self.key).and_then(WeakShared::upgrade);
        if under_way.is_none_or(|flight| flight.peek().is_some()) {
            flights.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures_util::FutureExt;
    use futures_util::future::join_all;
    use tokio::sync::Notify;

    use super::Flights;
    use crate::auth::cache::{Cache, Ticket};
    use crate::principal::Credential;

    const CREDENTIAL: Credential = Credential::Token([7; 32]);

    #[derive(Clone, Default)]
    struct Database {
        asked: Arc<AtomicUsize>,
        answers: Arc<Notify>,
    }

    impl Database {
        fn look_up(&self, ticket: Ticket) -> super::LookUp {
            self.asked.fetch_add(1, Ordering::Relaxed);
            let answers = self.answers.clone();
            async move {
                answers.notified().await;
                Ok((ticket, None))
            }
            .boxed()
        }
    }

    #[tokio::test]
    async fn who_comes_meanwhile_shares_the_answer() {
        let (flights, database, cache) = (Flights::default(), Database::default(), Cache::new(0));
        let ticket = cache.ticket();
        let calls = join_all((0..100).map(|_| flights.join(CREDENTIAL, ticket, || database.look_up(ticket))));
        let answer = async { database.answers.notify_one() };
        let (answers, ()) = tokio::join!(calls, answer);
        assert!(answers.iter().all(Result::is_ok));
        assert_eq!(database.asked.load(Ordering::Relaxed), 1);
        assert!(flights.lock().is_empty());
    }

    #[tokio::test]
    async fn nobody_joins_what_began_before_a_revocation() {
        let (flights, database, cache) = (Flights::default(), Database::default(), Cache::new(0));
        let before = cache.ticket();
        let mut first = Box::pin(flights.join(CREDENTIAL, before, || database.look_up(before)));
        assert!(first.as_mut().now_or_never().is_none());
        cache.forget("acme");
        let after = cache.ticket();
        let mut second = Box::pin(flights.join(CREDENTIAL, after, || database.look_up(after)));
        assert!(second.as_mut().now_or_never().is_none());
        assert_eq!(database.asked.load(Ordering::Relaxed), 2);
        drop((first, second));
        assert!(flights.lock().is_empty(), "what nobody waits for is left behind");
    }
}
