//! Documents with every member there is, to be mutated.

use serde_json::{Value, json};

const STAMP: &str = "2026-01-02T03:04:05Z";

/// Full documents of a noun, or of the part of its schema that the fragment names.
pub(crate) fn full(noun: &str, fragment: &str) -> Vec<Value> {
    match (noun, fragment) {
        ("ack", _) => vec![ack()],
        ("capability", _) => vec![
            capability(),
            json!({ "ma2h_version": "0.4", "inbound": { "enabled": true, "session_param": false } }),
            json!({ "ma2h_version": "0.4", "rate_limit": { "inter_agent_requests_per_minute": 1 } }),
            json!({ "ma2h_version": "0.4", "inter_agent": { "enabled": false } }),
            json!({ "ma2h_version": "0.5", "inter_agent": { "enabled": false, "entry_kinds": ["message", "message"] } }),
            json!({
                "ma2h_version": "0.5", "sessions": { "enabled": true }, "presence": { "enabled": true, "freshness_seconds": 1 },
                "inbound": { "enabled": true, "stream_url": "https://hub.example/", "stream_max_hold_seconds": 1 },
            }),
            json!({ "ma2h_version": "0.4", "ack": { "enabled": false }, "presence": { "enabled": false } }),
            json!({ "ma2h_version": "0.5", "inbound": { "enabled": false, "session_param": true }, "sessions": { "enabled": true } }),
        ],
        ("get-message", _) => read_back(),
        ("inbound-message", _) => {
            let mut carelessly = delivered();
            carelessly["request"]["callback"] = json!({ "mode": "pull" });
            let mut carelessly_task = delivered_task();
            carelessly_task["action"]["callback"] = json!({ "mode": "pull" });
            vec![
                directive(),
                delivered(),
                delivered_task(),
                answered(),
                receipt(),
                carelessly,
                carelessly_task,
            ]
        }
        ("message", _) => vec![
            select(),
            input(),
            confirm(),
            task(),
            notify(),
            badly_resolved_task(),
        ],
        ("presence", _) => vec![
            json!({ "agent_id": "a", "state": "online", "last_seen": STAMP, "freshness_seconds": 60 }),
            json!({ "agent_id": "a", "state": "unknown", "freshness_seconds": 1 }),
        ],
        ("resolve-request", _) => vec![
            json!({ "resolution": "answered", "value": "a", "comment": "c" }),
            json!({ "resolution": "completed", "comment": "c", "checklist": [{ "text": "a", "done": true }] }),
            json!({ "resolution": "dismissed" }),
            json!({ "resolution": "declined" }),
        ],
        ("response", _) => vec![answered(), completed(), defaulted()],
        ("session", "") => vec![session()],
        ("session", "#/$defs/registerRequest") => vec![registration()],
        ("session", "#/$defs/sessionEnvelope") => vec![json!({ "session": session() })],
        ("session", "#/$defs/sessionList") => vec![json!({ "sessions": [session()], "scope": "own" })],
        ("submit-ack", _) => submit_acks(),
        _ => panic!("there is no {noun}{fragment}"),
    }
}

fn envelope(kind: &str, version: &str, members: Value) -> Value {
    let mut envelope = json!({
        "ma2h_version": version, "type": kind, "created_at": STAMP, "title": "t",
        "agent": { "id": "a", "run_id": "r", "runtime": "cli" }, "idempotency_key": "k",
    });
    add(&mut envelope, members);
    envelope
}

fn add(document: &mut Value, members: Value) {
    let (Value::Object(document), Value::Object(members)) = (document, members) else {
        panic!("members are added to objects");
    };
    document.extend(members);
}

fn select() -> Value {
    envelope(
        "ask",
        "0.5",
        json!({
            "agent": { "id": "a", "run_id": "r", "runtime": "cloud", "session": "sess_1", "project": "p", "labels": { "l": "v" } },
            "to": "agent:b#sess_2", "body": "b", "priority": "high", "tags": ["t"], "client_ref": "c", "expires_at": STAMP,
            "sensitive": true, "state": { "s": 1 },
            "context": [
                { "kind": "text", "text": "x", "metadata": { "m": 1 } },
                { "kind": "data", "data": { "d": 1 }, "metadata": {} },
                { "kind": "file", "file": { "uri": "https://a.example/f", "name": "f", "mime_type": "text/plain" }, "metadata": {} },
            ],
            "request": {
                "mode": "select",
                "options": [{ "value": "a", "label": "A", "description": "d" }, { "value": "b", "label": "B" }],
                "permissions": { "allow_accept": true, "allow_edit": true, "allow_respond": false, "allow_ignore": true },
                "default_on_expire": "a",
                "allowed_resolvers": ["human:h", "system:s", "agent:b", "agent:b#sess_2"],
                "callback": { "mode": "push", "url": "https://a.example/", "auth": { "scheme": "hmac", "secret_ref": "s" } },
            },
        }),
    )
}

