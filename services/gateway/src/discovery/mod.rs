//! What the hub says of itself, to anybody (§8.0).

pub(crate) mod keys;
mod openapi;

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use hub_platform::config::{Config, RateLimit};
use ma2h::sign::Algorithm;
use ma2h::version::HUB_VERSION;
use serde_json::{Map, Value, json};

use crate::app::App;
use crate::directory::policy;
use crate::edge::answer;

/// The routes under `/.well-known`, and `/openapi.json`.
pub(crate) fn router() -> Router<Arc<App>> {
    Router::new()
        .route("/.well-known/ma2h", get(handle))
        .route("/.well-known/ma2h-capability", get(handle))
        .route("/.well-known/ma2h/keys", get(keys::handle))
        .route("/openapi.json", get(openapi::handle))
}

async fn handle(State(app): State<Arc<App>>) -> Response {
    answer::json(StatusCode::OK, &capability(&app.config, &app.public_url))
}

/// What is offered and enforced now; what is absent is not.
fn capability(config: &Config, base: &str) -> Value {
    let mut document = json!({
        "ma2h_version": HUB_VERSION,
        "max_body_bytes": config.limits.max_body_bytes,
        "max_part_bytes": config.limits.max_part_bytes,
        "max_context_parts": config.limits.max_context_parts,
        "auth_schemes": ["bearer", "apikey"],
        "callback_auth_schemes": ["hmac", "bearer", "apikey"],
        // The protocol wants the caps told and names no member for them (§8.3).
        "callback_retry": {
            "max_attempts": config.callback.max_attempts,
            "max_duration_seconds": config.callback.max_duration_seconds,
            "first_delay_ms": config.callback.first_delay_ms,
            "backoff_factor": config.callback.backoff_factor,
            "max_delay_ms": config.callback.max_delay_ms,
            "timeout_ms": config.callback.timeout_ms,
        },
        "signature_algs": Algorithm::ALL.map(Algorithm::as_str),
        "retention_days": policy::retention_days(config),
        "replay_window_seconds": config.security.replay_window_seconds,
        "inbound": {
            "enabled": true,
            "poll_url": format!("{base}/v1/inbox"),
            "ack_url": format!("{base}/v1/inbox/ack"),
            "max_batch": config.inbound.max_batch,
            "visibility_timeout_seconds": config.inbound.visibility_timeout_seconds,
            "retention_days": policy::advertised_days(config.inbound.retention_seconds),
            "signature_algs": Algorithm::ALL.map(Algorithm::as_str),
            "webhook_supported": true,
            "session_param": false,
        },
        "ack": { "enabled": true, "signature_algs": Algorithm::ALL.map(Algorithm::as_str) },
        "presence": { "enabled": true, "freshness_seconds": config.presence.freshness_seconds },
    });
    let limits = rate_limit(&config.rate_limit);
    if !limits.is_empty() {
        document["rate_limit"] = Value::Object(limits);
    }
    document
}

/// The limits there are (§8.6).
fn rate_limit(config: &RateLimit) -> Map<String, Value> {
    let limits = [
        ("requests_per_minute", Some(config.requests_per_minute)),
        (
            "inter_agent_requests_per_minute",
            config.inter_agent_requests_per_minute,
        ),
        ("inbox_depth", Some(config.inbox_depth)),
    ];
    let limits = limits
        .into_iter()
        .filter_map(|(name, limit)| Some((name.to_owned(), Value::from(limit.filter(|limit| *limit > 0)?))));
    limits.collect()
}

#[cfg(test)]
mod tests {
    use hub_platform::config::Config;
    use serde_json::{Value, json};

    use super::capability;

    fn document(variables: &[(&str, &str)]) -> Value {
        let variables = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        capability(&Config::load(variables).unwrap(), "https://hub.example")
    }

    #[test]
    fn nothing_is_claimed_that_is_not_offered() {
        let document = document(&[]);
        for absent in ["sessions", "inter_agent"] {
            assert!(document.get(absent).is_none(), "{absent}");
        }
        assert_eq!(document["inbound"]["poll_url"], "https://hub.example/v1/inbox");
        assert_eq!(document["inbound"]["session_param"], false);
        assert_eq!(document["ma2h_version"], "0.6");
        assert_eq!(document["retention_days"], 30);
        let retry = &document["callback_retry"];
        assert_eq!(
            (&retry["max_attempts"], &retry["max_duration_seconds"]),
            (&json!(8), &json!(86_400))
        );
    }

    #[test]
    fn limits_are_advertised_as_they_are_enforced() {
        const RATE: &str = "HUB_RATE_LIMIT_REQUESTS_PER_MINUTE";
        const INTER_AGENT: &str = "HUB_RATE_LIMIT_INTER_AGENT_REQUESTS_PER_MINUTE";
        const DEPTH: &str = "HUB_RATE_LIMIT_INBOX_DEPTH";
        let cases: [(&[(&str, &str)], Value); 4] = [
            (&[], json!({"requests_per_minute": 60, "inbox_depth": 1000})),
            (
                &[(INTER_AGENT, "30"), (DEPTH, "0")],
                json!({"requests_per_minute": 60, "inter_agent_requests_per_minute": 30}),
            ),
            (&[(RATE, "0"), (INTER_AGENT, "0")], json!({"inbox_depth": 1000})),
            (&[(RATE, "0"), (DEPTH, "0")], Value::Null),
        ];
        for (variables, expected) in cases {
            let document = document(variables);
            assert_eq!(
                document.get("rate_limit").unwrap_or(&Value::Null),
                &expected,
                "{variables:?}"
            );
        }
    }
}
