//! An agent's mailbox (§8.7): it is drained, waited for, and consumed by acknowledging. The credential selects it, and
//! nothing that the call says.

mod ack;
mod claim;
mod drain;
mod look;
mod waiting;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use ma2h::error::{ErrorCode, Problem};

pub(crate) use look::{Looks, Mailbox, look, looks};
pub(crate) use waiting::waiting;

use crate::app::App;

/// The routes under `/v1/inbox`.
pub(crate) fn router() -> Router<Arc<App>> {
    Router::new()
        .route("/v1/inbox", get(drain::handle).head(drain::head))
        .route("/v1/inbox/ack", post(ack::handle))
}

/// No session is registered here, so that none is the caller's.
fn refuse_session(session: Option<&str>) -> Result<(), Problem> {
    if session.is_none() {
        return Ok(());
    }
    Err(Problem::new(
        ErrorCode::NotFound,
        "session: no such session; this hub offers none yet",
    ))
}
