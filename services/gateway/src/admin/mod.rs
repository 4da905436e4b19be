//! Administration, `/admin/v1`: for the deployment's admin, or an owner in her own account.

mod accounts;
mod agents;
mod audit;
mod callback_hosts;
mod entry_key;
pub(crate) mod forget;
mod humans;
mod manager;
mod secrets;
mod tokens;
mod webhook;

use std::sync::Arc;

use axum::Router;
use axum::routing::{MethodRouter, delete, get, patch, post, put};

use manager::{Manager, OwnerManager};

use crate::app::App;

/// The routes under `/admin/v1`.
pub(crate) fn router() -> Router<Arc<App>> {
    let account = Router::new()
        .route(
            "/",
            get(accounts::get)
                .patch(accounts::update)
                .delete(accounts::delete),
        )
        .route("/humans", post(humans::create).get(humans::list))
        .route("/humans/{human}", patch(humans::update).delete(humans::delete))
        .route("/agents", post(agents::create).get(agents::list))
        .route("/agents/{agent}", patch(agents::update).delete(agents::delete))
        .route(
            "/agents/{agent}/entry-key",
            put(entry_key::put).get(entry_key::get),
        )
        .route("/agents/{agent}/webhook", webhook())
        .nest("/agents/{agent}", owned())
        .route("/ack-webhook", webhook())
        .merge(owned())
        .route("/tokens", post(tokens::create).get(tokens::list))
        .route("/tokens/{token}", delete(tokens::delete))
        .route("/audit", get(audit::list));
    Router::new()
        .route("/admin/v1/accounts", post(accounts::create).get(accounts::list))
        .nest("/admin/v1/accounts/{account}", account)
}

/// What an agent has of its own, and an account as well.
fn owned() -> Router<Arc<App>> {
    Router::new()
        .route("/secrets", put(secrets::put).get(secrets::list))
        .route("/secrets/{reference}", delete(secrets::delete))
        .route(
            "/callback-hosts",
            post(callback_hosts::create).get(callback_hosts::list),
        )
        .route("/callback-hosts/{host}", delete(callback_hosts::delete))
        .route("/callback-hosts/{host}/verify", post(callback_hosts::verify))
        .route("/callback-hosts/{host}/pause", post(callback_hosts::pause))
        .route("/callback-hosts/{host}/resume", post(callback_hosts::resume))
}

fn webhook() -> MethodRouter<Arc<App>> {
    put(webhook::put).get(webhook::get).delete(webhook::delete)
}
