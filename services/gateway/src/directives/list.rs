//! `GET /v1/directives`: newest first.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use hub_proto::lifecycle::ListDirectivesRequest;
use ma2h::error::Problem;
use ma2h::json::quoted;
use serde::Deserialize;

use super::track;
use crate::app::App;
use crate::auth::Caller;
use crate::edge::answer;
use crate::edge::errors::Refusal;
use crate::edge::page;
use crate::edge::params::Params;
use crate::principal::Role;

/// `?agent=&limit=&cursor=`
#[derive(Debug, Deserialize)]
pub(super) struct ListParams {
    agent: Option<String>,
    limit: Option<String>,
    cursor: Option<String>,
}

pub(super) async fn handle(
    State(app): State<Arc<App>>,
    Caller(principal): Caller,
    Params(params): Params<ListParams>,
) -> Result<Response, Refusal> {
    let human = principal.human(Role::Viewer)?;
    let request = ListDirectivesRequest {
        account: human.account.clone(),
        agent: params.agent.filter(|agent| !agent.is_empty()),
        limit: page::limit(params.limit.as_deref())?,
        cursor: params.cursor.filter(|cursor| !cursor.is_empty()),
    };
    let reply = app
        .ask(async || app.lifecycle.clone().list_directives(request.clone()).await)
        .await?;
    let directives = reply
        .directives
        .iter()
        .map(|directive| track::body(directive, ""));
    let directives = directives.collect::<Result<Vec<_>, Problem>>()?.join(",");
    let next = reply
        .next_cursor
        .map(|cursor| format!(",\"next_cursor\":{}", quoted(&cursor)))
        .unwrap_or_default();
    let body = format!("{{\"directives\":[{directives}]{next}}}");
    Ok(answer::json_text(StatusCode::OK, body))
}
