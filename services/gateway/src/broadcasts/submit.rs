//! `POST /v1/broadcasts`: a person tells many agents the same.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use hub_platform::config::Limits;
use hub_platform::cpu;
use hub_proto::lifecycle::{Broadcast, SubmitBroadcastRequest};
use ma2h::broadcast::Draft;
use ma2h::error::Problem;
use serde_json::json;

use super::body::summary;
use crate::app::App;
use crate::auth::Caller;
use crate::edge::answer;
use crate::edge::body::{self, read_json};
use crate::edge::errors::Refusal;
use crate::edge::headers::idempotency_key;
use crate::messages::limits;
use crate::principal::{Principal, Role};
use crate::sent::Sent;

/// Checks what needs no row, and hands on what was written byte for byte.
pub(super) async fn handle(
    State(app): State<Arc<App>>,
    Caller(principal): Caller,
    request: Request,
) -> Result<Response, Refusal> {
    principal.human(Role::Operator)?;
    let idempotency_key = idempotency_key(request.headers())?;
    let body = read_json(&app, request, body::bytes_max(&app.config.limits)).await?;
    let broadcast = submit(&app, &principal, body.text, idempotency_key).await?;
    let body = format!("{{\"broadcast\":{{{}}}}}", summary(&broadcast)?);
    Ok(answer::json_text(StatusCode::ACCEPTED, body))
}

/// Sends what a person wrote to many, a broadcast as JSON text. What needs no row is checked here, and the text handed on byte
/// for byte. The same key and text within a day are one broadcast.
pub(crate) async fn submit(
    app: &App,
    author: &Principal,
    body: String,
    idempotency_key: Option<String>,
) -> Result<Broadcast, Problem> {
    let human = author.human(Role::Operator)?;
    let config = app.config.clone();
    let body = cpu::run(body.len(), move || check(&config.limits, &body).map(|()| body)).await?;
    let request = SubmitBroadcastRequest {
        account: human.account.clone(),
        human: human.id.clone(),
        // Minted here, so that a reply that is lost can be asked for again (rule 3).
        broadcast_id: hub_platform::ids::mint("bro"),
        body,
        idempotency_key,
    };
    let reply = app
        .ask(async || app.lifecycle.clone().submit_broadcast(request.clone()).await)
        .await?;
    let broadcast = reply.broadcast.ok_or_else(Problem::internal)?;
    let sent = Sent {
        account: human.account.clone(),
        author: broadcast.author.clone(),
        action: "broadcast.send",
        id: broadcast.broadcast_id.clone(),
        detail: json!({"recipients": broadcast.recipients}),
    };
    sent.note(app).await;
    Ok(broadcast)
}

/// Whether it is a broadcast within the limits.
fn check(limits: &Limits, text: &str) -> Result<(), Problem> {
    Draft::read(text)?;
    let written = ma2h::json::parse(text)?.to_value();
    limits::check(limits, &written, text.len())
}
