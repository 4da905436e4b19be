//! `POST /v1/messages/{id}/cancel` (§8.4).

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use hub_proto::lifecycle::CancelMessageRequest;
use serde_json::json;

use super::{already_terminal, message_id};
use crate::app::App;
use crate::auth::Caller;
use crate::edge::answer;
use crate::edge::errors::Refusal;
use crate::edge::params::Ids;

/// Takes no body; whatever is sent is not read.
pub(super) async fn handle(
    State(app): State<Arc<App>>,
    Caller(principal): Caller,
    Ids(id): Ids<String>,
) -> Result<Response, Refusal> {
    let agent = principal.agent()?;
    let request = CancelMessageRequest {
        account: agent.account.clone(),
        message_id: message_id(&id)?,
        resolution_id: hub_platform::ids::mint("res"),
        agent: agent.id.clone(),
    };
    let outcome = app
        .ask(async || app.lifecycle.clone().cancel_message(request.clone()).await)
        .await?;
    if !outcome.applied {
        return Ok(already_terminal(&outcome));
    }
    Ok(answer::json(
        StatusCode::OK,
        &json!({ "id": outcome.message_id, "status": outcome.status }),
    ))
}
