//! `GET /v1/broadcasts/{id}`: how far it got, and a page of who has not acknowledged it.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use hub_platform::ids::is_minted;
use hub_proto::lifecycle::{GetBroadcastReply, GetBroadcastRequest};
use ma2h::error::Problem;
use ma2h::json::quoted;

use super::body::whole;
use crate::app::App;
use crate::auth::Caller;
use crate::directory::ids;
use crate::edge::answer;
use crate::edge::errors::Refusal;
use crate::edge::page::{Page, PageParams};
use crate::edge::params::{Ids, Params};
use crate::principal::{Principal, Role};

/// Which of a broadcast's agents are listed.
pub(crate) struct Wanted {
    /// Those in one of these [`STATES`](super::STATES); none: all that have not acknowledged it.
    pub(crate) listed: Vec<String>,
    /// Where they begin, and how many.
    pub(crate) page: Page,
}

pub(super) async fn handle(
    State(app): State<Arc<App>>,
    Caller(principal): Caller,
    Ids(id): Ids<String>,
    Params(params): Params<PageParams>,
) -> Result<Response, Refusal> {
    let wanted = Wanted {
        listed: Vec::new(),
        page: params.page()?,
    };
    let (reply, next) = get(&app, &principal, id, &wanted).await?;
    let next = next.map(|cursor| format!(",\"next_cursor\":{}", quoted(&cursor)));
    let body = format!("{{\"broadcast\":{}{}}}", whole(&reply)?, next.unwrap_or_default());
    Ok(answer::json_text(StatusCode::OK, body))
}

/// One broadcast with a page of its agents, and the cursor of the next one, for a human of the account.
pub(crate) async fn get(
    app: &App,
    reader: &Principal,
    id: String,
    wanted: &Wanted,
) -> Result<(GetBroadcastReply, Option<String>), Problem> {
    let human = reader.human(Role::Viewer)?;
    let request = GetBroadcastRequest {
        account: human.account.clone(),
        broadcast_id: ids::of_path(id, |id| is_minted(id, "bro"))?,
        after: wanted.page.after.clone(),
        limit: wanted.page.limit + 1,
        listed: wanted.listed.clone(),
    };
    let mut reply = app
        .ask(async || app.lifecycle.clone().get_broadcast(request.clone()).await)
        .await?;
    let next = wanted
        .page
        .cut(&mut reply.recipients, |recipient| &recipient.agent);
    Ok((reply, next))
}
