//! The published format: one vector a file, what it holds told by its id.

use std::time::Duration;

use anyhow::Context as _;
use ma2h::EntryKind;
use ma2h::digest::sha256_hex;
use ma2h::sign::{SigningKey, VerifyingKey, decode_mac, sign};
use serde_json::{Value, json};

use super::context::{Kind, Received};
use super::schema::{Schemas, Target, verdict};
use super::spelling::equal;
use crate::report::{Line, Status};

/// Proves one vector, or says why it is not for this command.
pub(super) fn prove(schemas: &Schemas, vector: &Value) -> anyhow::Result<Line> {
    let id = vector["id"].as_str().context("id: expected text")?;
    let section = section(vector["ref"].as_str().unwrap_or_default());
    match vector["class"].as_str() {
        Some("schema-validation") => {
            let refusal = schemas.refusal(&target(vector)?, &vector["input"])?;
            let valid = vector["expect"] == "valid";
            Ok(Line::of(&section, id, verdict(valid, refusal)))
        }
        Some("downstream-proof") => Ok(match signature(id, vector) {
            Some(outcome) => Line::of(&section, id, outcome),
            None => left_out(&section, id, "proved by the live checks"),
        }),
        _ => Ok(left_out(&section, id, "for people to read")),
    }
}

fn left_out(section: &str, id: &str, why: &str) -> Line {
    Line {
        section: section.to_owned(),
        name: id.to_owned(),
        status: Status::Skipped,
        detail: why.to_owned(),
        took: Duration::ZERO,
    }
}

/// The first section that a reference names.
fn section(reference: &str) -> String {
    let number = reference.split('§').nth(1).unwrap_or("12");
    let end = number.find(|at: char| !at.is_ascii_digit() && at != '.');
    number[..end.unwrap_or(number.len())]
        .trim_end_matches('.')
        .to_owned()
}

/// `v0.5/session.schema.json#/$defs/sessionList`; a bare file is of 0.4.
fn target(vector: &Value) -> anyhow::Result<Target> {
    let text = vector["target"].as_str().context("target: expected text")?;
    let (file, fragment) = text.split_once('#').unwrap_or((text, ""));
    let noun = file.strip_suffix(".schema.json").context("target: no schema")?;
    let part = fragment.strip_prefix("/$defs/").unwrap_or_default();
    let edition = if noun.contains('/') { "" } else { "v0.4/" };
    Target::parse(&format!("{edition}{noun}#{part}"))
}

/// What a signature vector comes to; none where it needs a hub.
fn signature(id: &str, vector: &Value) -> Option<Result<(), String>> {
    let number = id.get(..6)?;
    Some(match number {
        "dp-001" => reproduced(Kind::Push, vector, &pushed(vector, "payload"), "payload_sha256"),
        "dp-003" => push_altered(vector),
        "dp-004" => numbers(vector),
        "dp-005" => reproduced(
            Kind::Entry(EntryKind::Directive),
            vector,
            &vector["directive"],
            "payload_sha256",
        ),
        "dp-006" => altered(
            Kind::Entry(EntryKind::Directive),
            vector,
            "honest_directive",
            &["tampered_directive"],
        ),
        "dp-008" => reproduced(Kind::Ack, vector, &vector["ack"], "ack_sha256"),
        "dp-009" => altered(Kind::Ack, vector, "honest_ack", &["tampered_ack"]),
        "dp-011" => reproduced(
            Kind::Entry(EntryKind::Message),
            vector,
            &vector["entry"],
            "payload_sha256",
        ),
        "dp-012" => altered(Kind::Entry(EntryKind::Message), vector, "honest_entry", &[]),
        "dp-013" | "dp-015" => reproduced(
            Kind::Entry(EntryKind::Response),
            vector,
            &vector["entry"],
            "payload_sha256",
        ),
        "dp-014" => altered(Kind::Entry(EntryKind::Response), vector, "honest_entry", &[]),
        "dp-016" => reproduced(
            Kind::Entry(EntryKind::Receipt),
            vector,
            &vector["entry"],
            "receipt_sha256",
        ),
        "dp-017" => altered(Kind::Entry(EntryKind::Receipt), vector, "honest_entry", &[]),
        "dp-018" => redelivered(vector),
        "dp-025" => well_formed(vector),
        _ => return None,
    })
}

