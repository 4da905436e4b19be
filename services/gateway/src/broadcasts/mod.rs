//! Broadcasts: one directive to many agents, as people write and follow it: over HTTP and in the web inbox.

mod body;
mod list;
mod read;
mod submit;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get as on_get, post};

use crate::app::App;

pub(crate) use body::STATES;
pub(crate) use list::list;
pub(crate) use read::{Wanted, get};
pub(crate) use submit::submit;

/// The routes under `/v1/broadcasts`.
pub(crate) fn router() -> Router<Arc<App>> {
    Router::new()
        .route("/v1/broadcasts", post(submit::handle).get(list::handle))
        .route("/v1/broadcasts/{id}", on_get(read::handle))
}
