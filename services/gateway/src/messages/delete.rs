//! `DELETE /v1/messages/{id}`: an owner has a message erased that has ended; from then on it is 410.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use hub_proto::lifecycle::DeleteMessageRequest;
use ma2h::error::{ErrorCode, Problem};
use ma2h::status::Status;

use super::{message_id, stands};
use crate::app::App;
use crate::auth::Caller;
use crate::directory::{Author, audit};
use crate::edge::answer;
use crate::edge::errors::Refusal;
use crate::edge::params::Ids;
use crate::principal::Role;

pub(super) async fn handle(
    State(app): State<Arc<App>>,
    Caller(principal): Caller,
    Ids(id): Ids<String>,
) -> Result<Response, Refusal> {
    let owner = principal.human(Role::Owner)?;
    // What cannot be deleted is told before anything is written down.
    let id = message_id(&id)?;
    if stands(&app, &principal, &id).await?.status == Status::Open.as_str() {
        return Err(Problem::new(
            ErrorCode::Conflict,
            "the message is open; it can be deleted once it has ended",
        )
        .into());
    }
    let author = Author {
        actor: principal.actor(),
    };
    audit::note(&app.pool, &author, &owner.account, "message.delete", &id, None).await?;
    let request = DeleteMessageRequest {
        account: owner.account.clone(),
        message_id: id,
        // Minted here, so that a reply that is lost can be asked for again (rule 3).
        deletion_id: hub_platform::ids::mint("del"),
    };
    app.ask(async || app.lifecycle.clone().delete_message(request.clone()).await)
        .await?;
    Ok(answer::empty(StatusCode::NO_CONTENT))
}
