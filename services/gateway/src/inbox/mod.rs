//! The web inbox.

use std::sync::Arc;

use axum::Router;

use crate::app::App;

pub(crate) mod markdown;

/// The pages at `/inbox`. Sets no fallback of its own: the gateway has one.
pub(crate) fn router() -> Router<Arc<App>> {
    Router::new()
}
