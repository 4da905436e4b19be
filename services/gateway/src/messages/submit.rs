//! `POST /v1/messages` (§8.1).

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use hub_proto::lifecycle::SubmitMessageRequest;
use ma2h::error::{ErrorCode, Problem};
use ma2h::version::Version;
use serde_json::{Value, json};

use super::limits;
use crate::app::App;
use crate::auth::Caller;
use crate::edge::answer;
use crate::edge::body::read_json;
use crate::edge::errors::Refusal;
use crate::principal::Agent;

/// Checks what needs no row, and hands the envelope on byte for byte.
pub(super) async fn handle(
    State(app): State<Arc<App>>,
    Caller(principal): Caller,
    request: Request,
) -> Result<Response, Refusal> {
    let agent = principal.agent()?;
    let body = read_json(&app, request, app.config.limits.max_envelope_bytes).await?;
    check(&app, agent, &body.text)?;
    // Minted here, so that a reply that is lost can be asked for again (rule 3).
    let request = SubmitMessageRequest {
        account: agent.account.clone(),
        agent: agent.id.clone(),
        message_id: hub_platform::ids::mint("msg"),
        envelope: body.text.clone(),
    };
    let reply = app
        .ask(async || app.lifecycle.clone().submit_message(request.clone()).await)
        .await?;
    let (id, base) = (&reply.message_id, &app.public_url);
    let ack = json!({
        "id": id,
        "status": reply.status,
        "poll_url": format!("{base}/v1/messages/{id}"),
        "review_url": format!("{base}/inbox/{id}"),
    });
    Ok(answer::json(StatusCode::ACCEPTED, &ack))
}

/// Shape, identity and the advertised limits, in this order.
fn check(app: &App, agent: &Agent, text: &str) -> Result<(), Problem> {
    let envelope = ma2h::json::parse_strict(text)?;
    let version = version(&envelope)?;
    ma2h_schema::message::check_shape(version.minor(), &envelope)?;
    if envelope["agent"]["id"].as_str() != Some(&agent.id) {
        let message = "agent.id: not the one that the credential is for";
        return Err(Problem::new(ErrorCode::AgentIdMismatch, message));
    }
    limits::check(&app.config.limits, &envelope)
}

fn version(envelope: &Value) -> Result<Version, Problem> {
    let text = envelope["ma2h_version"].as_str();
    Version::parse(
        text.ok_or_else(|| Problem::validation("ma2h_version: expected a string such as \"0.6\""))?,
    )
}
