//! The signature of a mailbox entry (§9.7, §9.8), from both sides.

use super::context::{CommandContext, ReceiptContext, ResponseContext};
use super::digest::of_entry;
use super::header::{Header, entry_header, entry_signature};
use super::key::{SigningKey, VerifyingKey, sign};
use super::verify::{VerifyError, check_signature, fresh};
use crate::EntryKind;
use crate::error::Problem;
use crate::fields::Fields;
use crate::json::{self, Node, quoted};

/// What is delivered to a mailbox, as the one who signs or verifies it has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Its kind.
    pub kind: EntryKind,
    /// The payload, as it is sent.
    pub payload: &'a str,
    /// The session that drains, `agent:<id>#sess_…`. It binds a response and a receipt to where they are delivered; the
    /// receiver takes its own, not what it was sent. The other kinds name their addressee themselves.
    pub session_address: &'a str,
}

impl Entry<'_> {
    /// The text that is signed for the delivery named by `t` and `jti`.
    pub fn canonical(&self, t: i64, jti: &str) -> Result<String, Problem> {
        let payload = json::parse(self.payload)?;
        let fields = Fields::of(&payload, "")?;
        let ma2h_version = fields.text("ma2h_version")?;
        let digest = of_entry(self.kind, &payload)?;
        match self.kind {
            EntryKind::Directive | EntryKind::Message => CommandContext {
                ma2h_version,
                from: fields.text("from")?,
                id: fields.text("id")?,
                to: fields.text("to")?,
                payload_sha256: &digest,
                jti,
                t,
            }
            .canonical(),
            EntryKind::Response => ResponseContext {
                ma2h_version,
                in_reply_to: fields.text("in_reply_to")?,
                resolution: fields.text("resolution")?,
                resolution_id: fields.text("resolution_id")?,
                resolved_at: resolved_at(&payload),
                payload_sha256: &digest,
                to: self.session_address,
                jti,
                t,
            }
            .canonical(),
            EntryKind::Receipt => ReceiptContext {
                ma2h_version,
                in_reply_to: fields.text("in_reply_to")?,
                receipt_sha256: &digest,
                to: self.session_address,
                jti,
                t,
            }
            .canonical(),
        }
    }
}

/// Signs one delivery: the text that goes beside the payload. `t` and `jti` are new each time (§9.7).
pub fn sign_entry(entry: &Entry<'_>, key: &SigningKey, t: i64, jti: &str) -> Result<String, Problem> {
    let v1 = sign(key, &entry.canonical(t, jti)?);
    Ok(entry_signature(t, jti, &v1))
}

/// One element of a drain's `messages`: the payload, byte for byte, and its signature.
pub fn drained_item(kind: EntryKind, payload: &str, signature: &str) -> String {
    let signature = quoted(signature);
    format!("{{\"{}\":{payload},\"signature\":{signature}}}", kind.as_str())
}

/// Verifies what a drain gave, with any of the keys; says by what header. What else its receiver owes is in
/// [`crate::agent`].
pub fn verify_entry<'s>(
    signature: &'s str,
    entry: &Entry<'_>,
    keys: &[VerifyingKey],
    now: i64,
    window_seconds: i64,
) -> Result<Header<'s>, VerifyError> {
    let header = entry_header(signature).ok_or(VerifyError::Header)?;
    verify_entry_header(header, entry, keys, now, window_seconds)
}

/// Like [`verify_entry`], where the signature came as the value of an HTTP header: a directive's to a webhook.
pub fn verify_entry_header<'h>(
    header: &'h str,
    entry: &Entry<'_>,
    keys: &[VerifyingKey],
    now: i64,
    window_seconds: i64,
) -> Result<Header<'h>, VerifyError> {
    let header = fresh(header, now, window_seconds)?;
    let canonical = entry.canonical(header.t, header.jti);
    check_signature(keys, &canonical.map_err(|_| VerifyError::Body)?, &header)?;
    Ok(header)
}

/// When a Response says that it ended; of one without an inner object nothing (§9.8).
pub(super) fn resolved_at<'n>(response: &'n Node<'_>) -> Option<&'n str> {
    response.get("response")?.get("resolved_at")?.as_str()
}
