//! What delivery keeps of an agent or an account goes with it, and what lies in its mailbox ends as undeliverable; nothing of
//! it comes to an agent that later gets the same id: neither is deleted or created before that is done.

use std::time::Duration;

use hub_proto::delivery::{ForgetAccountRequest, ForgetAgentRequest};
use hub_proto::lifecycle::CloseMailboxesRequest;
use ma2h::error::Problem;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::app::App;
use crate::edge::errors::Refusal;

/// Changes at a time that hold a connection to the database while they wait for delivery. Were it away, the others must
/// still find one.
const TURNS_MAX: usize = 2;
/// Longest wait for a turn.
const TURN_WAIT: Duration = Duration::from_secs(5);
/// When who found no turn may come again.
const RETRY_AFTER_SECONDS: u32 = 1;

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

/// Has an agent forgotten; may be repeated.
pub(super) async fn agent(app: &App, account: &str, agent: &str) -> Result<(), Problem> {
    let request = ForgetAgentRequest {
        account: account.to_owned(),
        agent: agent.to_owned(),
    };
    app.ask(async || app.delivery.clone().forget_agent(request.clone()).await)
        .await?;
    close_mailboxes(app, account, Some(agent)).await
}

/// Has all agents of an account forgotten; may be repeated.
pub(super) async fn account(app: &App, account: &str) -> Result<(), Problem> {
    let request = ForgetAccountRequest {
        account: account.to_owned(),
    };
    app.ask(async || app.delivery.clone().forget_account(request.clone()).await)
        .await?;
    close_mailboxes(app, account, None).await
}

/// Comes last: should what follows fail, the least is lost.
async fn close_mailboxes(app: &App, account: &str, agent: Option<&str>) -> Result<(), Problem> {
    let request = CloseMailboxesRequest {
        account: account.to_owned(),
        agent: agent.map(str::to_owned),
    };
    app.ask(async || app.lifecycle.clone().close_mailboxes(request.clone()).await)
        .await
        .map(drop)
}
