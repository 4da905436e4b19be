//! So many calls to one host at a time, and short queues only: what a slow host keeps waiting is put back, so that it
//! costs only its own pushes.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// Hosts that are remembered without a call to them.
const IDLE_HOSTS_MAX: usize = 10_000;

/// The permits of every host.
pub(super) struct HostPermits {
    per_host_max: usize,
    /// How long a push may wait for its host. While it does it holds one of the worker's places.
    wait_max: Duration,
    hosts: Mutex<HashMap<String, Arc<Host>>>,
}

struct Host {
    permits: Arc<Semaphore>,
    waiting: AtomicUsize,
    pace: Mutex<Pace>,
}

/// How fast permits come back.
struct Pace {
    /// What a call takes, later ones weighing more.
    typical: Duration,
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
    pub(super) fn new(per_host_max: usize, wait_max: Duration) -> Self {
        Self {
            per_host_max,
            wait_max,
            hosts: Mutex::default(),
        }
    }

    /// The right to call `name`, now or after a short wait; none where the wait would be longer.
    pub(super) async fn acquire(&self, name: &str) -> Option<HostPermit> {
        let host = self.host(name);
        if let Ok(permit) = host.permits.clone().try_acquire_owned() {
            return Some(HostPermit::new(host, permit));
        }
        let waiting = Waiting::enter(&host);
        if host.expected_wait(self.per_host_max) > self.wait_max {
            return None;
        }
        let permit = tokio::time::timeout(self.wait_max, host.permits.clone().acquire_owned())
            .await
            .ok()?
            .ok()?;
        drop(waiting);
        Some(HostPermit::new(host, permit))
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
            permits: Arc::new(Semaphore::new(self.per_host_max)),
            waiting: AtomicUsize::new(0),
            pace: Mutex::new(Pace {
                typical: Duration::ZERO,
                moved_at: Instant::now(),
            }),
        });
        hosts.insert(name.to_owned(), host.clone());
        host
    }
}

impl Host {
    /// What the last of those who wait has before it. Of a host that has not moved for a while it is known that a call
    /// takes at least that long.
    fn expected_wait(&self, per_host_max: usize) -> Duration {
        let call = {
            let pace = locked(&self.pace);
            pace.typical.max(pace.moved_at.elapsed())
        };
        let waiting = u32::try_from(self.waiting.load(Ordering::Relaxed)).unwrap_or(u32::MAX);
        call.saturating_mul(waiting) / u32::try_from(per_host_max).unwrap_or(u32::MAX)
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
        pace.typical = (pace.typical * 3 + self.since.elapsed()) / 4;
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

/// What these locks guard is whole after every statement, so a panic elsewhere leaves nothing half done.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAIT_MAX: Duration = Duration::from_millis(200);

    async fn acquire(permits: &HostPermits, host: &str) -> HostPermit {
        permits.acquire(host).await.unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_host_that_does_not_answer_costs_only_its_own() {
        let permits = HostPermits::new(2, WAIT_MAX);
        let held = [
            acquire(&permits, "slow.example").await,
            acquire(&permits, "slow.example").await,
        ];
        let started = Instant::now();
        assert!(permits.acquire("slow.example").await.is_none());
        assert!(started.elapsed() >= WAIT_MAX);
        // Now it is known to be slow: nobody waits for it any more, and no other host is touched by it.
        tokio::time::sleep(WAIT_MAX * 2).await;
        let started = Instant::now();
        assert!(permits.acquire("slow.example").await.is_none());
        assert_eq!(started.elapsed(), Duration::ZERO);
        acquire(&permits, "good.example").await;
        drop(held);
        acquire(&permits, "slow.example").await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_host_that_answers_keeps_its_short_queue() {
        let permits = Arc::new(HostPermits::new(2, WAIT_MAX));
        let mut calls = tokio::task::JoinSet::new();
        for _ in 0..50 {
            let permits = permits.clone();
            calls.spawn(async move {
                let permit = permits.acquire("good.example").await;
                tokio::time::sleep(Duration::from_millis(1)).await;
                permit.is_some()
            });
        }
        assert!(calls.join_all().await.into_iter().all(|called| called));
    }

    #[tokio::test]
    async fn idle_hosts_are_forgotten_beyond_the_bound() {
        let permits = HostPermits::new(1, WAIT_MAX);
        let held = acquire(&permits, "held.example").await;
        for number in 0..=IDLE_HOSTS_MAX {
            acquire(&permits, &format!("{number}.example")).await;
        }
        assert!(locked(&permits.hosts).len() <= IDLE_HOSTS_MAX);
        assert!(permits.hosts.lock().unwrap().contains_key("held.example"));
        drop(held);
    }
}
