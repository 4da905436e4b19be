//! What the gateway holds for its clients: bounded in sum, and for each of them (rule 15).

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ma2h::error::Problem;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

use super::errors::Refusal;
use crate::principal::{Credential, Principal};

/// Longest wait for room.
const ROOM_WAIT: Duration = Duration::from_secs(2);
/// When who found none may come again.
const RETRY_AFTER_SECONDS: u32 = 1;
/// One permit.
const PERMIT_BYTES: usize = 1024;

/// For whom something is held. What a credential is good for is had once, from however many addresses it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Holder {
    /// Of an authenticated call.
    Credential(Credential),
    /// Of any other.
    Address(IpAddr),
}

impl Holder {
    /// Of an agent's or a human's call; the deployment's admin is known by its address only.
    pub(crate) fn of(principal: &Principal) -> Option<Self> {
        principal.credential().map(Self::Credential)
    }
}

/// So many bytes, and a share of them for each holder.
pub(crate) struct Budget {
    /// What it is a budget of.
    of: &'static str,
    all: Arc<Semaphore>,
    share_permits: usize,
    shares: Arc<Mutex<Shares>>,
}

type Shares = HashMap<Holder, Arc<Semaphore>>;

impl Budget {
    /// `bytes_max` in sum and `share_bytes_max` for each holder, but enough for the largest single thing.
    pub(crate) fn new(
        of: &'static str,
        bytes_max: usize,
        share_bytes_max: usize,
        largest_bytes: usize,
    ) -> Self {
        let permits = |bytes: usize| permits(bytes.max(largest_bytes)) as usize;
        Self {
            of,
            all: Arc::new(Semaphore::new(permits(bytes_max))),
            share_permits: permits(share_bytes_max),
            shares: Arc::default(),
        }
    }

    /// Room of this holder, none of it taken yet.
    pub(crate) fn room(&self, holder: Holder) -> Room {
        let share = lock(&self.shares)
            .entry(holder)
            .or_insert_with(|| Arc::new(Semaphore::new(self.share_permits)))
            .clone();
        Room {
            of: self.of,
            bytes: 0,
            of_all: None,
            of_share: None,
            all: self.all.clone(),
            share: Some(share),
            holder,
            shares: self.shares.clone(),
        }
    }
}

#[cfg(test)]
impl Budget {
    /// Whether anybody holds anything.
    pub(super) fn is_held(&self) -> bool {
        !lock(&self.shares).is_empty()
    }
}

/// What is taken of a budget; given back when dropped.
pub(crate) struct Room {
    of: &'static str,
    bytes: usize,
    of_all: Option<OwnedSemaphorePermit>,
    of_share: Option<OwnedSemaphorePermit>,
    all: Arc<Semaphore>,
    /// None only while it is dropped.
    share: Option<Arc<Semaphore>>,
    holder: Holder,
    shares: Arc<Mutex<Shares>>,
}

impl Room {
    /// Takes so many bytes more, and waits a moment for them.
    pub(crate) async fn grow(&mut self, bytes: usize) -> Result<(), Refusal> {
        let Some(share) = self.share.clone() else {
            return Err(Problem::internal().into());
        };
        let more = permits(self.bytes + bytes) - permits(self.bytes);
        self.bytes += bytes;
        if more == 0 {
            return Ok(());
        }
        let until = Instant::now() + ROOM_WAIT;
        let Ok(Ok(of_share)) = timeout_at(until, share.acquire_many_owned(more)).await else {
            let message = format!("too many {} of this caller in hand", self.of);
            return Err(Problem::rate_limited(message, RETRY_AFTER_SECONDS).into());
        };
        let Ok(Ok(of_all)) = timeout_at(until, self.all.clone().acquire_many_owned(more)).await else {
            return Err(Refusal::busy(
                &format!("too many {} in hand", self.of),
                RETRY_AFTER_SECONDS,
            ));
        };
        merge(&mut self.of_share, of_share);
        merge(&mut self.of_all, of_all);
        Ok(())
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.of_share = None;
        let mut shares = lock(&self.shares);
        self.share = None;
        // Only the map has it: nobody holds anything.
        if shares
            .get(&self.holder)
            .is_some_and(|share| Arc::strong_count(share) == 1)
        {
            shares.remove(&self.holder);
        }
    }
}

fn permits(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(PERMIT_BYTES)).unwrap_or(u32::MAX)
}

fn merge(held: &mut Option<OwnedSemaphorePermit>, more: OwnedSemaphorePermit) {
    match held {
        Some(held) => held.merge(more),
        None => *held = Some(more),
    }
}

/// No code panics while it holds the lock; were it to, the map would still be whole.
fn lock(shares: &Mutex<Shares>) -> MutexGuard<'_, Shares> {
    shares.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;
    use axum::response::IntoResponse;

    use super::{Budget, Holder, lock};
    use crate::principal::Credential;

    const ONE: Holder = Holder::Credential(Credential::Token([1; 32]));
    const OTHER: Holder = Holder::Credential(Credential::Token([2; 32]));
    const THIRD: Holder = Holder::Credential(Credential::Token([3; 32]));

    fn budget() -> Budget {
        Budget::new("bodies", 4096, 3072, 0)
    }

    #[tokio::test(start_paused = true)]
    async fn each_holder_has_a_share_and_all_have_a_sum() {
        let budget = budget();
        let mut one = budget.room(ONE);
        one.grow(1).await.unwrap();
        one.grow(3071).await.unwrap();
        let over_share = budget.room(ONE).grow(1).await.unwrap_err().into_response();
        assert_eq!(over_share.status(), StatusCode::TOO_MANY_REQUESTS);
        let mut other = budget.room(OTHER);
        other.grow(1024).await.unwrap();
        let over_sum = budget.room(THIRD).grow(1).await.unwrap_err().into_response();
        assert_eq!(over_sum.status(), StatusCode::SERVICE_UNAVAILABLE);
        drop(one);
        budget.room(THIRD).grow(1).await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn room_comes_free_for_who_waits() {
        let budget = budget();
        let mut first = budget.room(ONE);
        first.grow(3072).await.unwrap();
        let mut second = budget.room(ONE);
        let (grown, ()) = tokio::join!(second.grow(3072), async move { drop(first) });
        grown.unwrap();
    }

    #[tokio::test]
    async fn who_holds_nothing_leaves_nothing_behind() {
        let budget = budget();
        let (one, other) = (budget.room(ONE), budget.room(ONE));
        drop(one);
        assert_eq!(lock(&budget.shares).len(), 1);
        drop(other);
        assert!(lock(&budget.shares).is_empty());
        assert_eq!(budget.all.available_permits(), 4);
    }

    #[tokio::test]
    async fn the_largest_thing_fits() {
        let budget = Budget::new("bodies", 1024, 1024, 8192);
        budget.room(ONE).grow(8192).await.unwrap();
    }
}
