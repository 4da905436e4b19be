//! `POST /v1/messages/{id}/resolve` (§8.8).

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
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
    SmallJsonText(body): SmallJsonText,
) -> Result<Response, Refusal> {
    // No session is known to a hub that offers none.
    if params.session.is_some() {
        return Err(Problem::not_found().into());
    }
    let outcome = resolve(&app, &principal, &id, body.text.clone()).await?;
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
/// shape, and whether it fits the message, are lifecycle's to say.
pub(crate) async fn resolve(
    app: &App,
    resolver: &Principal,
    id: &str,
    body: String,
) -> Result<Outcome, Problem> {
    if matches!(resolver, Principal::Human(_)) {
        resolver.human(Role::Operator)?;
    }
    let id = message_id(id)?;
    let body = cpu::run(body.len(), move || {
        ma2h::json::parse_input(&body).map(drop).map(|()| body)
    })
    .await?;
    let (account, resolver) = resolver.of_account()?;
    let request = ResolveMessageRequest {
        account: account.to_owned(),
        message_id: id,
        // Minted here, so that a reply that is lost can be asked for again (rule 3).
        resolution_id: hub_platform::ids::mint("res"),
        resolver: Some(resolver),
        body,
    };
    app.ask(async || app.lifecycle.clone().resolve_message(request.clone()).await)
        .await
}
