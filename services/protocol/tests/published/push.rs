//! Pushed Responses (§9.2).

use ma2h::jcs;
use ma2h::resolve::Resolution;
use ma2h::sign::{PushContext, decode_mac, header_value, payload_sha256, sign, verify, verify_push};
use serde_json::Value;

use crate::files::{key, text, vector};

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
    let vector = vector("dp-001-signature");
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
    let vector = vector("dp-003-payload-tamper-invalid");
    let context = context(&vector);
    let header = header_value(context.t, context.jti, text(&vector, "v1"));
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
    let vector = vector("dp-004-numeric-payload");
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
    let vector = vector("dp-025-mac-well-formedness");
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
