//! Entries on their way out of a mailbox: until they are handed over they can be put back.

use std::sync::Arc;
use std::time::Duration;

use hub_platform::backoff::Backoff;
use hub_proto::delivery::{DrainRequest, DrainedEntry};
use hub_proto::lifecycle::UnclaimEntriesRequest;
use ma2h::error::Problem;
use tokio::time::Instant;
use tracing::Instrument;

use crate::app::App;
use crate::edge::budget::{Holder, Room};
use crate::edge::errors::Refusal;
use crate::edge::large::LARGE_BYTES;
use crate::principal::Agent;

/// For how long it is tried to put entries back. What is not put back by then is visible again when its window is over, and
/// counts as delivered.
const PUT_BACK_FOR: Duration = Duration::from_mins(2);
/// Pauses between tries.
const FIRST_DELAY: Duration = Duration::from_millis(100);
const MAX_DELAY: Duration = Duration::from_secs(5);

/// What an answer takes while it is made, beside what it is made of.
const COPIES: usize = 2;

/// What a mailbox gave. Dropped before it was handed over, it goes back.
pub(super) struct Taken {
    pub(super) entries: Vec<DrainedEntry>,
    /// Where there are none: for how long none of those that are there now will be.
    pub(super) visible_in: Option<Duration>,
    room: Option<Room>,
    claim: Claim,
}

impl Taken {
    /// They are the client's from here on; with the room that was taken for the answer.
    pub(super) fn hand_over(mut self) -> (Vec<DrainedEntry>, Option<Room>) {
        self.claim.is_settled = true;
        (std::mem::take(&mut self.entries), self.room.take())
    }
}

/// A claim that goes back when it is dropped unsettled.
struct Claim {
    app: Arc<App>,
    request: UnclaimEntriesRequest,
    is_settled: bool,
}

impl Drop for Claim {
    fn drop(&mut self) {
        if self.is_settled {
            return;
        }
        let (app, request) = (self.app.clone(), self.request.clone());
        self.app.shutdown.spawn(put_back(app, request).in_current_span());
    }
}

/// Ends a claim, however late what it asked for may still come, and takes back what it holds.
async fn put_back(app: Arc<App>, request: UnclaimEntriesRequest) {
    let until = Instant::now() + PUT_BACK_FOR;
    let mut backoff = Backoff::new(FIRST_DELAY, MAX_DELAY);
    loop {
        let unclaimed = async || app.lifecycle.clone().unclaim_entries(request.clone()).await;
        let Err(problem) = app.ask(unclaimed).await else {
            return;
        };
        if Instant::now() >= until || app.shutdown.is_triggered() {
            tracing::warn!(%problem, "entries that could not be handed over are still claimed");
            return;
        }
        backoff.wait().await;
    }
}

/// Takes at most `max` entries out of an agent's mailbox. It runs to its end though its caller goes away: what it brought is
/// put back then.
pub(super) async fn take(app: &Arc<App>, agent: &Agent, max: u32) -> Result<Taken, Refusal> {
    let taking = run(app.clone(), agent.clone(), max).in_current_span();
    match app.shutdown.spawn(taking).await {
        Ok(outcome) => outcome,
        Err(error) => {
            tracing::error!(%error, "drain ended without an outcome");
            Err(Problem::internal().into())
        }
    }
}

async fn run(app: Arc<App>, agent: Agent, max: u32) -> Result<Taken, Refusal> {
    // Minted here, so that a reply that is lost can be asked for again (rule 3).
    let claim_id = hub_platform::ids::mint("clm");
    let mut claim = Claim {
        app: app.clone(),
        request: UnclaimEntriesRequest {
            account: agent.account.clone(),
            agent: agent.id.clone(),
            claim_id: claim_id.clone(),
            entry_ids: Vec::new(),
        },
        is_settled: false,
    };
    let mut request = DrainRequest {
        account: agent.account.clone(),
        agent: agent.id.clone(),
        session: None,
        claim_id,
        max,
        is_repeat: false,
    };
    let drained = || {
        let (mut delivery, call) = (app.delivery.clone(), request.clone());
        request.is_repeat = true;
        async move { delivery.drain(call).await }
    };
    let reply = app.ask(drained).await?;
    // A claim takes once, and this is all that it holds, whichever call of it was answered.
    claim.is_settled = reply.entries.is_empty();
    let bytes: usize = reply.entries.iter().map(|entry| entry.item.len()).sum();
    let room = if bytes > LARGE_BYTES {
        let mut room = app.answers.room(Holder::Credential(agent.credential));
        room.grow(bytes.saturating_mul(COPIES)).await?;
        Some(room)
    } else {
        None
    };
    Ok(Taken {
        entries: reply.entries,
        visible_in: reply.visible_in_ms.map(Duration::from_millis),
        room,
        claim,
    })
}
