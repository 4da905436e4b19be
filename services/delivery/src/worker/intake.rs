//! From jobs to pushes under way. A job is taken off the queue after its push is claimed and before it is sent, so it
//! is neither lost nor held for the length of a call.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use hub_platform::backoff::Backoff;
use hub_platform::nats::Delivery;
use hub_platform::{grpc, ids, telemetry};
use hub_proto::lifecycle::{ClaimPushesReply, ClaimPushesRequest, Push, PushJob, PushResult, Settlement};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tracing::Instrument as _;

use super::attempt::{Purpose, Terms, untried};
use super::clock::HubClock;
use super::material::{Gate, Prepared};
use super::metrics;
use super::outcome::Outcome;
use super::{Worker, kib};
use crate::error::CallError;
use crate::health::{HostKey, Probe};

/// Pauses after a claim that failed.
const FIRST_DELAY: Duration = Duration::from_millis(100);
const MAX_DELAY: Duration = Duration::from_secs(5);

/// How long a claim waits, when places are scarce, for more of them to come free: few claims of many pushes each, not
/// one for every place.
const LINGER: Duration = Duration::from_millis(5);

/// What a claim gave.
struct Claim {
    id: String,
    pushes: Vec<Push>,
    clock: HubClock,
    ends: Instant,
}

/// Places and room that were set aside for a claim.
struct Reserve {
    places: OwnedSemaphorePermit,
    room: OwnedSemaphorePermit,
}

impl Worker {
    /// Takes batches of jobs until shutdown. Jobs that are dropped on the way come back to another worker.
    pub(super) async fn take_jobs(self: Arc<Self>) {
        let mut jobs = self.jobs.consume::<PushJob>(self.batch_max);
        let mut backoff = Backoff::new(FIRST_DELAY, MAX_DELAY);
        while let Some(batch) = self.unless_stopped(jobs.next()).await {
            match self.take_batch(batch).await {
                Ok(()) => backoff.reset(),
                Err(error) => {
                    tracing::warn!(%error, "pushes not claimed");
                    self.unless_stopped(backoff.wait()).await;
                }
            }
        }
    }

    /// Claims and puts under way as many at a time as there are places for.
    async fn take_batch(self: &Arc<Self>, mut batch: Vec<Delivery<PushJob>>) -> Result<(), ClaimError> {
        while !batch.is_empty() {
            let Some(Some(reserve)) = self.unless_stopped(self.reserve(batch.len())).await else {
                return Ok(());
            };
            let rest = batch.split_off(reserve.places.num_permits().min(batch.len()));
            // Not to be cut short: what is claimed is put under way, or else waits for its claim to run out.
            let claim = self.claim(&batch).await?;
            join_all(batch.iter().map(Delivery::ack)).await;
            if let Some(claim) = claim {
                self.batches.spawn(self.clone().deliver(claim, reserve));
            }
            batch = rest;
        }
        Ok(())
    }

