//! What delivery keeps of an agent or an account goes with it, and what lies in its mailbox ends as undeliverable. Nothing of
//! that can be undone, so it is done once the deletion stands, and again until it was. Nothing of it comes to an agent that
//! later gets the same id: that one is not created before, and whoever comes late forgets nothing of who is there again.

use std::sync::Arc;
use std::time::Duration;

use hub_proto::delivery::{ForgetAccountRequest, ForgetAgentRequest};
use hub_proto::lifecycle::CloseMailboxesRequest;
use ma2h::error::Problem;
use tokio::sync::{Semaphore, SemaphorePermit};
use tracing::Instrument;

use crate::app::App;
use crate::directory::leaving;
use crate::edge::errors::Refusal;

/// Changes at a time that hold a connection to the database while they wait for delivery. Were it away, the others must
/// still find one.
const TURNS_MAX: usize = 2;
/// Longest wait for a turn.
const TURN_WAIT: Duration = Duration::from_secs(5);
/// When who found no turn may come again.
const RETRY_AFTER_SECONDS: u32 = 1;
/// What was deleted and is looked after at a time.
const LEAVING_MAX: i64 = 20;

/// Turns to change something together with delivery.
pub(crate) struct Turns(Semaphore);

impl Default for Turns {
    fn default() -> Self {
        Self(Semaphore::new(TURNS_MAX))
    }
}

impl Turns {
    /// A turn, or 503 if none comes up in time.
    pub(super) async fn take(&self) -> Result<SemaphorePermit<'_>, Refusal> {
        match tokio::time::timeout(TURN_WAIT, self.0.acquire()).await {
            Ok(Ok(turn)) => Ok(turn),
            _ => Err(Refusal::busy(
                "too many changes wait for another part of the hub",
                RETRY_AFTER_SECONDS,
            )),
        }
    }
}

/// Has an agent forgotten that is not there, or not yet; may be repeated.
pub(super) async fn agent(app: &App, account: &str, agent: &str) -> Result<(), Problem> {
    let request = ForgetAgentRequest {
        account: account.to_owned(),
        agent: agent.to_owned(),
    };
    app.ask(async || app.delivery.clone().forget_agent(request.clone()).await)
        .await?;
    close_mailboxes(app, account, Some(agent)).await
}

/// Has an account that was deleted forgotten, with all its agents; may be repeated.
async fn account(app: &App, account: &str) -> Result<(), Problem> {
    let request = ForgetAccountRequest {
        account: account.to_owned(),
    };
    app.ask(async || app.delivery.clone().forget_account(request.clone()).await)
        .await?;
    close_mailboxes(app, account, None).await
}

async fn either(app: &App, account_id: &str, agent_id: Option<&str>) -> Result<(), Problem> {
    match agent_id {
        Some(agent_id) => agent(app, account_id, agent_id).await,
        None => account(app, account_id).await,
    }
}

/// Has forgotten who was deleted a moment ago, though the caller goes away. Where that fails it is found by [`look_after`].
pub(super) async fn gone(app: &Arc<App>, account: &str, agent: Option<&str>) {
    let (then, account, agent) = (app.clone(), account.to_owned(), agent.map(str::to_owned));
    let forgetting = async move {
        if let Err(problem) = either(&then, &account, agent.as_deref()).await {
            tracing::warn!(%problem, account, agent, "who was deleted is forgotten later");
        }
    };
    if let Err(error) = app.shutdown.spawn(forgetting.in_current_span()).await {
        tracing::error!(%error, "forgetting ended without an outcome");
    }
}

/// Looks for who was deleted and is to be forgotten still, or once more, until the hub stops.
pub(crate) async fn look_after(app: Arc<App>) {
    let interval = Duration::from_millis(app.config.gateway.beat_interval_ms);
    loop {
        // Replicas that began together shall not go on together.
        let pause = interval.mul_f64(0.75 + rand::random::<f64>() / 2.0);
        tokio::select! {
            () = app.shutdown.requested() => return,
            () = tokio::time::sleep(pause) => {}
        }
        if let Err(problem) = look_once(&app).await {
            tracing::warn!(%problem, "who was deleted was not looked after");
        }
    }
}

async fn look_once(app: &App) -> Result<(), Problem> {
    for leaving in leaving::take(&app.pool, LEAVING_MAX).await? {
        let (account, agent) = (&leaving.account, leaving.agent.as_deref());
        match either(app, account, agent).await {
            Ok(()) => leaving::done(&app.pool, &leaving).await?,
            Err(problem) => tracing::warn!(%problem, account, agent, "who was deleted is not forgotten yet"),
        }
    }
    Ok(())
}

async fn close_mailboxes(app: &App, account: &str, agent: Option<&str>) -> Result<(), Problem> {
    let request = CloseMailboxesRequest {
        account: account.to_owned(),
        agent: agent.map(str::to_owned),
    };
    app.ask(async || app.lifecycle.clone().close_mailboxes(request.clone()).await)
        .await
        .map(drop)
}
