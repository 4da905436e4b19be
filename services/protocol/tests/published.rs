//! The protocol's published fixtures, read where they lie: a checkout beside this repository, or `MA2H_PUBLISHED`.
//! Where there is none, these tests say so and hold nothing.

// Clippy knows the test functions of an integration test, not what they call.
#![allow(clippy::panic, clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::{env, fs};

use ma2h::resolve::Resolution;
use ma2h::sign::{PushContext, SigningKey, decode_mac, payload_sha256, sign, verify, verify_push};
use ma2h::{Envelope, ErrorCode, jcs, json, submit};
use serde_json::Value;

fn published() -> Option<PathBuf> {
    if let Some(root) = env::var_os("MA2H_PUBLISHED") {
        return Some(root.into());
    }
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/ma2h");
    if !beside.is_dir() {
        eprintln!(
            "skipped: no published fixtures at {}; MA2H_PUBLISHED may name another folder",
            beside.display()
        );
        return None;
    }
    Some(beside)
}

/// A file of the publication, or nothing where there is no publication.
fn file(path: &str) -> Option<String> {
    let file = published()?.join(path);
    Some(fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display())))
}

fn vector(name: &str) -> Option<Value> {
    let text = file(&format!("conformance/vectors/{name}.json"))?;
    Some(json::parse_strict(&text).unwrap())
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name]
        .as_str()
        .unwrap_or_else(|| panic!("{name} is no string"))
}

fn context(vector: &Value) -> PushContext<'_> {
    let signed = &vector["signed_context"];
    PushContext {
        ma2h_version: text(signed, "ma2h_version"),
        callback_url: text(signed, "callback_url"),
        id: text(signed, "id"),
        in_reply_to: text(signed, "in_reply_to"),
        jti: text(signed, "jti"),
        payload_sha256: text(signed, "payload_sha256"),
        resolution: text(signed, "resolution"),
        resolution_id: text(signed, "resolution_id"),
        resolved_at: signed["resolved_at"].as_str(),
        t: text(signed, "t").parse().unwrap(),
    }
}

fn key(vector: &Value) -> SigningKey {
    SigningKey::hmac(text(vector, "test_key").as_bytes()).unwrap()
}

/// A Response that carries `payload` and agrees with the signed context.
fn response(vector: &Value, payload: &Value) -> String {
    let signed = &vector["signed_context"];
    let mut response = payload.clone();
    for name in ["ma2h_version", "in_reply_to", "resolution_id", "resolution"] {
        response[name] = signed[name].clone();
    }
    response.to_string()
}

#[test]
fn dp_001_signature() {
    let Some(vector) = vector("dp-001-signature") else {
        return;
    };
    let canonical = context(&vector).canonical().unwrap();
    assert_eq!(canonical, text(&vector, "canonical_jcs"));
    assert_eq!(sign(&key(&vector), &canonical), text(&vector, "v1"));
    let payload = vector["payload"].to_string();
    assert_eq!(payload_sha256(&payload).unwrap(), context(&vector).payload_sha256);

    let header = text(&vector, "header").strip_prefix("MA2H-Signature: ").unwrap();
    let (body, url, t) = (
        response(&vector, &vector["payload"]),
        context(&vector).callback_url,
        context(&vector).t,
    );
    let verified = verify_push(header, &body, url, &key(&vector).verifying_key(), t + 60, 120).unwrap();
    assert_eq!(
        verified.resolution.parse::<Resolution>().unwrap(),
        Resolution::Answered
    );
}

#[test]
fn dp_003_payload_tamper_invalid() {
    let Some(vector) = vector("dp-003-payload-tamper-invalid") else {
        return;
    };
    let context = context(&vector);
    let header = ma2h::sign::header_value(context.t, context.jti, text(&vector, "v1"));
    let check = |payload: &Value| {
        let body = response(&vector, payload);
        verify_push(
            &header,
            &body,
            context.callback_url,
            &key(&vector).verifying_key(),
            context.t,
            120,
        )
        .is_ok()
    };
    assert!(check(&vector["honest_payload"]));
    assert!(!check(&vector["tampered_payload"]));
}

#[test]
fn dp_004_numeric_payload() {
    let Some(vector) = vector("dp-004-numeric-payload") else {
        return;
    };
    assert_eq!(
        jcs::canonical(&vector["payload"]).unwrap(),
        text(&vector, "payload_canonical_jcs")
    );
    assert_eq!(
        payload_sha256(&vector["payload"].to_string()).unwrap(),
        text(&vector, "payload_sha256")
    );
}

#[test]
fn dp_025_mac_well_formedness() {
    let Some(vector) = vector("dp-025-mac-well-formedness") else {
        return;
    };
    let canonical = context(&vector).canonical().unwrap();
    assert_eq!(canonical, text(&vector, "canonical_jcs"));
    assert_eq!(sign(&key(&vector), &canonical), text(&vector, "v1"));
    for case in vector["cases"].as_array().unwrap() {
        let decoded = decode_mac(text(case, "value"));
        assert_eq!(decoded.is_some(), text(case, "expect") == "well-formed", "{case}");
        if let Some(length) = case["decoded_length"].as_u64() {
            assert_eq!(
                decoded.as_ref().map(|bytes| bytes.len() as u64),
                Some(length),
                "{case}"
            );
        }
        if let Some(twin) = case["decodes_identically_to"].as_str() {
            assert_eq!(decoded, decode_mac(twin), "{case}");
            assert!(verify(
                &key(&vector).verifying_key(),
                &canonical,
                text(case, "value")
            ));
        }
    }
}

#[test]
fn every_example_of_a_request_passes_submit() {
    for name in [
        "ask-dev-team-decision",
        "ask-mode-confirm",
        "ask-mode-input",
        "ask-select-allow-edit",
        "ask-sensitive-field",
        "notify-daily-digest",
        "task-manual-action",
    ] {
        let Some(text) = file(&format!("examples/{name}.json")) else {
            return;
        };
        let envelope = Envelope::parse(&text).unwrap_or_else(|problem| panic!("{name}: {problem}"));
        submit::check(&envelope).unwrap_or_else(|problem| panic!("{name}: {problem}"));
    }
}

/// Documents that the published message schema calls valid are read here too, whatever submit says of them.
#[test]
fn every_valid_message_vector_is_read() {
    let Some(root) = published() else { return };
    let mut read = 0;
    for entry in fs::read_dir(root.join("conformance/vectors")).unwrap() {
        let vector = json::parse_strict(&fs::read_to_string(entry.unwrap().path()).unwrap()).unwrap();
        let is_message = vector["target"]
            .as_str()
            .is_some_and(|target| target.ends_with("/message.schema.json"));
        if is_message && vector["expect"] == "valid" {
            let input = vector["input"].to_string();
            Envelope::parse(&input).unwrap_or_else(|problem| panic!("{}: {problem}", vector["id"]));
            read += 1;
        }
    }
    assert!(read >= 5, "{read}");
}

#[test]
fn what_no_schema_can_see_is_refused_at_submit() {
    let name = "sv-071-options-duplicate-value-schema-cannot-catch-valid";
    let Some(vector) = vector(name) else { return };
    let problem = submit::check(&Envelope::parse(&vector["input"].to_string()).unwrap()).unwrap_err();
    assert_eq!(problem.code, ErrorCode::InvalidField);
}
