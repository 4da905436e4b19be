//! What the hub says of itself, to anybody (§8.0).

pub(crate) mod keys;

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use hub_platform::config::Config;
use ma2h::version::HUB_VERSION;
use serde_json::{Value, json};

use crate::app::App;
use crate::directory::policy;
use crate::edge::answer;

/// The routes under `/.well-known`.
pub(crate) fn router() -> Router<Arc<App>> {
    Router::new()
        .route("/.well-known/ma2h", get(handle))
        .route("/.well-known/ma2h-capability", get(handle))
        .route("/.well-known/ma2h/keys", get(keys::handle))
}

async fn handle(State(app): State<Arc<App>>) -> Response {
    answer::json(StatusCode::OK, &capability(&app.config))
}

/// What is offered and enforced now; what is absent is not.
fn capability(config: &Config) -> Value {
    json!({
        "ma2h_version": HUB_VERSION,
        "max_body_bytes": config.limits.max_body_bytes,
        "max_part_bytes": config.limits.max_part_bytes,
        "max_context_parts": config.limits.max_context_parts,
        "auth_schemes": ["bearer", "apikey"],
        "callback_auth_schemes": ["hmac", "bearer", "apikey"],
        "signature_algs": ["hmac-sha256", "ed25519"],
        "retention_days": policy::retention_days(config),
        "replay_window_seconds": config.security.replay_window_seconds,
        "presence": { "enabled": true, "freshness_seconds": config.presence.freshness_seconds },
    })
}

#[cfg(test)]
mod tests {
    use hub_platform::config::Config;

    use super::capability;

    #[test]
    fn nothing_is_claimed_that_is_not_offered() {
        let document = capability(&Config::load([]).unwrap());
        for absent in ["inbound", "ack", "sessions", "inter_agent", "rate_limit"] {
            assert!(document.get(absent).is_none(), "{absent}");
        }
        assert_eq!(document["ma2h_version"], "0.6");
        assert_eq!(document["retention_days"], 30);
    }
}
