//! `POST /v1/directives` (§13.1): a person tells an agent something.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use hub_platform::config::Limits;
use hub_platform::cpu;
use hub_proto::lifecycle::SubmitDirectiveRequest;
use ma2h::directive::Draft;
use ma2h::error::Problem;

use super::track;
use crate::app::App;
use crate::auth::Caller;
use crate::edge::answer;
use crate::edge::body::{self, JsonText, read_json};
use crate::edge::errors::Refusal;
use crate::messages::limits;
use crate::presence;
use crate::principal::Role;

/// Names the operation, so that a call made again is the same one.
const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// Checks what needs no row, and hands on what was written byte for byte.
pub(super) async fn handle(
    State(app): State<Arc<App>>,
    Caller(principal): Caller,
    request: Request,
) -> Result<Response, Refusal> {
    let human = principal.human(Role::Operator)?;
    let idempotency_key = idempotency_key(request.headers())?;
    let body = read_json(&app, request, body::bytes_max(&app.config.limits)).await?;
    let config = app.config.clone();
    let (body, agent) = cpu::run(body.text.len(), move || {
        let agent = addressee(&config.limits, &body);
        (body, agent)
    })
    .await;
    let agent = agent?;
    let request = SubmitDirectiveRequest {
        account: human.account.clone(),
        human: human.id.clone(),
        // Minted here, so that a reply that is lost can be asked for again (rule 3).
        directive_id: hub_platform::ids::mint("dir"),
        body: body.text,
        idempotency_key,
    };
    let reply = app
        .ask(async || app.lifecycle.clone().submit_directive(request.clone()).await)
        .await?;
    let directive = reply.directive.ok_or_else(Problem::internal)?;
    let destination = presence::destination(&app, &human.account, &agent).await;
    let body = track::body(&directive, &format!(",\"destination\":{destination}"))?;
    Ok(answer::json_text(StatusCode::CREATED, body))
}

/// To whom it is, if it is a directive within the limits.
fn addressee(limits: &Limits, body: &JsonText) -> Result<String, Problem> {
    let draft = Draft::read(&body.text)?;
    let written = ma2h::json::parse(&body.text)?.to_value();
    limits::check(limits, &written, body.text.len())?;
    Ok(draft.to.agent_id().to_owned())
}

fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(key) = headers.get(IDEMPOTENCY_KEY) else {
        return Ok(None);
    };
    let key = key.to_str();
    key.map(|key| Some(key.to_owned()))
        .map_err(|_| Problem::validation("idempotency-key: expected visible ASCII"))
}