fn input() -> Value {
    envelope(
        "ask",
        "0.6",
        json!({
            "request": {
                "mode": "input", "default_on_expire": { "a": 1 }, "callback": { "mode": "pull" },
                "schema": { "type": ["object", "null", "array", "boolean", "integer", "number", "string"], "properties": { "a": {} } },
            },
        }),
    )
}

fn confirm() -> Value {
    envelope(
        "ask",
        "0.4",
        json!({
            "request": {
                "mode": "confirm", "default_on_expire": null, "allowed_resolvers": ["agent:a#b"],
                "options": [{ "value": "a", "label": "A" }, { "value": "b", "label": "B" }],
                "callback": { "mode": "push", "url": "https://a.example/", "auth": { "scheme": "apikey", "token_ref": "t" } },
            },
        }),
    )
}

fn task() -> Value {
    envelope(
        "task",
        "0.6",
        json!({
            "action": {
                "instructions": "i", "verification": "v", "checklist": [{ "text": "a" }, { "text": "b", "done": true }],
                "allowed_resolvers": ["human:h", "agent:b#sess_2"],
                "callback": { "mode": "push", "url": "https://a.example/", "auth": { "scheme": "bearer", "token_ref": "t" } },
            },
        }),
    )
}

/// From 0.5 on its resolver is no address.
fn badly_resolved_task() -> Value {
    let action = json!({ "instructions": "i", "allowed_resolvers": ["agent:a#b"] });
    envelope("task", "0.5", json!({ "action": action }))
}

fn notify() -> Value {
    envelope("notify", "0.3", json!({ "idempotency_key": "k" }))
}

fn response(resolution: &str, members: Value) -> Value {
    let mut response = json!({
        "ma2h_version": "0.5", "in_reply_to": "msg_1", "resolution_id": "res_1", "resolution": resolution,
        "agent": { "id": "a", "run_id": "r" },
    });
    add(&mut response, members);
    response
}

fn answered() -> Value {
    let detail =
        json!({ "value": "a", "edited": false, "actor": "human:h", "resolved_at": STAMP, "comment": "c" });
    response(
        "answered",
        json!({ "defaulted": false, "state": { "s": 1 }, "response": detail }),
    )
}

fn completed() -> Value {
    let checklist = json!([{ "text": "a", "done": true }]);
    response(
        "completed",
        json!({
            "response": { "actor": "agent:b", "resolved_at": STAMP, "comment": "c", "checklist": checklist },
        }),
    )
}

fn defaulted() -> Value {
    let detail = json!({ "value": { "a": 1 }, "actor": "system:default_on_expire", "resolved_at": STAMP });
    response(
        "expired",
        json!({ "ma2h_version": "0.4", "defaulted": true, "response": detail }),
    )
}

fn ack() -> Value {
    json!({
        "ma2h_version": "0.4", "type": "ack", "in_reply_to": "msg_1", "by": "agent:a", "acked_at": STAMP, "note": "n",
        "resolution_id": "res_1",
    })
}

fn read_back() -> Vec<Value> {
    let acknowledged = json!({ "state": "acknowledged", "delivered_at": STAMP, "acknowledged_at": STAMP });
    let mut delivery = acknowledged.clone();
    delivery["ack"] = ack();
    let bounced = json!({ "state": "bounced", "prior": "delivered", "delivered_at": STAMP });
    let mut cancelled = response("cancelled", json!({}));
    cancelled["response"] = json!({ "actor": "system:undeliverable", "resolved_at": STAMP });
    let documents = [
        (
            select(),
            json!({ "status": "answered", "response": answered(), "delivery": delivery, "mailbox": acknowledged }),
        ),
        (
            select(),
            json!({ "status": "open", "mailbox": { "state": "delivered", "delivered_at": STAMP } }),
        ),
        (
            select(),
            json!({ "status": "cancelled", "response": cancelled, "mailbox": bounced }),
        ),
        (
            confirm(),
            json!({ "status": "expired", "response": defaulted(), "delivery": { "state": "delivered-to-agent" } }),
        ),
        (
            task(),
            json!({ "status": "completed", "response": completed(), "delivery": { "state": "expired" } }),
        ),
        (notify(), json!({ "status": "delivered" })),
        (
            notify(),
            json!({
                "ma2h_version": "0.5", "to": "agent:b", "status": "bounced", "mailbox": { "state": "bounced", "prior": "queued" },
            }),
        ),
    ];
    let read = documents.into_iter().map(|(mut document, members)| {
        document["id"] = json!("msg_1");
        add(&mut document, members);
        document
    });
    read.collect()
}

