//! The receiver's side of a push.

use std::slice;

use super::context::PushContext;
use super::digest::of_entry;
use super::entry::resolved_at;
use super::header::{Header, parse_header};
use super::key::{VerifyingKey, verify};
use crate::EntryKind;
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

/// Why something signed is not to be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// Not of the form `t=…,jti=…,v1=…`.
    #[error("malformed signature header")]
    Header,
    /// Signed too long ago, or too far ahead.
    #[error("signed outside the replay window")]
    Stale,
    /// Without the members that its signature binds.
    #[error("malformed body")]
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
    let keys = slice::from_ref(key);
    verify_push_with_any(header, body, callback_url, keys, now, window_seconds)
}

/// Like [`verify_push`], with any of several keys: while one is rotated, two are valid.
pub fn verify_push_with_any(
    header: &str,
    body: &str,
    callback_url: &str,
    keys: &[VerifyingKey],
    now: i64,
    window_seconds: i64,
) -> Result<Verified, VerifyError> {
    let header = fresh(header, now, window_seconds)?;
    let response = json::parse(body).map_err(|_| VerifyError::Body)?;
    let text = |name: &str| response.get(name).and_then(Node::as_str).ok_or(VerifyError::Body);
    let digest = of_entry(EntryKind::Response, &response).map_err(|_| VerifyError::Body)?;
    let context = PushContext {
        ma2h_version: text("ma2h_version")?,
        callback_url,
        id: text("in_reply_to")?,
        in_reply_to: text("in_reply_to")?,
        jti: header.jti,
        payload_sha256: &digest,
        resolution: text("resolution")?,
        resolution_id: text("resolution_id")?,
        resolved_at: resolved_at(&response),
        t: header.t,
    };
    let canonical = context.canonical().map_err(|_| VerifyError::Body)?;
    check_signature(keys, &canonical, &header)?;
    let actor = response.get("response").and_then(|inner| inner.get("actor"));
    Ok(Verified {
        jti: header.jti.to_owned(),
        t: header.t,
        in_reply_to: context.in_reply_to.to_owned(),
        resolution_id: context.resolution_id.to_owned(),
        resolution: context.resolution.to_owned(),
        actor: actor.and_then(Node::as_str).map(str::to_owned),
    })
}

/// The header, if it was made within the window around `now`.
pub(super) fn fresh(header: &str, now: i64, window_seconds: i64) -> Result<Header<'_>, VerifyError> {
    let header = parse_header(header).ok_or(VerifyError::Header)?;
    let age_seconds = i128::from(now) - i128::from(header.t);
    if age_seconds.abs() > i128::from(window_seconds) {
        return Err(VerifyError::Stale);
    }
    Ok(header)
}

/// Whether one of the keys made the header's signature over that text.
pub(super) fn check_signature(
    keys: &[VerifyingKey],
    canonical: &str,
    header: &Header<'_>,
) -> Result<(), VerifyError> {
    if keys.iter().any(|key| verify(key, canonical, header.v1)) {
        Ok(())
    } else {
        Err(VerifyError::Signature)
    }
}
