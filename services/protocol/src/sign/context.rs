//! What is signed: one canonical text per delivery, in which the content stands by its digest.

use serde_json::json;

use crate::error::Problem;
use crate::jcs;

/// The `signed_context` of a pushed Response (§9.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PushContext<'a> {
    /// Of the Response.
    pub ma2h_version: &'a str,
    /// As the envelope has it.
    pub callback_url: &'a str,
    /// The message.
    pub id: &'a str,
    /// The message again.
    pub in_reply_to: &'a str,
    /// New for every attempt.
    pub jti: &'a str,
    /// See [`super::payload_sha256`].
    pub payload_sha256: &'a str,
    /// How it ended.
    pub resolution: &'a str,
    /// The one resolution.
    pub resolution_id: &'a str,
    /// `null` where the Response has no inner object.
    pub resolved_at: Option<&'a str>,
    /// Unix seconds; signed as decimal text.
    pub t: i64,
}

impl PushContext<'_> {
    /// The text that is signed.
    pub fn canonical(&self) -> Result<String, Problem> {
        jcs::canonical(&json!({
            "ma2h_version": self.ma2h_version,
            "callback_url": self.callback_url,
            "id": self.id,
            "in_reply_to": self.in_reply_to,
            "jti": self.jti,
            "payload_sha256": self.payload_sha256,
            "resolution": self.resolution,
            "resolution_id": self.resolution_id,
            "resolved_at": self.resolved_at,
            "t": self.t.to_string(),
        }))
    }
}

/// The context of what commands an agent: a directive (§9.7) or a `message` entry (§9.8), which have the same members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandContext<'a> {
    /// Of the entry.
    pub ma2h_version: &'a str,
    /// The attested author.
    pub from: &'a str,
    /// Of the directive or the message.
    pub id: &'a str,
    /// The addressee, as the entry names it.
    pub to: &'a str,
    /// See [`super::directive_sha256`] and [`super::message_sha256`].
    pub payload_sha256: &'a str,
    /// New for every delivery.
    pub jti: &'a str,
    /// Unix seconds; signed as decimal text.
    pub t: i64,
}

impl CommandContext<'_> {
    /// The text that is signed.
    pub fn canonical(&self) -> Result<String, Problem> {
        jcs::canonical(&json!({
            "ma2h_version": self.ma2h_version,
            "from": self.from,
            "id": self.id,
            "jti": self.jti,
            "payload_sha256": self.payload_sha256,
            "t": self.t.to_string(),
            "to": self.to,
        }))
    }
}

/// The context of a `response` entry (§9.8): a push's, with the session it is for in place of the callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponseContext<'a> {
    /// Of the Response.
    pub ma2h_version: &'a str,
    /// The message, which is its `id` as well.
    pub in_reply_to: &'a str,
    /// How it ended.
    pub resolution: &'a str,
    /// The one resolution.
    pub resolution_id: &'a str,
    /// `null` where the Response has no inner object.
    pub resolved_at: Option<&'a str>,
    /// See [`super::payload_sha256`].
    pub payload_sha256: &'a str,
    /// The session it is delivered to: `agent:<id>#sess_…`.
    pub to: &'a str,
    /// New for every delivery.
    pub jti: &'a str,
    /// Unix seconds; signed as decimal text.
    pub t: i64,
}

impl ResponseContext<'_> {
    /// The text that is signed.
    pub fn canonical(&self) -> Result<String, Problem> {
        jcs::canonical(&json!({
            "ma2h_version": self.ma2h_version,
            "id": self.in_reply_to,
            "in_reply_to": self.in_reply_to,
            "jti": self.jti,
            "payload_sha256": self.payload_sha256,
            "resolution": self.resolution,
            "resolution_id": self.resolution_id,
            "resolved_at": self.resolved_at,
            "t": self.t.to_string(),
            "to": self.to,
        }))
    }
}

/// The context of a `receipt` entry (§9.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiptContext<'a> {
    /// Of the receipt.
    pub ma2h_version: &'a str,
    /// The message it is about.
    pub in_reply_to: &'a str,
    /// See [`super::receipt_sha256`].
    pub receipt_sha256: &'a str,
    /// The session it is delivered to: `agent:<id>#sess_…`.
    pub to: &'a str,
    /// New for every delivery.
    pub jti: &'a str,
    /// Unix seconds; signed as decimal text.
    pub t: i64,
}

impl ReceiptContext<'_> {
    /// The text that is signed.
    pub fn canonical(&self) -> Result<String, Problem> {
        jcs::canonical(&json!({
            "ma2h_version": self.ma2h_version,
            "in_reply_to": self.in_reply_to,
            "jti": self.jti,
            "receipt_sha256": self.receipt_sha256,
            "t": self.t.to_string(),
            "to": self.to,
        }))
    }
}

/// The context of a pushed acknowledgement (§14.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckContext<'a> {
    /// Of the acknowledgement.
    pub ma2h_version: &'a str,
    /// What is acknowledged.
    pub in_reply_to: &'a str,
    /// The attested party.
    pub by: &'a str,
    /// See [`super::ack_sha256`].
    pub ack_sha256: &'a str,
    /// New for every attempt.
    pub jti: &'a str,
    /// Unix seconds; signed as decimal text.
    pub t: i64,
}

impl AckContext<'_> {
    /// The text that is signed.
    pub fn canonical(&self) -> Result<String, Problem> {
        jcs::canonical(&json!({
            "ma2h_version": self.ma2h_version,
            "ack_sha256": self.ack_sha256,
            "by": self.by,
            "in_reply_to": self.in_reply_to,
            "jti": self.jti,
            "t": self.t.to_string(),
        }))
    }
}
