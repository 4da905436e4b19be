//! `GET /v1/messages/{id}` (§8.2): the submitter's view, and the human's.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use futures_util::stream;
use hub_platform::cpu;
use hub_proto::lifecycle::{GetMessageReply, GetMessageRequest, Message};
use ma2h::error::Problem;
use ma2h::view::{self, Delivery};
use serde::Deserialize;
use time::OffsetDateTime;

use super::message_id;
use super::poll::{self, Wait};
use crate::app::App;
use crate::auth::{Authenticated, Caller};
use crate::edge::answer;
use crate::edge::budget::{Holder, Room};
use crate::edge::errors::Refusal;
use crate::edge::large::{LARGE_BYTES, in_room};
use crate::edge::params::{Ids, Params};
use crate::inbox::markdown;
use crate::principal::Principal;

/// What an answer takes while it is made, beside what it is made of.
pub(super) const COPIES: usize = 2;

/// `?wait=&since=`
#[derive(Debug, Deserialize)]
pub(super) struct ReadParams {
    wait: Option<String>,
    since: Option<String>,
}

/// What of a message a look brings along. Content that is left out is not shown to anybody, so that nothing is stamped.
#[derive(Clone, Copy, Debug)]
pub(super) enum Content {
    /// Envelope and Response, however large.
    Whole,
    /// Both if they are together no larger than this, or neither.
    UpTo(usize),
    /// Neither.
    LeftOut,
}

/// A message that is about to be answered with, in the room that was taken for it.
pub(super) struct Read {
    reply: GetMessageReply,
    room: Option<Room>,
}

pub(super) async fn handle(
    State(app): State<Arc<App>>,
    caller: Authenticated,
    Ids(id): Ids<String>,
    Params(params): Params<ReadParams>,
) -> Result<Response, Refusal> {
    let id = message_id(&id)?;
    let wait = wait(&app, &params)?;
    let Read { reply, room } = if wait.time.is_zero() {
        whole(&app, &caller.principal, &id, wait.since).await?
    } else {
        poll::poll(&app, &caller, &id, wait).await?
    };
    if reply.not_modified {
        return Ok(answer::empty(StatusCode::NOT_MODIFIED));
    }
    let message = reply.message.ok_or_else(Problem::internal)?;
    let bytes = message.envelope.len() + message.response.len();
    let view = cpu::run(bytes, move || view_of(&caller.principal, &message)).await?;
    Ok(in_room(room, answer::json_text(StatusCode::OK, view)))
}

/// `HEAD`: whether it is there, and whether it has changed. Waits for nothing; what shows no Response stamps none.
pub(super) async fn head(
    State(app): State<Arc<App>>,
    Caller(principal): Caller,
    Ids(id): Ids<String>,
    Params(params): Params<ReadParams>,
) -> Result<Response, Refusal> {
    let id = message_id(&id)?;
    let since = wait(&app, &params)?.since;
    let head = look(&app, &principal, &id, since, Content::LeftOut).await?;
    if head.not_modified {
        return Ok(answer::empty(StatusCode::NOT_MODIFIED));
    }
    // A stream, so that no length is claimed.
    let nothing = stream::empty::<Result<&str, std::convert::Infallible>>();
    let mut response = Response::new(Body::from_stream(nothing));
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

fn wait(app: &App, params: &ReadParams) -> Result<Wait, Problem> {
    let since = params.since.as_deref();
    Ok(Wait {
        time: poll::wait_seconds(params.wait.as_deref(), app.config.gateway.wait_max_seconds)?,
        since: since
            .map(|since| answer::parse_time("since", since))
            .transpose()?,
    })
}

/// One message as lifecycle has it: `envelope` and `response` are JSON text.
pub(crate) async fn get(app: &App, reader: &Principal, id: &str) -> Result<Message, Refusal> {
    let read = whole(app, reader, &message_id(id)?, None).await?;
    Ok(read.reply.message.ok_or_else(Problem::internal)?)
}

/// A message without its content, for who asks whether it is there and how it stands.
pub(super) async fn stands(app: &App, reader: &Principal, id: &str) -> Result<Message, Refusal> {
    let reply = look(app, reader, id, None, Content::LeftOut).await?;
    Ok(reply.message.ok_or_else(Problem::internal)?)
}

/// Reads a message to answer with it. Room for a large one is taken before it is read: by then it counts as shown, and
/// cannot be given up any more.
pub(super) async fn whole(
    app: &App,
    reader: &Principal,
    id: &str,
    since: Option<OffsetDateTime>,
) -> Result<Read, Refusal> {
    let reply = look(app, reader, id, since, Content::UpTo(LARGE_BYTES)).await?;
    let left_out = reply
        .message
        .as_ref()
        .filter(|message| message.envelope.is_empty());
    let (Some(message), Some(holder)) = (left_out, Holder::of(reader)) else {
        return Ok(Read { reply, room: None });
    };
    let bytes = usize::try_from(message.content_bytes).unwrap_or(usize::MAX);
    let mut room = app.answers.room(holder);
    room.grow(bytes.saturating_mul(COPIES)).await?;
    let reply = look(app, reader, id, since, Content::Whole).await?;
    Ok(Read {
        reply,
        room: Some(room),
    })
}

/// Asks lifecycle once.
pub(super) async fn look(
    app: &App,
    reader: &Principal,
    id: &str,
    since: Option<OffsetDateTime>,
    content: Content,
) -> Result<GetMessageReply, Problem> {
    let (account, reader) = reader.of_account()?;
    let request = GetMessageRequest {
        account: account.to_owned(),
        message_id: id.to_owned(),
        reader: Some(reader),
        since: since.map(hub_proto::stamp),
        content_bytes_max: match content {
            Content::Whole => None,
            Content::UpTo(bytes) => Some(bytes as u64),
            Content::LeftOut => Some(0),
        },
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
        ack: track.ack.as_ref().and_then(answer::ack),
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
