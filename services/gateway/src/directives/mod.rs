//! Directives (§13), as people write and follow them.

mod list;
mod read;
mod submit;
mod track;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};

use crate::app::App;

/// The routes under `/v1/directives`.
pub(crate) fn router() -> Router<Arc<App>> {
    Router::new()
        .route("/v1/directives", post(submit::handle).get(list::handle))
        .route("/v1/directives/{id}", get(read::handle))
}