/// A Response put together from a payload and the context that was signed with it.
fn pushed(vector: &Value, payload: &str) -> Value {
    let context = &vector["signed_context"];
    let mut response = vector[payload].clone();
    for member in ["ma2h_version", "in_reply_to", "resolution_id", "resolution"] {
        response[member] = context[member].clone();
    }
    response
}

fn text<'a>(value: &'a Value, member: &str) -> Result<&'a str, String> {
    value[member]
        .as_str()
        .ok_or_else(|| format!("{member}: expected text"))
}

fn key(vector: &Value) -> Result<(SigningKey, VerifyingKey), String> {
    let secret = text(vector, "test_key")?.as_bytes();
    let key = SigningKey::hmac(secret).map_err(|problem| problem.to_string())?;
    let verifying = key.verifying_key();
    Ok((key, verifying))
}

/// Where a vector's document was delivered: as its receiver knows it.
fn destination(vector: &Value) -> &str {
    let places = [
        &vector["signed_context"]["callback_url"],
        &vector["drain_identity"]["reconstructed_to"],
        &vector["honest_drain_identity"]["reconstructed_to"],
    ];
    places.into_iter().find_map(Value::as_str).unwrap_or_default()
}

/// Digest, canonical text, signature and header of an honest delivery; a changed context does not verify.
fn reproduced(kind: Kind, vector: &Value, document: &Value, digest_name: &str) -> Result<(), String> {
    let context = &vector["signed_context"];
    let received = Received {
        document,
        destination: destination(vector),
        t: text(context, "t")?,
        jti: text(context, "jti")?,
    };
    equal(
        "digest",
        kind.digest(document)?.as_str(),
        text(context, digest_name)?,
    )?;
    for name in [
        "payload_canonical_jcs",
        "content_canonical_jcs",
        "ack_canonical_jcs",
        "receipt_canonical_jcs",
    ] {
        if let Some(payload) = vector[name].as_str() {
            equal(name, sha256_hex(payload).as_str(), text(context, digest_name)?)?;
        }
    }
    let canonical = kind.canonical(&received)?;
    equal(
        "canonical text",
        canonical.as_str(),
        text(vector, "canonical_jcs")?,
    )?;
    let (signing, verifying) = key(vector)?;
    let v1 = sign(&signing, &canonical);
    equal("v1", v1.as_str(), text(vector, "v1")?)?;
    equal(
        "header",
        header(received.t, received.jti, &v1).as_str(),
        text(vector, "header")?,
    )?;
    let later = Received {
        jti: "jti_other",
        ..received
    };
    equal("it verifies", kind.verifies(&received, &verifying, &v1)?, true)?;
    equal(
        "another jti verifies",
        kind.verifies(&later, &verifying, &v1)?,
        false,
    )
}

fn header(t: &str, jti: &str, v1: &str) -> String {
    let value = ma2h::sign::header_value(t.parse().unwrap_or_default(), jti, v1);
    format!("{}: {value}", ma2h::sign::HEADER_NAME)
}

fn push_altered(vector: &Value) -> Result<(), String> {
    let context = &vector["signed_context"];
    let (_, key) = key(vector)?;
    for (payload, holds) in [("honest_payload", true), ("tampered_payload", false)] {
        let received = Received {
            document: &pushed(vector, payload),
            destination: destination(vector),
            t: text(context, "t")?,
            jti: text(context, "jti")?,
        };
        let verified = Kind::Push.verifies(&received, &key, text(vector, "v1")?)?;
        equal(payload, verified, holds)?;
    }
    Ok(())
}

