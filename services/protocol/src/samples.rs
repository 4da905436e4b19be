//! Envelopes for tests.

use serde_json::{Value, json};

use crate::EntryKind;
use crate::envelope::Envelope;

/// An ask for one of `ship` and `hold` at minor 6, with the members of `request` laid over its own; `null` takes one
/// away.
pub(crate) fn ask(request: &Value) -> Value {
    let options = json!([{ "value": "ship", "label": "Ship" }, { "value": "hold", "label": "Hold" }]);
    let mut envelope = base("ask");
    envelope["request"] = json!({ "mode": "select", "options": options });
    lay_over(&mut envelope["request"], request);
    envelope
}

/// An input ask for an object with a string `reason`.
pub(crate) fn input(request: &Value) -> Value {
    let schema =
        json!({ "type": "object", "properties": { "reason": { "type": "string" } }, "required": ["reason"] });
    let mut envelope = ask(&json!({ "mode": "input", "options": null, "schema": schema }));
    lay_over(&mut envelope["request"], request);
    envelope
}

/// A task.
pub(crate) fn task(action: &Value) -> Value {
    let mut envelope = base("task");
    envelope["action"] = json!({ "instructions": "do", "checklist": [{ "text": "one" }] });
    lay_over(&mut envelope["action"], action);
    envelope
}

/// A notify.
pub(crate) fn notify() -> Value {
    base("notify")
}

/// The same envelope at another version.
pub(crate) fn at(version: &str, mut envelope: Value) -> Value {
    envelope["ma2h_version"] = version.into();
    envelope
}

/// What the hub reads of it.
pub(crate) fn read(envelope: &Value) -> Envelope {
    Envelope::parse(&envelope.to_string()).unwrap()
}

fn base(kind: &str) -> Value {
    json!({
        "ma2h_version": "0.6",
        "type": kind,
        "created_at": "2026-06-04T15:22:08Z",
        "agent": { "id": "deploybot/dev-team", "run_id": "run_1", "runtime": "cli" },
        "title": "t",
        "idempotency_key": "k",
    })
}

pub(crate) fn lay_over(object: &mut Value, members: &Value) {
    let (Some(object), Some(members)) = (object.as_object_mut(), members.as_object()) else {
        panic!("two objects expected");
    };
    for (name, value) in members {
        if value.is_null() {
            object.remove(name);
        } else {
            object.insert(name.clone(), value.clone());
        }
    }
}

/// What a mailbox delivers: to the session `sess_1` of the agent `a`, where the payload says to whom.
pub(crate) fn entry_payload(kind: EntryKind) -> Value {
    match kind {
        EntryKind::Directive => json!({
            "ma2h_version": "0.6", "type": "directive", "id": "dir_1", "from": "human:alice", "to": "agent:a",
            "created_at": "2026-06-04T15:22:08Z", "title": "Stop", "body": "Now.", "priority": "urgent",
            "tags": ["x"],
        }),
        EntryKind::Message => json!({
            "ma2h_version": "0.6", "type": "ask", "id": "msg_1", "from": "agent:b#sess_9", "to": "agent:a#sess_1",
            "created_at": "2026-06-04T15:22:08Z", "title": "May I?", "idempotency_key": "k",
            "agent": { "id": "b", "run_id": "run_1", "runtime": "cli", "session": "sess_9" },
            "request": { "mode": "confirm" },
        }),
        EntryKind::Response => json!({
            "ma2h_version": "0.6", "in_reply_to": "msg_1", "resolution_id": "res_1",
            "agent": { "id": "a", "run_id": "run_1" }, "resolution": "answered",
            "response": { "value": "ship", "actor": "human:alice", "resolved_at": "2026-06-04T15:48:30Z" },
            "state": { "n": 1 },
        }),
        EntryKind::Receipt => json!({
            "ma2h_version": "0.6", "type": "receipt", "id": "rcpt_1", "in_reply_to": "msg_1", "event": "bounced",
            "prior": "queued", "at": "2026-06-04T15:48:30Z", "session": "sess_7", "to": "agent:a#sess_1",
        }),
    }
}
