//! `POST /v1/messages` (§8.1).

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use hub_platform::config::Limits;
use hub_platform::cpu;
use hub_proto::lifecycle::SubmitMessageRequest;
use ma2h::error::{ErrorCode, Problem};
use ma2h::version::Version;
use serde_json::{Value, json};

use super::limits;
use crate::app::App;
use crate::auth::Caller;
use crate::edge::answer;
use crate::edge::body::{self, JsonText, read_json};
use crate::edge::errors::Refusal;
use crate::principal::Agent;

/// Checks what needs no row, and hands the envelope on byte for byte.
pub(super) async fn handle(
    State(app): State<Arc<App>>,
    Caller(principal): Caller,
    request: Request,
) -> Result<Response, Refusal> {
    let agent = principal.agent()?;
    app.spent_budgets.check_unread(agent)?;
    let body = read_json(&app, request, body::bytes_max(&app.config.limits)).await?;
    let (body, facts) = facts(&app, agent, body).await;
    let facts = facts?;
    app.spent_budgets.check(agent, facts.is_addressed)?;
    facts.within_limits?;
    // Minted here, so that a reply that is lost can be asked for again (rule 3).
    let request = SubmitMessageRequest {
        account: agent.account.clone(),
        agent: agent.id.clone(),
        message_id: hub_platform::ids::mint("msg"),
        envelope: body.text,
    };
    let reply = app
        .ask(async || app.lifecycle.clone().submit_message(request.clone()).await)
        .await?;
    if let Some(spent) = &reply.budget_spent {
        return Err(app.spent_budgets.note(agent, *spent).into());
    }
    let (id, base) = (&reply.message_id, &app.public_url);
    let ack = json!({
        "id": id,
        "status": reply.status,
        "poll_url": format!("{base}/v1/messages/{id}"),
        "review_url": format!("{base}/inbox/{id}"),
    });
    Ok(answer::json(StatusCode::ACCEPTED, &ack))
}

/// What is looked at here before lifecycle is asked.
struct Facts {
    is_addressed: bool,
    within_limits: Result<(), Problem>,
}

/// Shape and identity, then whether the limits are kept. The caller looks at the rate in between.
async fn facts(app: &App, agent: &Agent, body: JsonText) -> (JsonText, Result<Facts, Problem>) {
    let (config, agent_id) = (app.config.clone(), agent.id.clone());
    cpu::run(body.text.len(), move || {
        let facts = Facts::of(&config.limits, &agent_id, &body.text);
        (body, facts)
    })
    .await
}

impl Facts {
    fn of(limits: &Limits, agent_id: &str, text: &str) -> Result<Self, Problem> {
        let envelope = ma2h::json::parse_input(text)?.to_value();
        let version = version(&envelope)?;
        ma2h_schema::message::check_shape(version.minor(), &envelope)?;
        if envelope["agent"]["id"].as_str() != Some(agent_id) {
            let message = "agent.id: not the one that the credential is for";
            return Err(Problem::new(ErrorCode::AgentIdMismatch, message));
        }
        Ok(Self {
            is_addressed: envelope.get("to").is_some_and(Value::is_string),
            within_limits: limits::check(limits, &envelope, text.len()),
        })
    }
}

fn version(envelope: &Value) -> Result<Version, Problem> {
    let text = envelope["ma2h_version"].as_str();
    Version::parse(
        text.ok_or_else(|| Problem::validation("ma2h_version: expected a string such as \"0.6\""))?,
    )
}
