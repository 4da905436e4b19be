//! What is signed.

use serde_json::{Value, json};

use crate::digest::sha256_hex;
use crate::error::Problem;
use crate::{jcs, json};

/// The `signed_context` of a pushed Response.
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
    /// See [`payload_sha256`].
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

/// What the signature binds of the Response's content: the digest of its `response` and `state`, each `null` if absent.
pub fn payload_sha256(response_json_text: &str) -> Result<String, Problem> {
    let response = json::parse(response_json_text)?;
    let part = |name: &str| response.get(name).map_or(Value::Null, json::Node::to_value);
    let payload = json!({ "response": part("response"), "state": part("state") });
    Ok(sha256_hex(jcs::canonical(&payload)?))
}
