//! From jobs to pushes under way. A job is taken off the queue after its push is claimed and before it is sent, so it
//! is neither lost nor held for the length of a call.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use hub_platform::backoff::Backoff;
use hub_platform::nats::Delivery;
use hub_platform::{grpc, ids, telemetry};
use hub_proto::lifecycle::{self, ClaimPushesReply, ClaimPushesRequest, Push, PushResult, Settlement};
use serde::Deserialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tracing::Instrument as _;

use super::clock::HubClock;
use super::{Worker, kib};

/// Pauses after a claim that failed.
const FIRST_DELAY: Duration = Duration::from_millis(100);
const MAX_DELAY: Duration = Duration::from_secs(5);

/// A job: look at what this message owes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
pub(super) struct PushJob {
    account: String,
    message_id: String,
}

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
    /// Takes batches of jobs until shutdown.
    pub(super) async fn take_jobs(self: Arc<Self>) {
        let mut jobs = self.jobs.consume::<PushJob>(self.batch_max);
        let mut backoff = Backoff::new(FIRST_DELAY, MAX_DELAY);
        loop {
            let taking = async {
                let batch = jobs.next().await;
                let reserve = self.reserve(batch.len()).await?;
                Some((batch, reserve))
            };
            // Jobs that are dropped here come back to another worker.
            let taken = tokio::select! {
                biased;
                () = self.shutdown.requested() => return,
                taken = taking => taken,
            };
            let Some((batch, reserve)) = taken else { return };
            // Not to be cut short: what is claimed is either put under way or waits for its claim to run out.
            match self.claim(&batch).await {
                Ok(claim) => {
                    backoff.reset();
                    join_all(batch.iter().map(Delivery::ack)).await;
                    self.put_under_way(claim, reserve);
                }
                Err(error) => {
                    tracing::warn!(jobs = batch.len(), %error, "pushes not claimed");
                    backoff.wait().await;
                }
            }
        }
    }

    /// Waits for places for all and for room for the largest answer a claim can have. None at shutdown.
    async fn reserve(&self, jobs: usize) -> Option<Reserve> {
        let places = acquire(&self.places, u32::try_from(jobs).ok()?).await?;
        let room = acquire(&self.room, kib(self.reply_bytes_max)).await?;
        Some(Reserve { places, room })
    }

    async fn claim(&self, batch: &[Delivery<PushJob>]) -> Result<Claim, ClaimError> {
        let id = ids::mint("clm");
        // The relay publishes again what it takes for lost, so a batch may name a message twice.
        let jobs: BTreeSet<_> = batch.iter().map(|delivery| delivery.job.clone()).collect();
        let jobs = jobs.into_iter().map(|job| lifecycle::PushJob {
            account: job.account,
            message_id: job.message_id,
        });
        let request = ClaimPushesRequest {
            claim_id: id.clone(),
            jobs: jobs.collect(),
        };
        let asked = Instant::now();
        let call = || {
            let mut lifecycle = self.lifecycle.clone();
            let request = request.clone();
            async move { lifecycle.claim_pushes(request).await }
        };
        let ClaimPushesReply { pushes, now } = grpc::call(&self.peers, call).await?;
        let clock = now.and_then(HubClock::from_reading).ok_or(ClaimError::NoTime)?;
        Ok(Claim {
            id,
            pushes,
            clock,
            ends: asked + self.claim_lasts,
        })
    }

    fn put_under_way(self: &Arc<Self>, claim: Claim, reserve: Reserve) {
        if !claim.pushes.is_empty() {
            self.batches.spawn(self.clone().deliver(claim, reserve));
        }
    }

    /// Tries every push of a claim and records how each went.
    async fn deliver(self: Arc<Self>, claim: Claim, mut reserve: Reserve) {
        let materials = match self.materials.read(&claim.pushes).await {
            Ok(materials) => materials,
            Err(error) => {
                error.report();
                let untried = claim.pushes.iter().map(deferred).collect();
                return self.settler.settle(&claim.id, claim.ends, untried).await;
            }
        };
        let mut attempts = JoinSet::new();
        for (push, material) in claim.pushes.into_iter().zip(materials) {
            let held = reserve.split(push.response.len());
            let span = tracing::info_span!("push", message_id = push.message_id, number = push.number);
            telemetry::set_parent(&span, &push.traceparent);
            let sender = self.sender.clone();
            let clock = claim.clock;
            let attempt = async move {
                let settlement = sender.attempt(push, material, clock).await;
                drop(held);
                settlement
            };
            attempts.spawn(attempt.instrument(span));
        }
        drop(reserve);
        self.settler
            .settle_as_they_end(&claim.id, claim.ends, attempts)
            .await;
    }
}

impl Reserve {
    /// What one push takes of it. A claim that gives more than was asked for finds nothing left to take.
    fn split(
        &mut self,
        response_bytes: usize,
    ) -> (Option<OwnedSemaphorePermit>, Option<OwnedSemaphorePermit>) {
        (
            self.places.split(1),
            self.room.split(kib(response_bytes) as usize),
        )
    }
}

async fn acquire(semaphore: &Arc<Semaphore>, count: u32) -> Option<OwnedSemaphorePermit> {
    // These semaphores are never closed.
    semaphore.clone().acquire_many_owned(count).await.ok()
}

/// A push that is put back, untried.
fn deferred(push: &Push) -> Settlement {
    let mut settlement = Settlement {
        account: push.account.clone(),
        message_id: push.message_id.clone(),
        generation: push.generation,
        number: push.number,
        ..Settlement::default()
    };
    settlement.set_result(PushResult::Deferred);
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
