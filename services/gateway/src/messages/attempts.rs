//! `GET /v1/messages/{id}/attempts`: how the push of a Response went.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use hub_proto::lifecycle::{Attempt, ListAttemptsReply, ListAttemptsRequest};
use ma2h::error::Problem;
use serde_json::{Value, json};

use super::message_id;
use crate::app::App;
use crate::auth::Caller;
use crate::edge::answer;
use crate::edge::errors::Refusal;
use crate::edge::params::Ids;
use crate::principal::{Principal, Role};

pub(super) async fn handle(
    State(app): State<Arc<App>>,
    Caller(principal): Caller,
    Ids(id): Ids<String>,
) -> Result<Response, Refusal> {
    let reply = attempts(&app, &principal, &id).await?;
    // Null where nothing is pushed.
    let state = Some(reply.state).filter(|state| !state.is_empty());
    let mut body = json!({
        "attempts": reply.attempts.iter().map(attempt_body).collect::<Vec<_>>(),
        "state": state,
    });
    if let Some(next) = reply.next_attempt_at.as_ref().and_then(answer::stamp_text) {
        body["next_attempt_at"] = Value::String(next);
    }
    Ok(answer::json(StatusCode::OK, &body))
}

/// The attempts so far, for a human of the account.
pub(crate) async fn attempts(app: &App, reader: &Principal, id: &str) -> Result<ListAttemptsReply, Problem> {
    reader.human(Role::Viewer)?;
    let (account, reader) = reader.of_account()?;
    let request = ListAttemptsRequest {
        account: account.to_owned(),
        message_id: message_id(id)?,
        reader: Some(reader),
    };
    app.ask(async || app.lifecycle.clone().list_attempts(request.clone()).await)
        .await
}

fn attempt_body(attempt: &Attempt) -> Value {
    let mut body = json!({
        "generation": attempt.generation,
        "number": attempt.number,
        "at": attempt.at.as_ref().and_then(answer::stamp_text),
        "url": attempt.url,
        "duration_ms": attempt.duration_ms,
        "outcome": attempt.outcome,
    });
    if let Some(status) = attempt.status {
        body["status"] = json!(status);
    }
    if let Some(error) = &attempt.error {
        body["error"] = json!(error);
    }
    if let Some(next) = attempt.next_attempt_at.as_ref().and_then(answer::stamp_text) {
        body["next_attempt_at"] = json!(next);
    }
    body
}
