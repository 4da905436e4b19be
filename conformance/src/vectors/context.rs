//! What a receiver puts together again from what it got, to see whether that was signed.

use std::slice;

use ma2h::EntryKind;
use ma2h::error::Problem;
use ma2h::sign::{
    AckContext, Entry, PushContext, VerifyError, VerifyingKey, ack_sha256, directive_sha256, header_value,
    message_sha256, payload_sha256, receipt_sha256, verify_ack, verify_entry, verify_push,
};
use serde_json::Value;

/// Seconds a receiver's clock may be off; the fixtures are verified at the time they were signed.
const WINDOW_SECONDS: i64 = 120;

/// What can be signed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A Response on its way to a callback (§9.2).
    Push,
    /// An entry of a mailbox (§9.7, §9.8).
    Entry(EntryKind),
    /// An acknowledgement on its way to a human's client (§14.4).
    Ack,
}

/// One delivery as its receiver sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Received<'a> {
    pub(super) document: &'a Value,
    /// What the receiver knows of itself: its callback's URL, or the address it drains as.
    pub(super) destination: &'a str,
    pub(super) t: &'a str,
    pub(super) jti: &'a str,
}

impl Kind {
    /// As the vectors name it.
    pub(super) fn parse(name: &str) -> Option<Self> {
        match name {
            "push" => Some(Self::Push),
            "ack" => Some(Self::Ack),
            name => EntryKind::ALL
                .into_iter()
                .find(|kind| kind.as_str() == name)
                .map(Self::Entry),
        }
    }

    /// The digest of what the signature binds of the document's content.
    pub(super) fn digest(self, document: &Value) -> Result<String, String> {
        let text = &document.to_string();
        let digest = match self {
            Self::Push | Self::Entry(EntryKind::Response) => payload_sha256(text),
            Self::Entry(EntryKind::Directive) => directive_sha256(text),
            Self::Entry(EntryKind::Message) => message_sha256(text),
            Self::Entry(EntryKind::Receipt) => receipt_sha256(text),
            Self::Ack => ack_sha256(text),
        };
        digest.map_err(told)
    }

    /// The text that must have been signed.
    pub(super) fn canonical(self, received: &Received<'_>) -> Result<String, String> {
        match self {
            Self::Push => push(received),
            Self::Ack => ack(received),
            Self::Entry(kind) => {
                let payload = &received.document.to_string();
                let entry = entry(kind, payload, received);
                entry.canonical(seconds(received.t)?, received.jti).map_err(told)
            }
        }
    }

    /// Whether the receiver believes it, with a signature `v1` beside it.
    pub(super) fn verifies(
        self,
        received: &Received<'_>,
        key: &VerifyingKey,
        v1: &str,
    ) -> Result<bool, String> {
        let (body, now) = (&received.document.to_string(), seconds(received.t)?);
        let header = header_value(now, received.jti, v1);
        let verified = match self {
            Self::Push => {
                verify_push(&header, body, received.destination, key, now, WINDOW_SECONDS).map(drop)
            }
            Self::Ack => verify_ack(&header, body, slice::from_ref(key), now, WINDOW_SECONDS).map(drop),
            Self::Entry(kind) => {
                let signature = format!("{}: {header}", ma2h::sign::HEADER_NAME);
                let entry = entry(kind, body, received);
                verify_entry(&signature, &entry, slice::from_ref(key), now, WINDOW_SECONDS).map(drop)
            }
        };
        match verified {
            Ok(()) => Ok(true),
            Err(VerifyError::Signature) => Ok(false),
            // Refused, but for another reason than the fixture is about.
            Err(other) => Err(other.to_string()),
        }
    }
}

fn entry<'a>(kind: EntryKind, payload: &'a str, received: &Received<'a>) -> Entry<'a> {
    Entry {
        kind,
        payload,
        session_address: received.destination,
    }
}

fn push(received: &Received<'_>) -> Result<String, String> {
    let document = received.document;
    let context = PushContext {
        ma2h_version: text(document, "ma2h_version")?,
        callback_url: received.destination,
        id: text(document, "in_reply_to")?,
        in_reply_to: text(document, "in_reply_to")?,
        jti: received.jti,
        payload_sha256: &Kind::Push.digest(document)?,
        resolution: text(document, "resolution")?,
        resolution_id: text(document, "resolution_id")?,
        resolved_at: document["response"]["resolved_at"].as_str(),
        t: seconds(received.t)?,
    };
    context.canonical().map_err(told)
}

fn ack(received: &Received<'_>) -> Result<String, String> {
    let document = received.document;
    let context = AckContext {
        ma2h_version: text(document, "ma2h_version")?,
        in_reply_to: text(document, "in_reply_to")?,
        by: text(document, "by")?,
        ack_sha256: &Kind::Ack.digest(document)?,
        jti: received.jti,
        t: seconds(received.t)?,
    };
    context.canonical().map_err(told)
}

fn text<'a>(document: &'a Value, name: &str) -> Result<&'a str, String> {
    document[name]
        .as_str()
        .ok_or_else(|| format!("{name}: expected text"))
}

fn seconds(text: &str) -> Result<i64, String> {
    text.parse()
        .map_err(|_| format!("t: expected seconds, got {text}"))
}

#[expect(clippy::needless_pass_by_value, reason = "as map_err hands it over")]
fn told(problem: Problem) -> String {
    problem.to_string()
}
