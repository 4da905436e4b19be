//! Signed documents of ours.

use anyhow::Context as _;
use ma2h::digest::sha256_hex;
use ma2h::sign::{SigningKey, VerifyingKey, sign};
use serde_json::Value;

use super::context::{Kind, Received};
use super::patch;
use super::spelling::equal;
use crate::report::Line;

/// A topic: one signed document, what must break its signature (`bound`) and what must not (`unbound`).
pub(super) fn prove(topic: &Value) -> anyhow::Result<Vec<Line>> {
    let text = |member: &str| {
        topic[member]
            .as_str()
            .with_context(|| format!("{member}: expected text"))
    };
    let (name, section) = (text("topic")?, text("section")?);
    let kind = Kind::parse(text("context")?).context("context: unknown")?;
    let (signing, verifying) = keys(&topic["key"])?;
    let received = Received {
        document: &topic["document"],
        destination: topic["destination"].as_str().unwrap_or_default(),
        t: text("t")?,
        jti: text("jti")?,
    };
    let expected = &topic["expect"];
    let outcome = reproduced(kind, &received, &signing, expected);
    let mut lines = vec![Line::of(section, format!("{name}: is reproduced"), outcome)];
    let v1 = expected["v1"].as_str().context("expect.v1: expected text")?;
    for (list, holds) in [("bound", false), ("unbound", true)] {
        for change in topic[list].as_array().into_iter().flatten() {
            let what = change["name"].as_str().context("name: expected text")?;
            let document = patch::applied(received.document, change).with_context(|| what.to_owned())?;
            let changed = Received {
                document: &document,
                destination: change["destination"].as_str().unwrap_or(received.destination),
                t: change["t"].as_str().unwrap_or(received.t),
                jti: change["jti"].as_str().unwrap_or(received.jti),
            };
            let verified = kind.verifies(&changed, &verifying, v1);
            let outcome = verified.and_then(|verified| equal("verifies", verified, holds));
            lines.push(Line::of(section, format!("{name}: {list}: {what}"), outcome));
        }
    }
    Ok(lines)
}

/// `{"hmac": "secret"}`, or `{"seed": "hex", "public": "hex"}` for ed25519.
fn keys(key: &Value) -> anyhow::Result<(SigningKey, VerifyingKey)> {
    if let Some(secret) = key["hmac"].as_str() {
        let secret = secret.as_bytes();
        return Ok((SigningKey::hmac(secret)?, VerifyingKey::hmac(secret)?));
    }
    let bytes = |member: &str| {
        let text = key[member]
            .as_str()
            .with_context(|| format!("key.{member}: expected text"))?;
        from_hex(text).with_context(|| format!("key.{member}: expected 64 hex digits"))
    };
    let public = VerifyingKey::ed25519(&bytes("public")?).context("key.public: is no key")?;
    Ok((SigningKey::ed25519(&bytes("seed")?), public))
}

fn from_hex(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[at * 2..at * 2 + 2], 16).ok()?;
    }
    Some(bytes)
}

/// Whether signing the document anew gives digest, text and signature of the fixture.
fn reproduced(kind: Kind, received: &Received<'_>, key: &SigningKey, expected: &Value) -> Result<(), String> {
    let digest = kind.digest(received.document)?;
    if let Some(payload) = expected["payload"].as_str() {
        equal(
            "digest of the payload's text",
            digest.as_str(),
            &sha256_hex(payload),
        )?;
    }
    let text = |member: &str| expected[member].as_str().unwrap_or_default();
    equal("digest", digest.as_str(), text("digest"))?;
    let canonical = kind.canonical(received)?;
    equal("canonical text", canonical.as_str(), text("canonical"))?;
    equal("v1", sign(key, &canonical).as_str(), text("v1"))
}
