//! What a mailbox delivers (§9.7, §9.8).

use ma2h::EntryKind;
use ma2h::sign::{
    Entry, VerifyError, directive_sha256, entry_signature, message_sha256, payload_sha256, receipt_sha256,
    sign, sign_entry, verify_entry,
};
use serde_json::Value;

use crate::files::{key, stamp, text, vector};

const WINDOW_SECONDS: i64 = 120;

fn entry<'a>(kind: EntryKind, payload: &'a str, session_address: &'a str) -> Entry<'a> {
    Entry {
        kind,
        payload,
        session_address,
    }
}

/// Who drains, as the vector says, put together from its parts.
fn drainer(identity: &Value) -> String {
    let address = format!(
        "agent:{}#{}",
        text(identity, "agent_id"),
        text(identity, "session")
    );
    assert_eq!(address, text(identity, "reconstructed_to"));
    address
}

/// The canonical text, the digest and the header come out as published.
fn reproduces(kind: EntryKind, vector: &Value, payload: &Value, session_address: &str) {
    let signed = &vector["signed_context"];
    let (t, jti) = stamp(signed);
    let payload = payload.to_string();
    let digest = match kind {
        EntryKind::Directive => directive_sha256(&payload),
        EntryKind::Message => message_sha256(&payload),
        EntryKind::Response => payload_sha256(&payload),
        EntryKind::Receipt => receipt_sha256(&payload),
    };
    let name = match kind {
        EntryKind::Receipt => "receipt_sha256",
        _ => "payload_sha256",
    };
    assert_eq!(digest.unwrap(), text(signed, name));

    let entry = entry(kind, &payload, session_address);
    let canonical = entry.canonical(t, jti).unwrap();
    assert_eq!(canonical, text(vector, "canonical_jcs"));
    let key = key(vector);
    assert_eq!(sign(&key, &canonical), text(vector, "v1"));
    let header = sign_entry(&entry, &key, t, jti).unwrap();
    assert_eq!(header, text(vector, "header"));
    verify_entry(&header, &entry, &[key.verifying_key()], t + 60, WINDOW_SECONDS).unwrap();
}

/// What verification says of a payload under the vector's header.
fn verdict(
    kind: EntryKind,
    vector: &Value,
    payload: &Value,
    session_address: &str,
) -> Result<(), VerifyError> {
    let (t, jti) = stamp(vector);
    let header = entry_signature(t, jti, text(vector, "v1"));
    let payload = payload.to_string();
    let keys = [key(vector).verifying_key()];
    let entry = entry(kind, &payload, session_address);
    verify_entry(&header, &entry, &keys, t, WINDOW_SECONDS).map(|_| ())
}

fn refuses_tampered_entries(kind: EntryKind, vector: &Value, session_address: &str) {
    let honest = verdict(kind, vector, &vector["honest_entry"], session_address);
    assert_eq!(honest, Ok(()));
    let tampered = vector["tampered_entries"].as_array().unwrap();
    assert!(!tampered.is_empty());
    for case in tampered {
        let verdict = verdict(kind, vector, &case["entry"], session_address);
        assert_eq!(verdict, Err(VerifyError::Signature), "{case}");
    }
}

#[test]
fn dp_005_inbound_signature() {
    let vector = vector("dp-005-inbound-signature");
    reproduces(EntryKind::Directive, &vector, &vector["directive"], "");
}

#[test]
fn dp_006_inbound_tamper_invalid() {
    let vector = vector("dp-006-inbound-tamper-invalid");
    let check = |directive: &Value| verdict(EntryKind::Directive, &vector, directive, "");
    assert_eq!(check(&vector["honest_directive"]), Ok(()));
    assert_eq!(check(&vector["tampered_directive"]), Err(VerifyError::Signature));
    for name in ["from", "body"] {
        let mut tampered = vector["honest_directive"].clone();
        tampered[name] = "human:mallory".into();
        assert_eq!(check(&tampered), Err(VerifyError::Signature), "{name}");
    }
}

#[test]
fn dp_011_entry_message_signature() {
    let vector = vector("dp-011-entry-message-signature");
    reproduces(EntryKind::Message, &vector, &vector["entry"], "");
}

#[test]
fn dp_012_entry_message_tamper_invalid() {
    let vector = vector("dp-012-entry-message-tamper-invalid");
    refuses_tampered_entries(EntryKind::Message, &vector, "");
}

#[test]
fn dp_013_entry_response_signature() {
    let vector = vector("dp-013-entry-response-signature");
    let drainer = drainer(&vector["drain_identity"]);
    reproduces(EntryKind::Response, &vector, &vector["entry"], &drainer);
}

#[test]
fn dp_014_entry_response_cross_session_replay_invalid() {
    let vector = vector("dp-014-entry-response-cross-session-replay-invalid");
    let (own, other) = (
        drainer(&vector["honest_drain_identity"]),
        drainer(&vector["replay_drain_identity"]),
    );
    refuses_tampered_entries(EntryKind::Response, &vector, &own);
    let replayed = verdict(EntryKind::Response, &vector, &vector["honest_entry"], &other);
    assert_eq!(replayed, Err(VerifyError::Signature));
}

#[test]
fn dp_015_entry_response_null_resolved_at_signature() {
    let vector = vector("dp-015-entry-response-null-resolved-at-signature");
    assert!(vector["signed_context"]["resolved_at"].is_null());
    let drainer = drainer(&vector["drain_identity"]);
    reproduces(EntryKind::Response, &vector, &vector["entry"], &drainer);
}

#[test]
fn dp_016_entry_receipt_signature() {
    let vector = vector("dp-016-entry-receipt-signature");
    let drainer = drainer(&vector["drain_identity"]);
    reproduces(EntryKind::Receipt, &vector, &vector["entry"], &drainer);
}

#[test]
fn dp_017_entry_receipt_tamper_invalid() {
    let vector = vector("dp-017-entry-receipt-tamper-invalid");
    let (own, other) = (
        drainer(&vector["honest_drain_identity"]),
        drainer(&vector["replay_drain_identity"]),
    );
    refuses_tampered_entries(EntryKind::Receipt, &vector, &own);
    let replayed = verdict(EntryKind::Receipt, &vector, &vector["honest_entry"], &other);
    assert_eq!(replayed, Err(VerifyError::Signature));
}

#[test]
fn dp_018_entry_redelivery_fresh_signature() {
    let vector = vector("dp-018-entry-redelivery-fresh-signature");
    let first = crate::files::vector("dp-011-entry-message-signature");
    let payload = first["entry"].to_string();
    let entry = entry(EntryKind::Message, &payload, "");
    let deliveries = vector["deliveries"].as_array().unwrap();
    assert!(deliveries.len() > 1);
    for delivery in deliveries {
        let (t, jti) = stamp(delivery);
        assert_eq!(entry.canonical(t, jti).unwrap(), text(delivery, "canonical_jcs"));
        let header = sign_entry(&entry, &key(&vector), t, jti).unwrap();
        assert_eq!(header, text(delivery, "header"));
    }
}
