//! What is left of a delivery once it is believed: its shape checked, and what is not known taken out.

use ma2h_schema::{Edition, Noun, document, entry};

use super::refusal::Refusal;
use crate::EntryKind;
use crate::json::{Member, Node, quoted};
use crate::sign::VerifyError;
use crate::version::{HUB_MINOR, Version};

/// A delivery that an agent may act upon, once.
///
/// The signature covers the instruction, its author and its addressee. `created_at`, `expires_at`, the `agent` of a
/// message or a Response, `defaulted`, and the `sensitive` of a directive are known members that it does not cover: no
/// decision hangs on them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// Its kind; a pushed Response is a response.
    pub kind: EntryKind,
    /// The version it declares, `0.minor`.
    pub minor: u32,
    /// By which its mailbox entry is acknowledged.
    pub ack_key: String,
    /// What is done at most once, the same on every channel and at every repetition.
    pub work: String,
    /// The attested author of a directive or a message.
    pub from: Option<String>,
    /// The payload: the members that its kind knows, each as it was sent. What else came along nobody signed, so it is
    /// gone; it never reaches a prompt.
    pub payload: String,
}

/// Members that a kind knows, and those that its `agent` does.
fn known(kind: EntryKind) -> (&'static [&'static str], &'static [&'static str]) {
    match kind {
        EntryKind::Directive => (
            &[
                "ma2h_version",
                "type",
                "id",
                "from",
                "to",
                "created_at",
                "title",
                "body",
                "priority",
                "tags",
                "context",
                "expires_at",
                "sensitive",
            ],
            &[],
        ),
        EntryKind::Message => (
            &[
                "ma2h_version",
                "type",
                "id",
                "from",
                "to",
                "created_at",
                "agent",
                "title",
                "body",
                "priority",
                "tags",
                "context",
                "request",
                "action",
                "idempotency_key",
                "expires_at",
                "sensitive",
            ],
            &["id", "run_id", "runtime", "session", "project", "labels"],
        ),
        EntryKind::Response => (
            &[
                "ma2h_version",
                "in_reply_to",
                "resolution_id",
                "agent",
                "resolution",
                "response",
                "defaulted",
                "state",
            ],
            &["id", "run_id"],
        ),
        EntryKind::Receipt => (
            &[
                "ma2h_version",
                "type",
                "id",
                "in_reply_to",
                "event",
                "prior",
                "at",
                "session",
                "to",
            ],
            &[],
        ),
    }
}

impl Delivered {
    /// Checks a mailbox entry against its own kind, and strips it.
    pub(super) fn entry(kind: EntryKind, payload: &Node<'_>) -> Result<Delivered, Refusal> {
        let minor = minor(payload);
        entry::check_shape(minor, kind, &payload.to_value()).map_err(Refusal::Shape)?;
        Delivered::strip(kind, minor, payload)
    }

    /// The same of a pushed Response, which may be older than the mailbox.
    pub(super) fn push(payload: &Node<'_>) -> Result<Delivered, Refusal> {
        let minor = minor(payload);
        document::check(Edition::of(minor), Noun::Response, &payload.to_value()).map_err(Refusal::Shape)?;
        Delivered::strip(EntryKind::Response, minor, payload)
    }

    fn strip(kind: EntryKind, minor: u32, payload: &Node<'_>) -> Result<Delivered, Refusal> {
        // The shape has all of these; a kind whose schema lost one must not go on without.
        let text = |name: &str| {
            let text = payload.get(name).and_then(Node::as_str);
            text.ok_or(Refusal::Unverified(VerifyError::Body))
        };
        let (ack_key, work) = match kind {
            EntryKind::Directive | EntryKind::Message => (text("id")?, vec![kind.as_str(), text("id")?]),
            EntryKind::Response => (
                text("resolution_id")?,
                vec![kind.as_str(), text("in_reply_to")?, text("resolution_id")?],
            ),
            EntryKind::Receipt => (
                text("id")?,
                vec![kind.as_str(), text("in_reply_to")?, text("event")?],
            ),
        };
        let from = match kind {
            EntryKind::Directive | EntryKind::Message => Some(text("from")?.to_owned()),
            EntryKind::Response | EntryKind::Receipt => None,
        };
        let (names, agent_names) = known(kind);
        Ok(Delivered {
            kind,
            minor,
            ack_key: ack_key.to_owned(),
            work: format!("[{}]", work.into_iter().map(quoted).collect::<Vec<_>>().join(",")),
            from,
            payload: only(payload, names, &|member| match &*member.name {
                "agent" => only(&member.node, agent_names, &|inner| inner.text.to_owned()),
                _ => member.text.to_owned(),
            }),
        })
    }
}

/// The minor that a payload declares. What is no version the shape refuses, whatever is returned here.
fn minor(payload: &Node<'_>) -> u32 {
    let declared = payload.get("ma2h_version").and_then(Node::as_str);
    declared
        .and_then(|text| Version::parse(text).ok())
        .map_or(HUB_MINOR, Version::minor)
}

/// An object with the members of those names only, in the order they came, each written by `text`.
fn only(object: &Node<'_>, names: &[&str], text: &dyn Fn(&Member<'_>) -> String) -> String {
    let Node::Object(members) = object else {
        return "{}".to_owned();
    };
    let kept: Vec<String> = members
        .iter()
        .filter(|member| names.contains(&&*member.name))
        .map(|member| format!("{}:{}", quoted(&member.name), text(member)))
        .collect();
    format!("{{{}}}", kept.join(","))
}
