//! So many calls to one host at a time, and short queues only: what a slow host keeps waiting is put back, so that it
//! costs only its own pushes.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hub_proto::lifecycle::HostRoom;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// Hosts that are remembered without a call to them.
const IDLE_HOSTS_MAX: usize = 10_000;
/// How long a host that is not called is told of with its pace.
const TOLD_FOR: Duration = Duration::from_secs(30);
/// A host whose permits are all taken and none of which has moved for so long is stuck.
const STUCK_AFTER: Duration = Duration::from_millis(500);
/// Hosts that a claim is told of.
const ROOMS_MAX: usize = 1000;

/// How much of a host is taken in hand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Calls to one host at a time.
    pub(super) calls: usize,
    /// Pushes that may wait for one host: its share of the worker's places.
    pub(super) queued: usize,
    /// How long a push may wait for its host.
    pub(super) wait: Duration,
}

impl Bounds {
    /// How many pushes may wait for a host whose calls take this long. As long as that is not known, no more than would go
    /// at once.
    fn queue(&self, call: Option<Duration>) -> usize {
        let Some(call) = call else {
            return self.calls.min(self.queued);
        };
        let rounds = self.wait.as_nanos() / call.as_nanos().max(1);
        let pushes = rounds.saturating_mul(self.calls as u128);
        usize::try_from(pushes).unwrap_or(usize::MAX).min(self.queued)
    }

    /// How many pushes of a host that was never called are taken at once.
    fn of_unknown(&self) -> usize {
        self.calls + self.queue(None)
    }
}

/// The permits of every host.
pub(super) struct HostPermits {
    bounds: Bounds,
    hosts: Mutex<HashMap<String, Arc<Host>>>,
}

struct Host {
    permits: Arc<Semaphore>,
    waiting: AtomicUsize,
    pace: Mutex<Pace>,
}

/// How fast permits come back.
#[derive(Clone, Copy)]
struct Pace {
    /// What a call takes, later ones weighing more; none before the first has ended.
    typical: Option<Duration>,
    /// When a permit was last taken or given back.
    moved_at: Instant,
}

/// The right to call a host, until dropped.
pub(super) struct HostPermit {
    host: Arc<Host>,
    since: Instant,
    _permit: OwnedSemaphorePermit,
}

/// Counts a push among those that wait for a host.
struct Waiting<'a>(&'a Host);

impl HostPermits {
    pub(super) fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            hosts: Mutex::default(),
        }
    }

    /// The right to call `name`, now or after a short wait; none where too many wait already, or it takes too long.
    pub(super) async fn acquire(&self, name: &str) -> Option<HostPermit> {
        let host = self.host(name);
        if let Ok(permit) = host.permits.clone().try_acquire_owned() {
            return Some(HostPermit::new(host, permit));
        }
        let waiting = Waiting::enter(&host);
        if host.waiting.load(Ordering::Relaxed) > self.bounds.queue(host.call(&self.bounds)) {
            return None;
        }
        let permit = tokio::time::timeout(self.bounds.wait, host.permits.clone().acquire_owned())
            .await
            .ok()?
            .ok()?;
        drop(waiting);
        Some(HostPermit::new(host, permit))
    }

    /// How many more pushes are taken of each host that is called now or was lately, and of any other.
    pub(super) fn rooms(&self) -> (Vec<HostRoom>, u32) {
        let hosts = locked(&self.hosts);
        let known = hosts.iter().filter(|(_, host)| host.is_recent());
        let rooms = known.take(ROOMS_MAX).map(|(name, host)| HostRoom {
            host: name.clone(),
            pushes: pushes(host.room(&self.bounds)),
            is_stuck: host.is_stuck(),
        });
        (rooms.collect(), pushes(self.bounds.of_unknown()))
    }

    fn host(&self, name: &str) -> Arc<Host> {
        let mut hosts = locked(&self.hosts);
        if let Some(host) = hosts.get(name) {
            return host.clone();
        }
        if hosts.len() >= IDLE_HOSTS_MAX {
            hosts.retain(|_, host| Arc::strong_count(host) > 1);
        }
        let host = Arc::new(Host {
            permits: Arc::new(Semaphore::new(self.bounds.calls)),
            waiting: AtomicUsize::new(0),
            pace: Mutex::new(Pace {
                typical: None,
                moved_at: Instant::now(),
            }),
        });
        hosts.insert(name.to_owned(), host.clone());
        host
    }
}

impl Host {
    /// What a call takes, as far as is known. Of a host that is called and has not moved for a while it is known that a call
    /// takes at least that long.
    fn call(&self, bounds: &Bounds) -> Option<Duration> {
        let pace = *locked(&self.pace);
        let is_called = self.permits.available_permits() < bounds.calls;
        let still = if is_called {
            pace.moved_at.elapsed()
        } else {
            Duration::ZERO
        };
        match pace.typical {
            Some(typical) => Some(typical.max(still)),
            None if still > bounds.wait => Some(still),
            None => None,
        }
    }

