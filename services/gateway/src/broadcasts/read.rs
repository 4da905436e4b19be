//! `GET /v1/broadcasts/{id}`: how far it got, and a page of who has not acknowledged it.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use hub_platform::ids::is_minted;
use hub_proto::lifecycle::GetBroadcastRequest;
use ma2h::json::quoted;

use super::body::whole;
use crate::app::App;
use crate::auth::Caller;
use crate::directory::ids;
use crate::edge::answer;
use crate::edge::errors::Refusal;
use crate::edge::page::PageParams;
use crate::edge::params::{Ids, Params};
use crate::principal::Role;

pub(super) async fn handle(
    State(app): State<Arc<App>>,
    Caller(principal): Caller,
    Ids(id): Ids<String>,
    Params(params): Params<PageParams>,
) -> Result<Response, Refusal> {
    let human = principal.human(Role::Viewer)?;
    let page = params.page()?;
    let request = GetBroadcastRequest {
        account: human.account.clone(),
        broadcast_id: ids::of_path(id, |id| is_minted(id, "bro"))?,
        after: page.after.clone(),
        limit: page.limit + 1,
    };
    let mut reply = app
        .ask(async || app.lifecycle.clone().get_broadcast(request.clone()).await)
        .await?;
    let mut unacknowledged = std::mem::take(&mut reply.unacknowledged);
    let next = page.cut(&mut unacknowledged, |recipient| &recipient.agent);
    let next = next.map(|cursor| format!(",\"next_cursor\":{}", quoted(&cursor)));
    let body = format!(
        "{{\"broadcast\":{}{}}}",
        whole(&reply, &unacknowledged)?,
        next.unwrap_or_default()
    );
    Ok(answer::json_text(StatusCode::OK, body))
}
