//! The web inbox: where a person reads what agents sent, answers, and tells agents something herself.
//!
//! Every page is drawn by the server and works without a script; `assets/inbox.js` keeps an open page current and adds
//! keys. What an agent wrote is text or sanitised Markdown, never markup of its own (§9.6).

mod agents;
mod assets;
mod broadcasts;
mod context;
mod controls;
mod directives;
mod fields;
mod filter;
mod headers;
mod icons;
mod json_text;
mod links;
mod list;
pub(crate) mod markdown;
mod message;
mod names;
mod outcome;
mod page;
mod presence;
mod segment;
pub(crate) mod session;
mod shown;
mod when;
mod writing;

use std::sync::Arc;

use axum::Router;
use axum::middleware;
use axum::response::{Redirect, Response};
use axum::routing::{MethodRouter, get, post};
use ma2h::error::{ErrorCode, Problem};

use crate::app::App;

use session::Session;

/// The pages at `/inbox`. Sets no fallback of its own: the gateway has one.
pub(crate) fn router() -> Router<Arc<App>> {
    let only = |methods: MethodRouter<Arc<App>>| methods.fallback(wrong_method);
    Router::new()
        // Who types the host alone means the inbox.
        .route("/", only(get(async || Redirect::to("/inbox"))))
        .route("/inbox", only(get(list::show)))
        .route("/inbox/", only(get(list::show)))
        .route("/inbox/sign-in", only(get(session::form).post(session::sign_in)))
        .route("/inbox/sign-out", only(post(session::sign_out)))
        .route("/inbox/assets/{name}", only(get(assets::serve)))
        .route("/inbox/directives", only(get(directives::list)))
        .route(
            "/inbox/directives/new",
            only(get(directives::compose).post(directives::send)),
        )
        .route("/inbox/directives/{id}", only(get(directives::show)))
        .route("/inbox/broadcasts", only(get(broadcasts::list)))
        .route("/inbox/broadcasts/agents", only(get(broadcasts::agents)))
        .route("/inbox/broadcasts/labels", only(get(broadcasts::labels)))
        .route(
            "/inbox/broadcasts/new",
            only(get(broadcasts::compose).post(broadcasts::send)),
        )
        .route("/inbox/broadcasts/{id}", only(get(broadcasts::show)))
        .route("/inbox/agents", only(get(agents::list)))
        .route("/inbox/agents/{id}", only(get(agents::show)))
        .route("/inbox/{id}", only(get(message::show).post(message::answer)))
        .route(
            "/inbox/{id}/redeliver",
            only(get(message::after_redeliver).post(message::redeliver)),
        )
        .route("/inbox/{id}/{*rest}", only(get(nowhere)))
        .layer(middleware::map_response(headers::set))
}

async fn nowhere(session: Session) -> Response {
    page::problem(&Problem::not_found(), Some(&session))
}

async fn wrong_method() -> Response {
    page::problem(
        &Problem::new(
            ErrorCode::MethodNotAllowed,
            "this address does not take that method",
        ),
        None,
    )
}
