//! Messages, over HTTP and for the web inbox. What may become of one is decided by lifecycle; here it is asked for.

mod ack;
mod attempts;
pub(crate) mod beat;
pub(crate) mod budget;
mod cancel;
mod delete;
pub(crate) mod limits;
mod list;
pub(crate) mod poll;
mod read;
mod redeliver;
mod resolve;
mod submit;

use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get as on_get, post};
use hub_platform::config::Limits;
use hub_platform::grpc;
use hub_platform::ids::is_minted;
use hub_proto::lifecycle::{Delivery, Outcome};
use ma2h::error::{ErrorCode, Problem};
use serde_json::{Value, json};

pub(crate) use attempts::attempts;
pub(crate) use list::{Filter, list};
pub(crate) use read::get;
use read::stands;
pub(crate) use redeliver::redeliver_after;
pub(crate) use resolve::resolve;

use crate::app::App;
use crate::directory::ids;
use crate::edge::answer;

/// The routes under `/v1/messages`.
pub(crate) fn router() -> Router<Arc<App>> {
    Router::new()
        .route("/v1/messages", post(submit::handle).get(list::handle))
        .route(
            "/v1/messages/{id}",
            on_get(read::handle).head(read::head).delete(delete::handle),
        )
        .route("/v1/messages/{id}/resolve", post(resolve::handle))
        .route("/v1/messages/{id}/cancel", post(cancel::handle))
        .route("/v1/messages/{id}/ack", post(ack::handle))
        .route("/v1/messages/{id}/attempts", on_get(attempts::handle))
        .route("/v1/messages/{id}/redeliver", post(redeliver::one))
        .route("/v1/redeliver", post(redeliver::all))
}

/// The largest answer with a message, and what making it takes.
pub(crate) fn answer_bytes_max(limits: &Limits) -> usize {
    read::COPIES * grpc::message_bytes_max(limits)
}

/// A message's id out of a path; one that we cannot have minted names nothing.
fn message_id(id: &str) -> Result<String, Problem> {
    ids::of_path(id.to_owned(), |id| is_minted(id, "msg"))
}

/// 409, with what became of the message instead (§8.4, §8.8).
fn already_terminal(outcome: &Outcome) -> Response {
    let message = format!("the message is {} already", outcome.status);
    let error = json!({ "code": ErrorCode::AlreadyTerminal.as_str(), "message": message });
    let body = json!({
        "error": error,
        "id": outcome.message_id,
        "status": outcome.status,
        "resolution": outcome.status,
    });
    answer::json(StatusCode::CONFLICT, &body)
}

/// The response track (§14.2).
fn delivery_body(delivery: &Delivery) -> Value {
    let mut body = json!({ "state": delivery.state });
    if let Some(delivered_at) = delivery.delivered_at.as_ref().and_then(answer::stamp_text) {
        body["delivered_at"] = Value::String(delivered_at);
    }
    body
}
