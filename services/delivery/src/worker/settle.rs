//! Records how attempts went, a few at a time, for as long as the claim holds; that a push was delivered, for longer.

use std::time::Duration;

use hub_platform::backoff::Backoff;
use hub_platform::config::Peers;
use hub_platform::grpc;
use hub_platform::shutdown::Shutdown;
use hub_proto::lifecycle::{PushResult, SettlePushesRequest, Settlement};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::outcome::Ended;
use super::{Lifecycle, metrics};
use crate::health::Health;

/// How long outcomes are gathered before they are recorded together.
const GATHER_MAX: Duration = Duration::from_millis(50);
/// How long after its claim has run out an outcome is still tried to be recorded that is evidence of a delivery. For longer
/// than this a directive whose outcome is not known does not expire (`lifecycle.awaited_directives`).
const EVIDENCE_MAX: Duration = Duration::from_mins(1);
/// How long a worker that was asked to stop goes on trying to record an outcome.
const STOPPING_MAX: Duration = Duration::from_secs(5);
/// Pauses between tries.
const FIRST_DELAY: Duration = Duration::from_millis(100);
const MAX_DELAY: Duration = Duration::from_secs(2);

/// Records outcomes of one claim.
pub(super) struct Settler {
    pub(super) lifecycle: Lifecycle,
    pub(super) peers: Peers,
    pub(super) shutdown: Shutdown,
    pub(super) batch_max: usize,
    pub(super) health: Health,
}

impl Settler {
    /// Records the outcomes of `attempts` as they end: a slow one holds up no other.
    pub(super) async fn settle_as_they_end(
        &self,
        claim_id: &str,
        claim_ends: Instant,
        mut attempts: JoinSet<Ended>,
    ) {
        while !attempts.is_empty() {
            let ended = self.gather(&mut attempts).await;
            if ended.is_empty() {
                continue;
            }
            let (settlements, signs): (Vec<_>, Vec<_>) = ended
                .into_iter()
                .map(|ended| (ended.settlement, ended.sign))
                .unzip();
            // Before the pushes are due again: a breaker that opens is to hold them.
            if let Err(error) = self.health.record(signs.into_iter().flatten()).await {
                error.report();
            }
            self.settle(claim_id, claim_ends, settlements).await;
        }
    }

    /// What ends within a moment of the first that ends.
    async fn gather(&self, attempts: &mut JoinSet<Ended>) -> Vec<Ended> {
        let mut gathered = Vec::new();
        let mut deadline = None;
        while gathered.len() < self.batch_max {
            let ended = match deadline {
                None => attempts.join_next().await,
                Some(deadline) => match tokio::time::timeout_at(deadline, attempts.join_next()).await {
                    Ok(ended) => ended,
                    Err(_) => break,
                },
            };
            match ended {
                Some(Ok(ended)) => gathered.push(ended),
                // Its claim runs out, and the push is tried again.
                Some(Err(error)) => tracing::error!(%error, "push attempt panicked"),
                None => break,
            }
            deadline.get_or_insert_with(|| Instant::now() + GATHER_MAX);
        }
        gathered
    }

    /// Records outcomes, trying again while lifecycle is away. When the claim has run out they would change nothing, but for
    /// deliveries: these are evidence, and are tried for a while longer.
    pub(super) async fn settle(&self, claim_id: &str, claim_ends: Instant, settlements: Vec<Settlement>) {
        let request = |settlements| SettlePushesRequest {
            claim_id: claim_id.to_owned(),
            settlements,
        };
        let all = request(settlements);
        if self.settle_until(claim_ends, &all).await {
            return;
        }
        let (evidence, others): (Vec<_>, Vec<_>) = all
            .settlements
            .into_iter()
            .partition(|settlement| settlement.result() == PushResult::Delivered);
        give_up(claim_id, others.len());
        let evidence = request(evidence);
        let is_recorded = evidence.settlements.is_empty()
            || (!self.shutdown.is_triggered()
                && self.settle_until(claim_ends + EVIDENCE_MAX, &evidence).await);
        if !is_recorded {
            give_up(claim_id, evidence.settlements.len());
        }
    }

    /// Whether the outcomes were recorded by then.
    async fn settle_until(&self, end: Instant, request: &SettlePushesRequest) -> bool {
        let claim_id = &request.claim_id;
        let mut backoff = Backoff::new(FIRST_DELAY, MAX_DELAY);
        let recording = async {
            loop {
                let call = || {
                    let mut lifecycle = self.lifecycle.clone();
                    let request = request.clone();
                    async move { lifecycle.settle_pushes(request).await }
                };
                match grpc::call(&self.peers, call).await {
                    Ok(reply) => return reply.settled,
                    Err(status) => {
                        tracing::debug!(claim_id, code = ?status.code(), "outcomes not recorded yet");
                    }
                }
                backoff.wait().await;
            }
        };
        tokio::select! {
            settled = recording => {
                let count = request.settlements.len();
                if (settled as usize) < count {
                    tracing::info!(claim_id, settled, count, "some outcomes came after their claim");
                }
                true
            }
            () = tokio::time::sleep_until(end) => false,
            () = self.stopped() => false,
        }
    }

    async fn stopped(&self) {
        self.shutdown.requested().await;
        tokio::time::sleep(STOPPING_MAX).await;
    }
}

fn give_up(claim_id: &str, count: usize) {
    if count == 0 {
        return;
    }
    metrics::record_unsettled(count);
    tracing::warn!(
        claim_id,
        count,
        "outcomes not recorded, their pushes will be tried again"
    );
}
