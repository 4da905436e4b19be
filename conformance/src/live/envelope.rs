//! Envelopes to submit: each the least that a hub accepts, for a check to add to.

use serde_json::{Value, json};
use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime};

/// A word that no other call gives.
pub(crate) fn unique() -> String {
    ulid::Ulid::generate().to_string().to_lowercase()
}

/// So many milliseconds from now, as RFC 3339.
pub(crate) fn in_ms(milliseconds: i64) -> String {
    let at = OffsetDateTime::now_utc() + Duration::milliseconds(milliseconds);
    at.format(&Rfc3339).unwrap_or_default()
}

/// A message of an agent, with nothing yet that its type needs.
fn message(agent: &str, kind: &str, title: &str) -> Value {
    json!({
        "ma2h_version": "0.6",
        "type": kind,
        "created_at": in_ms(0),
        "agent": {"id": agent, "run_id": "run-1", "runtime": "other"},
        "title": title,
        "idempotency_key": unique(),
    })
}

/// For information only.
pub(crate) fn notify(agent: &str) -> Value {
    message(agent, "notify", "The harvest is in")
}

/// An ask to approve or deny, which this address may answer.
pub(crate) fn confirm(agent: &str, resolver: &str) -> Value {
    ask(agent, json!({"mode": "confirm", "allowed_resolvers": [resolver]}))
}

/// An ask to choose `pears` or `plums`.
pub(crate) fn select(agent: &str, resolver: &str) -> Value {
    let options = json!([
        {"value": "pears", "label": "Pears first"},
        {"value": "plums", "label": "Plums first", "description": "They spoil sooner"}
    ]);
    ask(
        agent,
        json!({"mode": "select", "options": options, "allowed_resolvers": [resolver]}),
    )
}

/// An ask for an object with a whole number of `crates`.
pub(crate) fn input(agent: &str, resolver: &str) -> Value {
    let schema = json!({
        "type": "object",
        "properties": {"crates": {"type": "integer", "minimum": 1}, "note": {"type": "string"}},
        "required": ["crates"],
    });
    ask(
        agent,
        json!({"mode": "input", "schema": schema, "allowed_resolvers": [resolver]}),
    )
}

/// An ask with this request.
pub(crate) fn ask(agent: &str, request: Value) -> Value {
    let mut envelope = message(agent, "ask", "What shall be picked next?");
    envelope["request"] = request;
    envelope
}

/// A task that this address may mark as done.
pub(crate) fn task(agent: &str, resolver: &str) -> Value {
    let mut envelope = message(agent, "task", "Prune the old tree");
    envelope["action"] = json!({
        "instructions": "Before the frost.",
        "checklist": [{"text": "Saw", "done": false}, {"text": "Ladder", "done": false}],
        "allowed_resolvers": [resolver],
    });
    envelope
}

/// The member of an ask or a task that says who may resolve it, and where its Response goes.
pub(crate) fn block(envelope: &mut Value) -> &mut Value {
    let member = if envelope["type"] == "task" {
        "action"
    } else {
        "request"
    };
    &mut envelope[member]
}

/// The envelope with a member changed, by JSON pointer; what the member is in must be there.
pub(crate) fn with(mut envelope: Value, pointer: &str, value: Value) -> Value {
    if let Some((parent, member)) = pointer.rsplit_once('/')
        && let Some(members) = envelope.pointer_mut(parent).and_then(Value::as_object_mut)
    {
        members.insert(member.to_owned(), value);
    }
    envelope
}

/// The envelope without a member, by JSON pointer.
pub(crate) fn without(mut envelope: Value, pointer: &str) -> Value {
    if let Some((parent, member)) = pointer.rsplit_once('/')
        && let Some(members) = envelope.pointer_mut(parent).and_then(Value::as_object_mut)
    {
        members.remove(member);
    }
    envelope
}
