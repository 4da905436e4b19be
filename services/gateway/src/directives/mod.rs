//! Directives (§13), as people write and follow them: over HTTP and in the web inbox.

mod list;
mod read;
mod submit;
mod track;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get as on_get, post};

use crate::app::App;

pub(crate) use list::{Filter, STATES, list};
pub(crate) use read::get;
pub(crate) use submit::submit;

/// The routes under `/v1/directives`.
pub(crate) fn router() -> Router<Arc<App>> {
    Router::new()
        .route("/v1/directives", post(submit::handle).get(list::handle))
        .route("/v1/directives/{id}", on_get(read::handle))
}
