//! What delivery keeps of an agent or an account goes with it, and nothing of it comes to an agent that later gets the same
//! id: neither is deleted or created before delivery has forgotten.

use std::time::Duration;

use hub_proto::delivery::{ForgetAccountRequest, ForgetAgentRequest};
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

/// Has delivery forget an agent; may be repeated.
pub(super) async fn agent(app: &App, account: &str, agent: &str) -> Result<(), Problem> {
    let request = ForgetAgentRequest {
        account: account.to_owned(),
        agent: agent.to_owned(),
    };
    app.ask(async || app.delivery.clone().forget_agent(request.clone()).await)
        .await
        .map(drop)
}

/// Has delivery forget all agents of an account; may be repeated.
pub(super) async fn account(app: &App, account: &str) -> Result<(), Problem> {
    let request = ForgetAccountRequest {
        account: account.to_owned(),
    };
    app.ask(async || app.delivery.clone().forget_account(request.clone()).await)
        .await
        .map(drop)
}
