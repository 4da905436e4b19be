//! Who is there: signs of life on their way to the presence tier, and what humans read of it (§15).

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use hub_proto::presence::{AgentPresence, GetPresenceRequest, TouchRequest};
use ma2h::error::Problem;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tracing::Instrument;

use crate::app::App;
use crate::auth::Caller;
use crate::directory::{agents, ids};
use crate::edge::answer;
use crate::edge::errors::Refusal;
use crate::edge::page::PageParams;
use crate::edge::params::{Ids, Params};
use crate::principal::{Agent, Role};

/// Signs of life on their way at a time; what comes beyond is dropped, and the agent's next call brings another.
const TOUCHES_IN_FLIGHT_MAX: usize = 64;

/// Signs of life on their way. No call waits for its own.
pub(crate) struct Touches {
    permits: Arc<Semaphore>,
}

impl Default for Touches {
    fn default() -> Self {
        Self {
            permits: Arc::new(Semaphore::new(TOUCHES_IN_FLIGHT_MAX)),
        }
    }
}

impl Touches {
    /// Tells presence that an agent was heard from.
    pub(crate) fn touch(&self, app: &App, agent: &Agent) {
        let Ok(permit) = self.permits.clone().try_acquire_owned() else {
            metrics::counter!("hub_presence_touches_dropped_total").increment(1);
            return;
        };
        let mut presence = app.presence.clone();
        let request = TouchRequest {
            account: agent.account.clone(),
            agent: agent.id.clone(),
        };
        let touch = async move {
            if let Err(status) = presence.touch(request).await {
                tracing::debug!(code = ?status.code(), "presence was not told of an agent");
            }
            drop(permit);
        };
        app.shutdown.spawn(touch.in_current_span());
    }
}

/// The routes under `/v1/agents`.
pub(crate) fn router() -> Router<Arc<App>> {
    Router::new()
        .route("/v1/agents", get(list))
        .route("/v1/agents/{agent}/presence", get(read))
}

/// `GET /v1/agents`
async fn list(
    State(app): State<Arc<App>>,
    Caller(principal): Caller,
    Params(params): Params<PageParams>,
) -> Result<Response, Refusal> {
    let human = principal.human(Role::Viewer)?;
    let page = params.page()?;
    let mut agents = agents::list(&app.pool, &human.account, &page).await?;
    let next_cursor = page.cut(&mut agents, |agent| &agent.id);
    let ids = agents.into_iter().map(|agent| agent.id).collect();
    let found = of(&app, &human.account, ids).await?;
    let agents = found.iter().map(|found| entry(&app, found)).collect();
    Ok(answer::json(
        StatusCode::OK,
        &answer::page("agents", agents, next_cursor),
    ))
}

/// `GET /v1/agents/{id}/presence`. An agent that is not the account's is as one never seen (§15.3).
async fn read(
    State(app): State<Arc<App>>,
    Caller(principal): Caller,
    Ids(agent): Ids<String>,
) -> Result<Response, Refusal> {
    let human = principal.human(Role::Viewer)?;
    let agent = ids::of_path(agent, ids::is_agent)?;
    let found = of(&app, &human.account, vec![agent]).await?;
    let found = found.first().ok_or_else(Problem::internal)?;
    Ok(answer::json(StatusCode::OK, &body(&app, found)))
}

/// What somebody who writes to an agent is told of it (§8.1). A hint: where it cannot be read it is unknown.
pub(crate) async fn destination(app: &App, account: &str, agent: &str) -> Value {
    let found = of(app, account, vec![agent.to_owned()]).await;
    let Some(found) = found.ok().and_then(|mut found| found.pop()) else {
        return json!({ "state": "unknown" });
    };
    let mut destination = json!({ "state": found.state });
    if let Some(last_seen) = found.last_seen.as_ref().and_then(answer::stamp_text) {
        destination["last_seen"] = Value::String(last_seen);
    }
    destination
}

/// The presence of agents of an account, at most 200, in their order.
pub(crate) async fn of(app: &App, account: &str, agents: Vec<String>) -> Result<Vec<AgentPresence>, Problem> {
    if agents.is_empty() {
        return Ok(Vec::new());
    }
    let request = GetPresenceRequest {
        account: account.to_owned(),
        agents,
    };
    Ok(app
        .ask(async || app.presence.clone().get_presence(request.clone()).await)
        .await?
        .agents)
}

/// No sessions are offered yet, so that none is live and none was stopped.
fn entry(app: &App, found: &AgentPresence) -> Value {
    json!({ "id": found.agent, "presence": body(app, found), "live_sessions": 0, "stopped": false })
}

fn body(app: &App, found: &AgentPresence) -> Value {
    let mut body = json!({
        "agent_id": found.agent,
        "state": found.state,
        "freshness_seconds": app.config.presence.freshness_seconds,
    });
    if let Some(last_seen) = found.last_seen.as_ref().and_then(answer::stamp_text) {
        body["last_seen"] = Value::String(last_seen);
    }
    body
}