    async fn unless_stopped<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            () = self.shutdown.requested() => None,
            done = work => Some(done),
        }
    }

    /// Waits for a place, takes as many more as there are, and waits for room for the largest answer a claim can have.
    async fn reserve(&self, jobs: usize) -> Option<Reserve> {
        let mut places = acquire(&self.places, 1).await?;
        if jobs > self.places.available_permits() {
            tokio::time::sleep(LINGER).await;
        }
        while places.num_permits() < jobs
            && let Ok(place) = self.places.clone().try_acquire_owned()
        {
            places.merge(place);
        }
        let room = acquire(&self.room, kib(self.reply_bytes_max)).await?;
        Some(Reserve { places, room })
    }

    /// Claims what these jobs stand for; none of it may be due any more.
    async fn claim(&self, batch: &[Delivery<PushJob>]) -> Result<Option<Claim>, ClaimError> {
        let id = ids::mint("clm");
        // The relay publishes again what it takes for lost, so a batch may name a push twice.
        let jobs: HashSet<_> = batch.iter().map(|delivery| delivery.job.clone()).collect();
        let (rooms, room_otherwise) = self.sender.hosts.rooms();
        let request = ClaimPushesRequest {
            claim_id: id.clone(),
            jobs: jobs.into_iter().collect(),
            rooms,
            room_otherwise,
        };
        let asked = Instant::now();
        let call = || {
            let mut lifecycle = self.lifecycle.clone();
            let request = request.clone();
            async move { lifecycle.claim_pushes(request).await }
        };
        let ClaimPushesReply { pushes, now } = grpc::call(&self.peers, call).await?;
        if pushes.is_empty() {
            return Ok(None);
        }
        let clock = now.and_then(HubClock::from_reading).ok_or(ClaimError::NoTime)?;
        Ok(Some(Claim {
            id,
            pushes,
            clock,
            ends: asked + self.claim_lasts,
        }))
    }

    /// Tries every push of a claim and records how each went.
    async fn deliver(self: Arc<Self>, claim: Claim, mut reserve: Reserve) {
        let prepared = match self.prepare(&claim.pushes).await {
            Ok(prepared) => prepared,
            Err(error) => {
                error.report();
                let untried = claim.pushes.iter().map(deferred).collect();
                return self.settler.settle(&claim.id, claim.ends, untried).await;
            }
        };
        let terms = Terms {
            clock: claim.clock,
            claim_ends: claim.ends,
        };
        let mut attempts = JoinSet::new();
        for (prepared, purpose) in prepared {
            let push = &prepared.push;
            let held = reserve.split(push.payload.len());
            let span = tracing::info_span!("push", message_id = push.message_id, number = push.number);
            telemetry::set_parent(&span, &push.traceparent);
            let sender = self.sender.clone();
            let attempt = async move {
                let ended = sender.attempt(prepared, purpose, terms).await;
                drop(held);
                ended
            };
            attempts.spawn(attempt.instrument(span));
        }
        drop(reserve);
        self.settler
            .settle_as_they_end(&claim.id, claim.ends, attempts)
            .await;
    }

    /// Reads what the pushes need, and takes the looks that are due at their hosts.
    async fn prepare(&self, pushes: &[Push]) -> Result<Vec<(Prepared, Purpose)>, CallError> {
        let prepared = self.materials.prepare(pushes).await?;
        let due: BTreeSet<_> = prepared.iter().filter(|one| may_look(one)).map(key).collect();
        let mut looks = Vec::new();
        if !due.is_empty() {
            let due: Vec<_> = due.into_iter().collect();
            let lasts_ms = i64::try_from(self.claim_lasts.as_millis()).unwrap_or(i64::MAX);
            looks = self.settler.health.take_probes(&due, lasts_ms).await?;
        }
        Ok(prepared
            .into_iter()
            .map(|one| {
                let purpose = purpose(&one, &mut looks);
                (one, purpose)
            })
            .collect())
    }
}

/// Whether a push can be sent to see if its host is back.
fn may_look(prepared: &Prepared) -> bool {
    prepared.gate == Gate::Probe && prepared.material.is_ok()
}

fn key(prepared: &Prepared) -> HostKey {
    HostKey {
        account: prepared.push.account.clone(),
        host: prepared.host.clone(),
    }
}

/// What a push is tried for: the first that may look at a host takes the look, and what was claimed while its host's breaker
/// opened is put back.
fn purpose(prepared: &Prepared, looks: &mut Vec<Probe>) -> Purpose {
    // It is settled without a call.
    if prepared.material.is_err() {
        return Purpose::Deliver;
    }
    match prepared.gate {
        Gate::Well | Gate::Failing => Purpose::Deliver,
        Gate::Held => Purpose::PutBack,
        Gate::Probe => {
            let key = key(prepared);
            let taken = looks.iter().position(|look| look.of == key);
            taken.map_or(Purpose::PutBack, |at| Purpose::Look {
                is_paused: looks.swap_remove(at).is_paused,
            })
        }
    }
}

impl Reserve {
    /// What one push takes of it. A claim that gives more than was asked for finds nothing left to take.
    fn split(
        &mut self,
        payload_bytes: usize,
    ) -> (Option<OwnedSemaphorePermit>, Option<OwnedSemaphorePermit>) {
        (self.places.split(1), self.room.split(kib(payload_bytes) as usize))
    }
}

async fn acquire(semaphore: &Arc<Semaphore>, count: u32) -> Option<OwnedSemaphorePermit> {
    // These semaphores are never closed.
    semaphore.clone().acquire_many_owned(count).await.ok()
}

/// A push that is put back, untried.
fn deferred(push: &Push) -> Settlement {
    let mut settlement = untried(push);
    settlement.set_result(PushResult::Deferred);
    metrics::record(push.kind(), Outcome::Deferred);
    settlement
}

/// Why nothing was claimed.
#[derive(Debug, thiserror::Error)]
enum ClaimError {
    /// Lifecycle is away, or refused.
    #[error("{}: {}", .0.code(), .0.message())]
    Call(#[from] tonic::Status),
    /// The answer does not say what time it is.
    #[error("the claim came without a time")]
    NoTime,
}
