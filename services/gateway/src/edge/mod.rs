//! Where HTTP ends: TLS, limits, request ids, bodies, and errors in MA2H's shape.

pub(crate) mod answer;
pub(crate) mod body;
pub(crate) mod budget;
pub(crate) mod call;
mod connection;
pub(crate) mod errors;
pub(crate) mod fields;
pub(crate) mod headers;
pub(crate) mod large;
mod listener;
mod observe;
pub(crate) mod operation;
pub(crate) mod page;
pub(crate) mod params;
mod request_id;
mod tls;
mod unread;
mod wellformed;

use std::sync::Arc;

use axum::{Router, middleware};
use tower_http::catch_panic::CatchPanicLayer;

pub(crate) use listener::serve;

use crate::app::App;

/// Puts around the routes what every answer needs. The last layer is the outermost: it also sees what a panic became.
pub(crate) fn around(routes: Router<Arc<App>>, app: Arc<App>) -> Router {
    routes
        .fallback(errors::unknown_route)
        .method_not_allowed_fallback(errors::wrong_method)
        .layer(middleware::from_fn_with_state(app.clone(), large::hold))
        .layer(CatchPanicLayer::custom(errors::panicked))
        .layer(middleware::from_fn(wellformed::check))
        .layer(middleware::from_fn(unread::discard))
        .layer(middleware::from_fn_with_state(app.clone(), observe::observe))
        .with_state(app)
}
