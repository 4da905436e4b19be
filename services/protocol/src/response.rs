//! The Response (§6), written once and the same on every channel.

use serde_json::value::RawValue;
use time::OffsetDateTime;

use crate::json::{self, quoted};
use crate::resolution::Resolution;
use crate::timestamp;

/// What a Response says.
#[derive(Clone, Copy, Debug)]
pub struct ResponseParts<'a> {
    /// The version of its message.
    pub version: &'a str,
    /// The message it answers.
    pub message_id: &'a str,
    /// The one resolution the message has.
    pub resolution_id: &'a str,
    /// Who asked.
    pub agent_id: &'a str,
    /// In which run.
    pub run_id: &'a str,
    /// How it ended.
    pub resolution: Resolution,
    /// Whether `default_on_expire` applied.
    pub defaulted: bool,
    /// Hub-attested.
    pub actor: &'a str,
    /// When it ended.
    pub resolved_at: OffsetDateTime,
    /// The [`crate::resolve::Answer::detail`].
    pub detail: &'a str,
    /// The agent's own, as it was written.
    pub state: Option<&'a RawValue>,
    /// Of an ask the inner `response` is never absent.
    pub is_ask: bool,
}

/// The Response as JSON text. `state`, and what the resolver wrote, stand in it byte for byte.
pub fn compose(parts: &ResponseParts<'_>) -> String {
    let mut members = vec![
        member("ma2h_version", &quoted(parts.version)),
        member("in_reply_to", &quoted(parts.message_id)),
        member("resolution_id", &quoted(parts.resolution_id)),
        member("agent", &agent(parts)),
        member("resolution", &quoted(parts.resolution.as_str())),
    ];
    members.extend(inner(parts).map(|inner| member("response", &inner)));
    if parts.defaulted {
        members.push(member("defaulted", "true"));
    }
    members.extend(parts.state.map(|state| member("state", state.get())));
    object(&members)
}

/// The `state` of an envelope, byte for byte.
pub fn state_of(envelope_text: &str) -> Option<&RawValue> {
    json::member(envelope_text, "state")
}

fn agent(parts: &ResponseParts<'_>) -> String {
    object(&[
        member("id", &quoted(parts.agent_id)),
        member("run_id", &quoted(parts.run_id)),
    ])
}

/// The inner object; a task has one only where there is a comment or a checklist to carry (§6).
fn inner(parts: &ResponseParts<'_>) -> Option<String> {
    let detail = inside(parts.detail);
    if !parts.is_ask && detail.is_empty() {
        return None;
    }
    let mut members = vec![
        member("actor", &quoted(parts.actor)),
        member("resolved_at", &quoted(&timestamp::format(parts.resolved_at))),
    ];
    if !detail.is_empty() {
        members.insert(0, detail.to_owned());
    }
    Some(object(&members))
}

/// What stands between an object's braces.
fn inside(object_text: &str) -> &str {
    let text = object_text.trim();
    let opened = text.strip_prefix('{').unwrap_or(text);
    opened.strip_suffix('}').unwrap_or(opened).trim()
}

fn member(name: &str, text: &str) -> String {
    format!("\"{name}\":{text}")
}

fn object(members: &[String]) -> String {
    format!("{{{}}}", members.join(","))
}

#[cfg(test)]
mod tests;
