//! `GET /v1/broadcasts`: newest first.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use hub_proto::lifecycle::{Broadcast, ListBroadcastsRequest};
use ma2h::error::Problem;
use ma2h::json::quoted;

use super::body::summary;
use crate::app::App;
use crate::auth::Caller;
use crate::edge::answer;
use crate::edge::errors::Refusal;
use crate::edge::page::{Page, PageParams};
use crate::edge::params::Params;
use crate::principal::{Principal, Role};

pub(super) async fn handle(
    State(app): State<Arc<App>>,
    Caller(principal): Caller,
    Params(params): Params<PageParams>,
) -> Result<Response, Refusal> {
    let (broadcasts, next) = list(&app, &principal, &params.page()?).await?;
    let next = next.map(|cursor| format!(",\"next_cursor\":{}", quoted(&cursor)));
    let broadcasts = broadcasts.iter().map(|one| Ok(format!("{{{}}}", summary(one)?)));
    let broadcasts = broadcasts.collect::<Result<Vec<_>, Problem>>()?.join(",");
    let body = format!("{{\"broadcasts\":[{broadcasts}]{}}}", next.unwrap_or_default());
    Ok(answer::json_text(StatusCode::OK, body))
}

/// A page of broadcasts, newest first, and the cursor of the next one, for a human of the account.
pub(crate) async fn list(
    app: &App,
    reader: &Principal,
    page: &Page,
) -> Result<(Vec<Broadcast>, Option<String>), Problem> {
    let human = reader.human(Role::Viewer)?;
    let request = ListBroadcastsRequest {
        account: human.account.clone(),
        before: Some(page.after.clone()).filter(|before| !before.is_empty()),
        limit: page.limit + 1,
    };
    let reply = app
        .ask(async || app.lifecycle.clone().list_broadcasts(request.clone()).await)
        .await?;
    let mut broadcasts = reply.broadcasts;
    let next = page.cut(&mut broadcasts, |broadcast| &broadcast.broadcast_id);
    Ok((broadcasts, next))
}
