//! `POST /v1/messages/{id}/resolve` (§8.8).

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use hub_platform::cpu;
use hub_proto::lifecycle::{Outcome, ResolveMessageRequest};
use ma2h::error::Problem;
use serde::Deserialize;
use serde_json::json;

use super::{already_terminal, message_id};
use crate::app::App;
use crate::auth::Caller;
use crate::edge::answer;
use crate::edge::body::SmallJsonText;
use crate::edge::errors::Refusal;
use crate::edge::headers::idempotency_key;
use crate::edge::operation;
use crate::edge::params::{Ids, Params};
use crate::principal::{Principal, Role};

/// `?session=`
#[derive(Debug, Deserialize)]
pub(super) struct ResolveParams {
    session: Option<String>,
}

pub(super) async fn handle(
    State(app): State<Arc<App>>,
    Caller(principal): Caller,
    Ids(id): Ids<String>,
    Params(params): Params<ResolveParams>,
    headers: HeaderMap,
    SmallJsonText(body): SmallJsonText,
) -> Result<Response, Refusal> {
    // No session is known to a hub that offers none.
    if params.session.is_some() {
        return Err(Problem::not_found().into());
    }
    // An agent's call has none: what it knows of a Response it says by its acknowledgement.
    let key = match principal {
        Principal::Human(_) => idempotency_key(&headers)?,
        Principal::Admin | Principal::Agent(_) => None,
    };
    let outcome = resolve(&app, &principal, &id, body.text.clone(), key.as_deref()).await?;
    if !outcome.applied {
        return Ok(already_terminal(&outcome));
    }
    let body = json!({
        "id": outcome.message_id,
        "status": outcome.status,
        "resolution_id": outcome.resolution_id,
    });
    Ok(answer::json(StatusCode::OK, &body))
}

/// Answers a message with a resolve request as JSON text. `applied == false`: it was already terminal. The request's
/// shape, and whether it fits the message, are lifecycle's to say. The same person's `key` and text are the same answer.
pub(crate) async fn resolve(
    app: &App,
    resolver: &Principal,
    id: &str,
    body: String,
    key: Option<&str>,
) -> Result<Outcome, Problem> {
    let human = match resolver {
        Principal::Human(_) => Some(resolver.human(Role::Operator)?),
        Principal::Admin | Principal::Agent(_) => None,
    };
    let id = message_id(id)?;
    let (body, digest) = cpu::run(body.len(), move || {
        let digest = ma2h::json::parse_input(&body).map(|node| node.lossless_digest(&[]));
        digest.map(|digest| (body, digest))
    })
    .await?;
    let (account, resolver) = resolver.of_account()?;
    let request = ResolveMessageRequest {
        account: account.to_owned(),
        // Chosen here, so that a reply that is lost can be asked for again (rule 3).
        resolution_id: operation::id("res", human.zip(key), &["resolve", &id], &digest),
        message_id: id,
        resolver: Some(resolver),
        body,
    };
    app.ask(async || app.lifecycle.clone().resolve_message(request.clone()).await)
        .await
}
