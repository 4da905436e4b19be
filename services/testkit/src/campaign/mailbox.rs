//! What drains and tracks say of a mailbox, as their clients understand it.

use ma2h::EntryKind;
use ma2h::sign::{Entry, VerifyingKey, verify_entry};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use time::OffsetDateTime;

/// How far the time of a signature may be from that of its arrival. Clocks are put off by more than that.
const SIGNED_WITHIN_SECONDS: i64 = 30;

/// A directive that a drain gave.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Shown {
    /// Its id, which is its ack key.
    pub(crate) id: String,
    /// Its title, which is its name.
    pub(crate) name: String,
    /// Who wrote it, as the hub attests.
    pub(crate) from: String,
    /// To whom.
    pub(crate) to: String,
    /// What names the delivery.
    pub(crate) jti: String,
    /// What is wrong with its signature, or with the time that it names.
    pub(crate) fault: Option<String>,
}

/// How far a directive got.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Track {
    /// The directive.
    pub(crate) id: String,
    /// Where it is.
    pub(crate) state: String,
    /// The acknowledgement, once there is one.
    pub(crate) ack: Option<Value>,
}

/// An element of a drain's `messages`.
#[derive(Deserialize)]
struct Item {
    directive: Box<RawValue>,
    signature: String,
}

#[derive(Deserialize)]
struct Batch {
    messages: Vec<Item>,
}

/// What a drain answered, each entry verified as its agent must; none if it is no answer of a drain.
pub(super) fn shown(text: &str, secret: &str, now: OffsetDateTime) -> Option<Vec<Shown>> {
    let batch: Batch = serde_json::from_str(text).ok()?;
    let keys = [VerifyingKey::hmac(secret.as_bytes()).ok()?];
    let items = batch.messages.iter().map(|item| {
        let directive: Value = serde_json::from_str(item.directive.get()).ok()?;
        let text_at = |name: &str| directive[name].as_str().map(str::to_owned);
        let entry = Entry {
            kind: EntryKind::Directive,
            payload: item.directive.get(),
            session_address: "",
        };
        let now = now.unix_timestamp();
        let verified = verify_entry(&item.signature, &entry, &keys, now, SIGNED_WITHIN_SECONDS);
        Some(Shown {
            id: text_at("id")?,
            name: text_at("title")?,
            from: text_at("from")?,
            to: text_at("to")?,
            jti: verified
                .as_ref()
                .map_or(String::new(), |header| header.jti.to_owned()),
            fault: verified.err().map(|error| format!("{error}: {}", item.signature)),
        })
    });
    items.collect()
}

impl Track {
    /// Of an answer that holds a directive and its track.
    pub(super) fn of(body: &Value) -> Option<Self> {
        let ack = body["delivery"].get("ack");
        Some(Self {
            id: body["directive"]["id"].as_str()?.to_owned(),
            state: body["delivery"]["state"].as_str()?.to_owned(),
            ack: ack.cloned(),
        })
    }
}