fn numbers(vector: &Value) -> Result<(), String> {
    let canonical = text(vector, "payload_canonical_jcs")?;
    let payload = &vector["payload"];
    let spelled = ma2h::jcs::canonical(payload).map_err(|problem| problem.to_string())?;
    equal("canonical text", spelled.as_str(), canonical)?;
    equal(
        "digest",
        Kind::Push.digest(payload)?.as_str(),
        text(vector, "payload_sha256")?,
    )
}

/// The honest document verifies; each tampered one, and the honest one at another's address, does not.
fn altered(kind: Kind, vector: &Value, honest: &str, tampered: &[&str]) -> Result<(), String> {
    let (_, key) = key(vector)?;
    let verified = |document: &Value, destination: &str| -> Result<bool, String> {
        let received = Received {
            document,
            destination,
            t: text(vector, "t")?,
            jti: text(vector, "jti")?,
        };
        kind.verifies(&received, &key, text(vector, "v1")?)
    };
    let (honest, own) = (&vector[honest], destination(vector));
    equal("the honest document verifies", verified(honest, own)?, true)?;
    let entries = vector["tampered_entries"].as_array().into_iter().flatten();
    let tampered: Vec<&Value> = tampered
        .iter()
        .map(|name| &vector[*name])
        .chain(entries.map(|entry| &entry["entry"]))
        .collect();
    equal("there is something tampered with", tampered.is_empty(), false)?;
    for document in tampered {
        equal(&format!("verifies: {document}"), verified(document, own)?, false)?;
    }
    match vector["replay_drain_identity"]["reconstructed_to"].as_str() {
        Some(other) => equal("verifies at another's address", verified(honest, other)?, false),
        None => Ok(()),
    }
}

/// Each delivery of an entry signs the same context with a time and a `jti` of its own.
fn redelivered(vector: &Value) -> Result<(), String> {
    let (key, _) = key(vector)?;
    let deliveries = vector["deliveries"]
        .as_array()
        .ok_or("deliveries: expected a list")?;
    for delivery in deliveries {
        let mut context = vector["signed_context_base"].clone();
        context["t"] = json!(text(delivery, "t")?);
        context["jti"] = json!(text(delivery, "jti")?);
        let canonical = ma2h::jcs::canonical(&context).map_err(|problem| problem.to_string())?;
        equal(
            "canonical text",
            canonical.as_str(),
            text(delivery, "canonical_jcs")?,
        )?;
        let v1 = sign(&key, &canonical);
        equal("v1", v1.as_str(), text(delivery, "v1")?)?;
        let header = header(text(delivery, "t")?, text(delivery, "jti")?, &v1);
        equal("header", header.as_str(), text(delivery, "header")?)?;
    }
    Ok(())
}

fn well_formed(vector: &Value) -> Result<(), String> {
    let (key, _) = key(vector)?;
    let v1 = sign(&key, text(vector, "canonical_jcs")?);
    equal("v1", v1.as_str(), text(vector, "v1")?)?;
    let cases = vector["cases"].as_array().ok_or("cases: expected a list")?;
    for case in cases {
        let value = text(case, "value")?;
        let bytes = decode_mac(value);
        equal(value, bytes.is_some(), case["expect"] == "well-formed")?;
        if let Some(length) = case["decoded_length"].as_u64() {
            equal(
                value,
                bytes.as_ref().map(|bytes| bytes.len() as u64),
                Some(length),
            )?;
        }
        if let Some(other) = case["decodes_identically_to"].as_str() {
            equal(value, bytes, decode_mac(other))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::section;

    #[test]
    fn the_section_is_the_first_that_is_named() {
        for (reference, expected) in [
            ("spec §9.2", "9.2"),
            ("spec §8.7 (v0.5), §9", "8.7"),
            ("spec §8.7.1.", "8.7.1"),
            ("", "12"),
        ] {
            assert_eq!(section(reference), expected);
        }
    }
}
