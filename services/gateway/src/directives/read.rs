//! `GET /v1/directives/{id}`

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use hub_platform::ids::is_minted;
use hub_proto::lifecycle::{Directive, GetDirectiveRequest};
use ma2h::error::Problem;

use super::track;
use crate::app::App;
use crate::auth::Caller;
use crate::directory::ids;
use crate::edge::answer;
use crate::edge::errors::Refusal;
use crate::edge::params::Ids;
use crate::principal::{Principal, Role};

pub(super) async fn handle(
    State(app): State<Arc<App>>,
    Caller(principal): Caller,
    Ids(id): Ids<String>,
) -> Result<Response, Refusal> {
    let directive = get(&app, &principal, id).await?;
    Ok(answer::json_text(StatusCode::OK, track::body(&directive, "")?))
}

/// One directive with its track, for a human of the account.
pub(crate) async fn get(app: &App, reader: &Principal, id: String) -> Result<Directive, Problem> {
    let human = reader.human(Role::Viewer)?;
    let request = GetDirectiveRequest {
        account: human.account.clone(),
        directive_id: ids::of_path(id, |id| is_minted(id, "dir"))?,
    };
    app.ask(async || app.lifecycle.clone().get_directive(request.clone()).await)
        .await
}
