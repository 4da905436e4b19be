//! `POST /v1/messages/{id}/ack` (§14.3): the submitter has its Response.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use hub_proto::lifecycle::AckMessageRequest;
use ma2h::error::Problem;

use super::message_id;
use crate::app::App;
use crate::auth::Caller;
use crate::edge::answer;
use crate::edge::body::Object;
use crate::edge::errors::Refusal;
use crate::edge::params::Ids;

/// Answers with the acknowledgement that stands: this one, or the one that came first.
pub(super) async fn handle(
    State(app): State<Arc<App>>,
    Caller(principal): Caller,
    Ids(id): Ids<String>,
    Object(mut fields): Object,
) -> Result<Response, Refusal> {
    let agent = principal.agent()?;
    let request = AckMessageRequest {
        account: agent.account.clone(),
        message_id: message_id(&id)?,
        agent: agent.id.clone(),
        note: fields.optional_string("note")?,
        resolution_id: fields.optional_string("resolution_id")?,
    };
    let told = app
        .ask(async || app.lifecycle.clone().ack_message(request.clone()).await)
        .await?;
    let ack = answer::ack(&told).ok_or_else(Problem::internal)?;
    Ok(answer::json_text(StatusCode::OK, ack.to_json()))
}
