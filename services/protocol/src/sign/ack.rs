//! The signature of a pushed acknowledgement (§14.4), from both sides.

use super::context::AckContext;
use super::digest::of_ack;
use super::header::{Header, header_value};
use super::key::{SigningKey, VerifyingKey, sign};
use super::verify::{VerifyError, check_signature, fresh};
use crate::error::Problem;
use crate::fields::Fields;
use crate::json;

/// Signs one attempt: the value of its header. `t` and `jti` are new each time.
pub fn sign_ack(ack_json_text: &str, key: &SigningKey, t: i64, jti: &str) -> Result<String, Problem> {
    let v1 = sign(key, &canonical(ack_json_text, t, jti)?);
    Ok(header_value(t, jti, &v1))
}

/// Verifies a pushed acknowledgement with any of the keys; says by what header. The memory of `jti`s is the caller's.
pub fn verify_ack<'h>(
    header: &'h str,
    body: &str,
    keys: &[VerifyingKey],
    now: i64,
    window_seconds: i64,
) -> Result<Header<'h>, VerifyError> {
    let header = fresh(header, now, window_seconds)?;
    let canonical = canonical(body, header.t, header.jti).map_err(|_| VerifyError::Body)?;
    check_signature(keys, &canonical, &header)?;
    Ok(header)
}

fn canonical(ack_json_text: &str, t: i64, jti: &str) -> Result<String, Problem> {
    let ack = json::parse(ack_json_text)?;
    let fields = Fields::of(&ack, "")?;
    AckContext {
        ma2h_version: fields.text("ma2h_version")?,
        in_reply_to: fields.text("in_reply_to")?,
        by: fields.text("by")?,
        ack_sha256: &of_ack(&ack)?,
        jti,
        t,
    }
    .canonical()
}
