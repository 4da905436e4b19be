//! The receiver's side of a push.

use super::context::{PushContext, payload_sha256};
use super::header::parse_header;
use super::key::{VerifyingKey, verify};
use crate::json::{self, Node};

/// What a verified push proves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// To be remembered for longer than the replay window, and refused the second time.
    pub jti: String,
    /// Unix seconds.
    pub t: i64,
    /// The message.
    pub in_reply_to: String,
    /// To act once upon.
    pub resolution_id: String,
    /// How it ended.
    pub resolution: String,
    /// Who ended it, where the Response says so.
    pub actor: Option<String>,
}

/// Why a push is not to be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// Not of the form `t=…,jti=…,v1=…`.
    #[error("malformed signature header")]
    Header,
    /// Signed too long ago, or too far ahead.
    #[error("signed outside the replay window")]
    Stale,
    /// Not a Response.
    #[error("malformed response")]
    Body,
    /// Signed by someone else, for something else, or for somewhere else.
    #[error("signature mismatch")]
    Signature,
}

/// Verifies a pushed Response as its receiver must (§9.2): `now` and `window_seconds` are the receiver's own, and so is
/// the memory of `jti`s seen.
pub fn verify_push(
    header: &str,
    body: &str,
    callback_url: &str,
    key: &VerifyingKey,
    now: i64,
    window_seconds: i64,
) -> Result<Verified, VerifyError> {
    let header = parse_header(header).ok_or(VerifyError::Header)?;
    let age_seconds = i128::from(now) - i128::from(header.t);
    if age_seconds.abs() > i128::from(window_seconds) {
        return Err(VerifyError::Stale);
    }
    let response = json::parse(body).map_err(|_| VerifyError::Body)?;
    let text = |name: &str| response.get(name).and_then(Node::as_str).ok_or(VerifyError::Body);
    let inner = |name: &str| {
        response
            .get("response")
            .and_then(|inner| inner.get(name)?.as_str())
    };
    let context = PushContext {
        ma2h_version: text("ma2h_version")?,
        callback_url,
        id: text("in_reply_to")?,
        in_reply_to: text("in_reply_to")?,
        jti: header.jti,
        payload_sha256: &payload_sha256(body).map_err(|_| VerifyError::Body)?,
        resolution: text("resolution")?,
        resolution_id: text("resolution_id")?,
        resolved_at: inner("resolved_at"),
        t: header.t,
    };
    let canonical = context.canonical().map_err(|_| VerifyError::Body)?;
    if !verify(key, &canonical, header.v1) {
        return Err(VerifyError::Signature);
    }
    Ok(Verified {
        jti: header.jti.to_owned(),
        t: header.t,
        in_reply_to: context.in_reply_to.to_owned(),
        resolution_id: context.resolution_id.to_owned(),
        resolution: context.resolution.to_owned(),
        actor: inner("actor").map(str::to_owned),
    })
}
