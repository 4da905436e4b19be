//! `POST /v1/inbox/ack` (§8.7, §14.3): what an agent has dealt with is consumed, and thereby acknowledged.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use hub_proto::lifecycle::AckEntriesRequest;
use ma2h::error::Problem;
use serde::Deserialize;
use serde_json::{Value, json};

use super::refuse_session;
use crate::app::App;
use crate::auth::Caller;
use crate::edge::answer;
use crate::edge::body::Object;
use crate::edge::errors::Refusal;
use crate::edge::params::Params;

/// `?session=`
#[derive(Debug, Deserialize)]
pub(super) struct AckParams {
    session: Option<String>,
}

pub(super) async fn handle(
    State(app): State<Arc<App>>,
    Caller(principal): Caller,
    Params(params): Params<AckParams>,
    Object(mut fields): Object,
) -> Result<Response, Refusal> {
    let agent = principal.agent()?;
    refuse_session(params.session.as_deref())?;
    let request = AckEntriesRequest {
        account: agent.account.clone(),
        agent: agent.id.clone(),
        entry_ids: ids(fields.take("ids"))?,
        note: fields.optional_string("note")?,
    };
    let reply = app
        .ask(async || app.lifecycle.clone().ack_entries(request.clone()).await)
        .await?;
    Ok(answer::json(StatusCode::OK, &json!({ "acked": reply.acked })))
}

fn ids(given: Option<Value>) -> Result<Vec<String>, Problem> {
    let expected = || Problem::validation("ids: expected an array of strings");
    let Some(Value::Array(given)) = given else {
        return Err(expected());
    };
    let ids = given.into_iter().map(|id| match id {
        Value::String(id) => Ok(id),
        _ => Err(expected()),
    });
    ids.collect()
}