    /// How many more pushes are taken.
    fn room(&self, bounds: &Bounds) -> usize {
        let queue = bounds.queue(self.call(bounds));
        let waiting = self.waiting.load(Ordering::Relaxed);
        (self.permits.available_permits() + queue).saturating_sub(waiting)
    }

    /// Whether it takes no calls, and those under way do not end.
    fn is_stuck(&self) -> bool {
        self.permits.available_permits() == 0 && locked(&self.pace).moved_at.elapsed() >= STUCK_AFTER
    }

    fn is_recent(&self) -> bool {
        locked(&self.pace).moved_at.elapsed() < TOLD_FOR || self.waiting.load(Ordering::Relaxed) > 0
    }
}

impl HostPermit {
    fn new(host: Arc<Host>, permit: OwnedSemaphorePermit) -> Self {
        let since = Instant::now();
        locked(&host.pace).moved_at = since;
        Self {
            host,
            since,
            _permit: permit,
        }
    }
}

impl Drop for HostPermit {
    fn drop(&mut self) {
        let mut pace = locked(&self.host.pace);
        let took = self.since.elapsed();
        pace.typical = Some(pace.typical.map_or(took, |typical| (typical * 3 + took) / 4));
        pace.moved_at = Instant::now();
    }
}

impl<'a> Waiting<'a> {
    fn enter(host: &'a Host) -> Self {
        host.waiting.fetch_add(1, Ordering::Relaxed);
        Self(host)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

fn pushes(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// What these locks guard is whole after every statement, so a panic elsewhere leaves nothing half done.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Bounds = Bounds {
        calls: 2,
        queued: 50,
        wait: Duration::from_millis(200),
    };

    async fn acquire(permits: &HostPermits, host: &str) -> HostPermit {
        permits.acquire(host).await.unwrap()
    }

    fn room(permits: &HostPermits, host: &str) -> u32 {
        let (rooms, otherwise) = permits.rooms();
        let room = rooms.iter().find(|room| room.host == host);
        room.map_or(otherwise, |room| room.pushes)
    }

    #[test]
    fn a_queue_is_as_long_as_its_host_is_quick() {
        let queue = |call_ms: Option<u64>| BOUNDS.queue(call_ms.map(Duration::from_millis));
        assert_eq!(queue(None), 2);
        assert_eq!(queue(Some(0)), 50);
        assert_eq!(queue(Some(20)), 20);
        assert_eq!(queue(Some(200)), 2);
        assert_eq!(queue(Some(201)), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_host_that_does_not_answer_costs_only_its_own() {
        let permits = HostPermits::new(BOUNDS);
        assert_eq!(room(&permits, "slow.example"), 4);
        let held = [
            acquire(&permits, "slow.example").await,
            acquire(&permits, "slow.example").await,
        ];
        assert_eq!(room(&permits, "slow.example"), 2);
        let started = Instant::now();
        assert!(permits.acquire("slow.example").await.is_none());
        assert!(started.elapsed() >= BOUNDS.wait);
        // Now it is known to be slow: nobody waits for it any more, and no other host is touched by it.
        tokio::time::sleep(BOUNDS.wait * 2).await;
        assert_eq!(room(&permits, "slow.example"), 0);
        let started = Instant::now();
        assert!(permits.acquire("slow.example").await.is_none());
        assert_eq!(started.elapsed(), Duration::ZERO);
        acquire(&permits, "good.example").await;
        drop(held);
        acquire(&permits, "slow.example").await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_host_that_answers_keeps_its_short_queue() {
        let permits = Arc::new(HostPermits::new(BOUNDS));
        let call = async |permits: Arc<HostPermits>| {
            let permit = permits.acquire("good.example").await;
            tokio::time::sleep(Duration::from_millis(1)).await;
            permit.is_some()
        };
        assert!(call(permits.clone()).await);
        assert_eq!(room(&permits, "good.example"), 52);
        let mut calls = tokio::task::JoinSet::new();
        for _ in 0..50 {
            calls.spawn(call(permits.clone()));
        }
        assert!(calls.join_all().await.into_iter().all(|called| called));
    }

    #[tokio::test]
    async fn idle_hosts_are_forgotten_beyond_the_bound() {
        let permits = HostPermits::new(BOUNDS);
        let held = acquire(&permits, "held.example").await;
        for number in 0..=IDLE_HOSTS_MAX {
            acquire(&permits, &format!("{number}.example")).await;
        }
        assert!(locked(&permits.hosts).len() <= IDLE_HOSTS_MAX);
        assert!(permits.hosts.lock().unwrap().contains_key("held.example"));
        assert!(permits.rooms().0.len() <= ROOMS_MAX);
        drop(held);
    }
}