fn directive() -> Value {
    json!({
        "ma2h_version": "0.5", "type": "directive", "id": "dir_1", "from": "human:h", "to": "agent:a#sess_1",
        "created_at": STAMP, "title": "t", "body": "b", "priority": "urgent", "tags": ["t"], "expires_at": STAMP,
        "sensitive": false, "context": [{ "kind": "text", "text": "x" }],
    })
}

fn delivered() -> Value {
    let mut message = select();
    let Value::Object(members) = &mut message else {
        panic!("a message is an object")
    };
    members.remove("state");
    members.remove("client_ref");
    if let Value::Object(request) = &mut message["request"] {
        request.remove("callback");
    }
    add(&mut message, json!({ "id": "msg_1", "from": "agent:a#sess_1" }));
    message
}

fn delivered_task() -> Value {
    let mut task = task();
    if let Value::Object(action) = &mut task["action"] {
        action.remove("callback");
    }
    add(
        &mut task,
        json!({ "id": "msg_1", "from": "agent:a", "to": "agent:b" }),
    );
    task
}

fn receipt() -> Value {
    json!({
        "ma2h_version": "0.5", "type": "receipt", "id": "rcpt_1", "in_reply_to": "msg_1", "event": "bounced",
        "prior": "queued", "at": STAMP, "session": "sess_2", "to": "agent:a#sess_1",
    })
}

fn registration() -> Value {
    json!({
        "run_id": "r", "label": "l", "kind": "k", "project": "p", "labels": { "l": "v" }, "ttl_seconds": 60,
    })
}

fn session() -> Value {
    let mut session = registration();
    add(
        &mut session,
        json!({
            "id": "sess_1", "agent_id": "a", "state": "closed", "created_at": STAMP, "expires_at": STAMP,
            "last_seen": STAMP, "closed_at": STAMP, "closed_by_operator": true,
        }),
    );
    session
}

fn submit_acks() -> Vec<Value> {
    let links = |members: Value| {
        let mut ack = json!({ "id": "msg_1", "poll_url": "https://hub.example/1", "review_url": "https://hub.example/r" });
        add(&mut ack, members);
        ack
    };
    vec![
        links(json!({ "status": "open" })),
        links(json!({ "status": "queued", "destination": { "state": "online", "last_seen": STAMP } })),
        links(json!({ "status": "bounced", "destination": { "state": "unknown" } })),
    ]
}

fn capability() -> Value {
    let on = json!({ "enabled": true, "signature_algs": ["hmac-sha256", "ed25519"] });
    json!({
        "ma2h_version": "0.5", "max_body_bytes": 1, "max_part_bytes": 1, "max_context_parts": 0,
        "auth_schemes": ["bearer", "apikey"], "callback_auth_schemes": ["hmac", "bearer", "apikey"],
        "signature_algs": ["hmac-sha256", "ed25519"], "retention_days": 1, "replay_window_seconds": 1,
        "rate_limit": { "requests_per_minute": 0, "inbox_depth": 0, "inter_agent_requests_per_minute": 0 },
        "inbound": {
            "enabled": true, "poll_url": "https://hub.example/", "ack_url": "https://hub.example/", "max_batch": 1,
            "visibility_timeout_seconds": 1, "retention_days": 1, "signature_algs": ["ed25519", "hmac-sha256"],
            "webhook_supported": true, "session_param": true, "stream_url": "https://hub.example/",
            "stream_max_hold_seconds": 1,
        },
        "sessions": {
            "enabled": true, "min_ttl_seconds": 1, "max_ttl_seconds": 1, "max_live_per_agent": 1,
            "agent_list_visibility": true, "terminal_retention_seconds": 0, "operator_hard_stop": true,
        },
        "inter_agent": { "enabled": true, "entry_kinds": ["message", "response", "receipt"], "sender_allowlists": true },
        "ack": on, "presence": { "enabled": true, "freshness_seconds": 1 },
    })
}
