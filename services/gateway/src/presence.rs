//! Who is there: signs of life on their way to the presence tier, and what humans read of it (§15).

use std::collections::HashMap;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use hub_platform::config::Config;
use hub_platform::grpc::TracedChannel;
use hub_platform::shutdown::Shutdown;
use hub_proto::presence::presence_client::PresenceClient;
use hub_proto::presence::{AgentName, AgentPresence, GetPresenceRequest, TouchRequest};
use ma2h::error::Problem;
use serde_json::{Value, json};

use crate::app::{self, App};
use crate::auth::Caller;
use crate::batches::{Answers, Batches, Manner};
use crate::directory::{agents, ids};
use crate::edge::answer;
use crate::edge::errors::Refusal;
use crate::edge::page::PageParams;
use crate::edge::params::{Ids, Params};
use crate::principal::{Agent, Role};

/// Signs of life on their way: one call for all agents that were heard from while the last one was under way.
const TOUCHES: Manner = Manner {
    about: "presence",
    keys_max: 1000,
    batches_max: 1,
    waiting_max: 20_000,
};

/// Signs of life on their way. No call waits for its own; what finds no room, or does not arrive, the agent's next call brings
/// again.
pub(crate) struct Touches(Batches<AgentName, ()>);

impl Touches {
    /// To this tier.
    pub(crate) fn new(
        config: Arc<Config>,
        presence: PresenceClient<TracedChannel>,
        shutdown: &Shutdown,
    ) -> Self {
        let touch = move |agents| touch(config.clone(), presence.clone(), agents);
        Self(Batches::new(TOUCHES, shutdown, touch))
    }

    /// Tells presence that an agent was heard from.
    pub(crate) fn touch(&self, agent: &Agent) {
        self.0.tell(AgentName {
            account: agent.account.clone(),
            agent: agent.id.clone(),
        });
    }
}

#[expect(clippy::zero_sized_map_values, reason = "nobody waits for an answer")]
async fn touch(
    config: Arc<Config>,
    presence: PresenceClient<TracedChannel>,
    agents: Vec<AgentName>,
) -> Answers<AgentName, ()> {
    let request = TouchRequest { agents };
    let told = app::ask(&config.peers, async || {
        presence.clone().touch(request.clone()).await
    });
    if let Err(problem) = told.await {
        let agents = request.agents.len();
        tracing::warn!(%problem, agents, "presence was not told of agents");
    }
    Ok(HashMap::new())
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
