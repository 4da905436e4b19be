//! Broadcasts: one directive to many agents, as people write and follow it.

mod body;
mod list;
mod read;
mod submit;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};

use crate::app::App;

/// The routes under `/v1/broadcasts`.
pub(crate) fn router() -> Router<Arc<App>> {
    Router::new()
        .route("/v1/broadcasts", post(submit::handle).get(list::handle))
        .route("/v1/broadcasts/{id}", get(read::handle))
}
