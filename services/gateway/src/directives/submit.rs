//! `POST /v1/directives` (§13.1): a person tells an agent something.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use hub_platform::config::Limits;
use hub_platform::cpu;
use hub_proto::lifecycle::{Directive, SubmitDirectiveRequest};
use ma2h::directive::Draft;
use ma2h::error::Problem;
use serde_json::json;

use super::track;
use crate::app::App;
use crate::auth::Caller;
use crate::edge::answer;
use crate::edge::body::{self, read_json};
use crate::edge::errors::Refusal;
use crate::edge::headers::idempotency_key;
use crate::messages::limits;
use crate::presence;
use crate::principal::{Principal, Role};
use crate::sent::Sent;

pub(super) async fn handle(
    State(app): State<Arc<App>>,
    Caller(principal): Caller,
    request: Request,
) -> Result<Response, Refusal> {
    let human = principal.human(Role::Operator)?;
    let idempotency_key = idempotency_key(request.headers())?;
    let body = read_json(&app, request, body::bytes_max(&app.config.limits)).await?;
    let directive = submit(&app, &principal, body.text, idempotency_key).await?;
    let destination = presence::destination(&app, &human.account, &directive.agent).await;
    let body = track::body(&directive, &format!(",\"destination\":{destination}"))?;
    Ok(answer::json_text(StatusCode::CREATED, body))
}

/// Sends what a person wrote, a directive without the hub's fields as JSON text. What needs no row is checked here, and the
/// text handed on byte for byte. The same key and text within a day are one directive.
pub(crate) async fn submit(
    app: &App,
    author: &Principal,
    body: String,
    idempotency_key: Option<String>,
) -> Result<Directive, Problem> {
    let human = author.human(Role::Operator)?;
    let config = app.config.clone();
    let body = cpu::run(body.len(), move || check(&config.limits, &body).map(|()| body)).await?;
    let request = SubmitDirectiveRequest {
        account: human.account.clone(),
        human: human.id.clone(),
        // Minted here, so that a reply that is lost can be asked for again (rule 3).
        directive_id: hub_platform::ids::mint("dir"),
        body,
        idempotency_key,
    };
    let reply = app
        .ask(async || app.lifecycle.clone().submit_directive(request.clone()).await)
        .await?;
    let directive = reply.directive.ok_or_else(Problem::internal)?;
    let sent = Sent {
        account: human.account.clone(),
        author: author.actor(),
        action: "directive.send",
        id: directive.directive_id.clone(),
        detail: json!({"to": format!("agent:{}", directive.agent)}),
    };
    sent.note(app).await;
    Ok(directive)
}

/// Whether it is a directive within the limits.
fn check(limits: &Limits, body: &str) -> Result<(), Problem> {
    Draft::read(body)?;
    limits::check(limits, &ma2h::json::parse(body)?.to_value(), body.len())
}
