//! What faults are made of.

use serde_json::{Value, json};

use super::{Exchange, Fault, Lie};
use crate::live::api::Reply;
use crate::live::envelope::unique;
use crate::live::receiver::Push;

pub(super) const fn reply(
    name: &'static str,
    lie: fn(&Exchange<'_>, &mut Reply),
    noticed_by: &'static [&'static str],
) -> Fault {
    Fault {
        name,
        noticed_by,
        lie: Lie::Reply(lie),
    }
}

pub(super) const fn body(
    name: &'static str,
    lie: fn(&Exchange<'_>, &mut Value),
    noticed_by: &'static [&'static str],
) -> Fault {
    Fault {
        name,
        noticed_by,
        lie: Lie::Json(lie),
    }
}

pub(super) const fn push(
    name: &'static str,
    lie: fn(&mut Push),
    noticed_by: &'static [&'static str],
) -> Fault {
    Fault {
        name,
        noticed_by,
        lie: Lie::Push(lie),
    }
}

/// Refused, but with another status.
pub(super) fn restate(reply: &mut Reply, from: u16, to: u16, code: &str) {
    if reply.status == from {
        reply.status = to;
        reply.text = json!({"error": {"code": code, "message": "refused"}}).to_string();
    }
}

/// Refused, but said to be done.
pub(super) fn pretend(reply: &mut Reply, from: u16, to: u16, body: &Value) {
    if reply.status == from {
        reply.status = to;
        reply.text = body.to_string();
    }
}

pub(super) fn ack(status: &str) -> Value {
    let id = format!("msg_{}", unique());
    json!({"id": id, "status": status, "poll_url": format!("https://hub.example/v1/messages/{id}")})
}

pub(super) fn resolved() -> Value {
    json!({"id": "msg_1", "status": "answered", "resolution_id": format!("res_{}", unique())})
}

/// Sets a member where what it is in is there.
pub(super) fn set(body: &mut Value, parent: &str, member: &str, value: Value) {
    if let Some(members) = body.pointer_mut(parent).and_then(Value::as_object_mut) {
        members.insert(member.to_owned(), value);
    }
}

/// Changes a member that is there.
pub(super) fn change(body: &mut Value, pointer: &str, to: impl FnOnce(&Value) -> Value) {
    if let Some(found) = body.pointer_mut(pointer) {
        *found = to(found);
    }
}

pub(super) fn take(body: &mut Value, parent: &str, member: &str) {
    if let Some(members) = body.pointer_mut(parent).and_then(Value::as_object_mut) {
        members.remove(member);
    }
}

/// Every entry of a drain, with its kind.
pub(super) fn entries(exchange: &Exchange<'_>, body: &mut Value, kind: &str, alter: impl Fn(&mut Value)) {
    if exchange.call.path.starts_with("/v1/inbox") {
        for item in body["messages"].as_array_mut().into_iter().flatten() {
            if let Some(entry) = item.get_mut(kind) {
                alter(entry);
            }
        }
    }
}

/// The signature header of a push, changed.
pub(super) fn header(push: &mut Push, alter: impl FnOnce(&str) -> String) {
    let value = push
        .headers
        .get("ma2h-signature")
        .and_then(|value| value.to_str().ok());
    if let Some(altered) = value.and_then(|value| alter(value).parse().ok()) {
        push.headers.insert("ma2h-signature", altered);
    }
}
