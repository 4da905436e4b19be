//! `GET /v1/messages/{id}` (§8.2): the submitter's view, and the human's.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use hub_proto::lifecycle::{GetMessageReply, GetMessageRequest, Message};
use ma2h::error::Problem;
use ma2h::view::{self, Delivery};
use serde::Deserialize;
use time::OffsetDateTime;

use super::message_id;
use super::poll::{self, Wait};
use crate::app::App;
use crate::auth::Caller;
use crate::edge::answer;
use crate::edge::errors::Refusal;
use crate::edge::params::{Ids, Params};
use crate::inbox::markdown;
use crate::principal::Principal;

/// `?wait=&since=`
#[derive(Debug, Deserialize)]
pub(super) struct ReadParams {
    wait: Option<String>,
    since: Option<String>,
}

pub(super) async fn handle(
    State(app): State<Arc<App>>,
    Caller(principal): Caller,
    Ids(id): Ids<String>,
    Params(params): Params<ReadParams>,
) -> Result<Response, Refusal> {
    let id = message_id(&id)?;
    let time = poll::wait_seconds(params.wait.as_deref(), app.config.gateway.wait_max_seconds)?;
    let since = params
        .since
        .map(|since| answer::parse_time("since", &since))
        .transpose()?;
    let reply = if time.is_zero() {
        look(&app, &principal, &id, since).await?
    } else {
        poll::poll(&app, &principal, &id, Wait { time, since }).await?
    };
    match reply {
        GetMessageReply {
            not_modified: true, ..
        } => Ok(answer::empty(StatusCode::NOT_MODIFIED)),
        GetMessageReply {
            message: Some(message),
            ..
        } => Ok(answer::json_text(StatusCode::OK, view_of(&principal, &message)?)),
        GetMessageReply { message: None, .. } => Err(Problem::internal().into()),
    }
}

/// One message as lifecycle has it: `envelope` and `response` are JSON text.
pub(crate) async fn get(app: &App, reader: &Principal, id: &str) -> Result<Message, Problem> {
    let reply = look(app, reader, &message_id(id)?, None).await?;
    reply.message.ok_or_else(Problem::internal)
}

/// Asks lifecycle once.
pub(super) async fn look(
    app: &App,
    reader: &Principal,
    id: &str,
    since: Option<OffsetDateTime>,
) -> Result<GetMessageReply, Problem> {
    let (account, reader) = reader.of_account()?;
    let request = GetMessageRequest {
        account: account.to_owned(),
        message_id: id.to_owned(),
        reader: Some(reader),
        since: since.map(hub_proto::stamp),
    };
    app.ask(async || app.lifecycle.clone().get_message(request.clone()).await)
        .await
}

/// What this reader is shown. `sensitive` does not matter here: whoever may read may read it.
fn view_of(reader: &Principal, message: &Message) -> Result<String, Problem> {
    let response = (!message.response.is_empty()).then_some(message.response.as_str());
    let delivery = message.delivery.as_ref().map(|track| Delivery {
        state: track.state.clone(),
        delivered_at: track.delivered_at.as_ref().and_then(hub_proto::time_of),
    });
    let (id, status, envelope) = (&message.message_id, &message.status, &message.envelope);
    if matches!(reader, Principal::Agent(_)) {
        return view::submitter_view(id, status, envelope, response, delivery.as_ref());
    }
    let body = ma2h::Envelope::parse(envelope)?.body;
    let rendered = body.as_deref().map(markdown::render);
    view::human_view(
        id,
        status,
        envelope,
        response,
        delivery.as_ref(),
        rendered.as_deref(),
    )
}
