//! What the signatures bind of a payload: the SHA-256 of the canonical form of its content.
//!
//! Each is computed by signer and receiver alike from the text that is sent, and never sent itself.

use serde_json::{Map, Value};

use crate::digest::sha256_hex;
use crate::error::Problem;
use crate::json::{self, Node};
use crate::{EntryKind, jcs};

/// Of a directive, what its author says (§9.7).
const DIRECTIVE_CONTENT: [&str; 5] = ["title", "body", "priority", "tags", "context"];
/// Of a `message` entry, what its addressee acts upon (§9.8). `sensitive` is among it: the addressee obeys it.
const MESSAGE_CONTENT: [&str; 9] = [
    "type",
    "title",
    "body",
    "priority",
    "tags",
    "context",
    "request",
    "action",
    "sensitive",
];
/// Of a Response (§9.2).
const RESPONSE_MEMBERS: [&str; 2] = ["response", "state"];
/// Of a receipt (§9.8).
const RECEIPT_MEMBERS: [&str; 6] = ["at", "event", "id", "in_reply_to", "prior", "session"];
/// Of an acknowledgement (§14.4).
const ACK_MEMBERS: [&str; 5] = ["acked_at", "by", "in_reply_to", "note", "resolution_id"];

/// Of a Response: its `response` and `state`, each `null` if absent. The same for a push and a mailbox entry.
pub fn payload_sha256(response_json_text: &str) -> Result<String, Problem> {
    fixed(&json::parse(response_json_text)?, &RESPONSE_MEMBERS)
}

/// Of a directive: what is there of its title, body, priority, tags and context.
pub fn directive_sha256(directive_json_text: &str) -> Result<String, Problem> {
    of_entry(EntryKind::Directive, &json::parse(directive_json_text)?)
}

/// Of a `message` entry: what is there of its type, its `sensitive`, its request or action, and what a directive has.
pub fn message_sha256(message_json_text: &str) -> Result<String, Problem> {
    of_entry(EntryKind::Message, &json::parse(message_json_text)?)
}

/// Of a receipt: all but the version, the type and the addressee; `null` where absent.
pub fn receipt_sha256(receipt_json_text: &str) -> Result<String, Problem> {
    of_entry(EntryKind::Receipt, &json::parse(receipt_json_text)?)
}

/// Of an acknowledgement: all but the version and the type; `null` where absent.
pub fn ack_sha256(ack_json_text: &str) -> Result<String, Problem> {
    of_ack(&json::parse(ack_json_text)?)
}

pub(super) fn of_entry(kind: EntryKind, payload: &Node<'_>) -> Result<String, Problem> {
    match kind {
        EntryKind::Directive => present(payload, "directive", &DIRECTIVE_CONTENT),
        EntryKind::Message => present(payload, "message", &MESSAGE_CONTENT),
        EntryKind::Response => fixed(payload, &RESPONSE_MEMBERS),
        EntryKind::Receipt => fixed(payload, &RECEIPT_MEMBERS),
    }
}

pub(super) fn of_ack(ack: &Node<'_>) -> Result<String, Problem> {
    fixed(ack, &ACK_MEMBERS)
}

/// Only the members that are there, in a wrapper: to add or drop one is to change the content.
fn present(payload: &Node<'_>, wrapper: &str, names: &[&str]) -> Result<String, Problem> {
    let members = names
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), payload.get(name)?.to_value())));
    let content = Value::Object(members.collect());
    digest(Map::from_iter([(wrapper.to_owned(), content)]))
}

/// All the members, `null` for those that are not there.
fn fixed(payload: &Node<'_>, names: &[&str]) -> Result<String, Problem> {
    let member = |name: &&str| {
        let value = payload.get(name).map_or(Value::Null, Node::to_value);
        ((*name).to_owned(), value)
    };
    digest(names.iter().map(member).collect())
}

fn digest(object: Map<String, Value>) -> Result<String, Problem> {
    jcs::canonical(&Value::Object(object)).map(sha256_hex)
}
