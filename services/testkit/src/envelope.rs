//! Envelopes to submit: each the smallest that the hub accepts, for a test to add to.

use serde_json::{Value, json};

/// A notify of an agent.
pub fn notify(agent: &str) -> Value {
    envelope(agent, "notify", "the nightly build is done")
}

/// An ask that a human of this address may answer with `ship` or `hold`.
pub fn select(agent: &str, resolver: &str) -> Value {
    let mut envelope = envelope(agent, "ask", "ship build 142?");
    envelope["request"] = json!({
        "mode": "select",
        "options": [{"value": "ship", "label": "Ship"}, {"value": "hold", "label": "Hold"}],
        "allowed_resolvers": [resolver],
    });
    envelope
}

/// An ask to approve or deny.
pub fn confirm(agent: &str, resolver: &str) -> Value {
    let mut envelope = envelope(agent, "ask", "merge it?");
    envelope["request"] = json!({"mode": "confirm", "allowed_resolvers": [resolver]});
    envelope
}

/// An ask for an object with a text `note`.
pub fn input(agent: &str, resolver: &str) -> Value {
    let mut envelope = envelope(agent, "ask", "what shall the release note say?");
    envelope["request"] = json!({
        "mode": "input",
        "schema": {"type": "object", "properties": {"note": {"type": "string"}}, "required": ["note"]},
        "allowed_resolvers": [resolver],
    });
    envelope
}

/// A task to be done by hand.
pub fn task(agent: &str, resolver: &str) -> Value {
    let mut envelope = envelope(agent, "task", "rotate the key");
    envelope["action"] = json!({
        "instructions": "rotate the key in the console",
        "allowed_resolvers": [resolver],
    });
    envelope
}

/// Has an ask pushed to `url`, authenticated by `hmac` with a stored secret.
#[must_use]
pub fn with_hmac_push(mut envelope: Value, url: &str, secret_ref: &str) -> Value {
    let member = if envelope["type"] == "task" {
        "action"
    } else {
        "request"
    };
    envelope[member]["callback"] =
        json!({"mode": "push", "url": url, "auth": {"scheme": "hmac", "secret_ref": secret_ref}});
    envelope
}

fn envelope(agent: &str, kind: &str, title: &str) -> Value {
    json!({
        "ma2h_version": "0.6",
        "type": kind,
        "created_at": "2026-01-01T00:00:00Z",
        "agent": {"id": agent, "run_id": "run-1", "runtime": "other"},
        "title": title,
        "idempotency_key": crate::unique(),
    })
}
