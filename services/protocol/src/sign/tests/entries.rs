//! What is bound, in every kind of entry and in an acknowledgement.

use serde_json::{Value, json};

use super::{NOW, WINDOW_SECONDS, keys};
use crate::EntryKind;
use crate::random::Random;
use crate::samples::{entry_payload, lay_over};
use crate::sign::{
    Entry, SigningKey, VerifyError, drained_item, entry_header, entry_signature, sign_ack, sign_entry,
    verify_ack, verify_entry,
};

const SESSION: &str = "agent:a#sess_1";

fn signature(key: &SigningKey, kind: EntryKind, payload: &str) -> String {
    let entry = Entry {
        kind,
        payload,
        session_address: SESSION,
    };
    sign_entry(&entry, key, NOW, "jti_1").unwrap()
}

fn verdict(
    key: &SigningKey,
    signature: &str,
    kind: EntryKind,
    payload: &str,
    session_address: &str,
) -> Result<(), VerifyError> {
    let entry = Entry {
        kind,
        payload,
        session_address,
    };
    verify_entry(signature, &entry, &[key.verifying_key()], NOW, WINDOW_SECONDS).map(|header| {
        assert_eq!((header.t, header.jti), (NOW, "jti_1"));
    })
}

/// Members whose change breaks the signature; those whose change does not.
fn bound(kind: EntryKind) -> (&'static [&'static str], &'static [&'static str]) {
    match kind {
        EntryKind::Directive => (
            &[
                "ma2h_version",
                "id",
                "from",
                "to",
                "title",
                "body",
                "priority",
                "tags",
                "context",
            ],
            &["created_at", "expires_at", "sensitive", "state", "more"],
        ),
        EntryKind::Message => (
            &[
                "ma2h_version",
                "id",
                "from",
                "to",
                "title",
                "body",
                "priority",
                "tags",
                "context",
                "type",
                "request",
                "action",
                "sensitive",
            ],
            &[
                "created_at",
                "expires_at",
                "agent",
                "idempotency_key",
                "state",
                "more",
            ],
        ),
        EntryKind::Response => (
            &[
                "ma2h_version",
                "in_reply_to",
                "resolution",
                "resolution_id",
                "response",
                "state",
            ],
            &["agent", "defaulted", "to", "id", "more"],
        ),
        EntryKind::Receipt => (
            &[
                "ma2h_version",
                "in_reply_to",
                "id",
                "event",
                "prior",
                "at",
                "session",
            ],
            &["type", "to", "more"],
        ),
    }
}

#[test]
fn what_is_bound_and_what_is_not() {
    for key in keys() {
        for kind in EntryKind::ALL {
            let payload = entry_payload(kind);
            let header = signature(&key, kind, &payload.to_string());
            let check = |payload: &Value| verdict(&key, &header, kind, &payload.to_string(), SESSION);
            assert_eq!(check(&payload), Ok(()), "{kind:?}");
            let (bound, free) = bound(kind);
            for (names, expected) in [(bound, Err(VerifyError::Signature)), (free, Ok(()))] {
                for name in names {
                    let mut changed = payload.clone();
                    changed[*name] = "changed".into();
                    assert_eq!(check(&changed), expected, "{kind:?}: {name} changed");
                }
            }
        }
    }
}

#[test]
fn a_member_that_is_dropped_or_null_is_a_change() {
    let [key, _] = keys();
    for (kind, name) in [
        (EntryKind::Directive, "body"),
        (EntryKind::Message, "request"),
        (EntryKind::Response, "state"),
        (EntryKind::Receipt, "prior"),
    ] {
        let payload = entry_payload(kind);
        let header = signature(&key, kind, &payload.to_string());
        let mut dropped = payload.clone();
        lay_over(&mut dropped, &json!({ name: null }));
        let found = verdict(&key, &header, kind, &dropped.to_string(), SESSION);
        assert_eq!(found, Err(VerifyError::Signature), "{kind:?}");
        // Where absence is signed as null, the two are one; in an author's own content they are not.
        let header = signature(&key, kind, &dropped.to_string());
        let mut nulled = payload;
        nulled[name] = Value::Null;
        let expected = match kind {
            EntryKind::Directive | EntryKind::Message => Err(VerifyError::Signature),
            EntryKind::Response | EntryKind::Receipt => Ok(()),
        };
        let found = verdict(&key, &header, kind, &nulled.to_string(), SESSION);
        assert_eq!(found, expected, "{kind:?}");
    }
}

#[test]
fn a_delivery_is_for_one_session_and_of_one_kind() {
    let [key, other_key] = keys();
    for kind in EntryKind::ALL {
        let payload = entry_payload(kind).to_string();
        let header = signature(&key, kind, &payload);
        let elsewhere = verdict(&key, &header, kind, &payload, "agent:a#sess_2");
        let expected = match kind {
            EntryKind::Directive | EntryKind::Message => Ok(()),
            EntryKind::Response | EntryKind::Receipt => Err(VerifyError::Signature),
        };
        assert_eq!(elsewhere, expected, "{kind:?}");
        for other in EntryKind::ALL.into_iter().filter(|other| *other != kind) {
            let crossed = verdict(&key, &header, other, &payload, SESSION);
            assert!(crossed.is_err(), "{kind:?} as {other:?}");
        }
        let foreign = verdict(&other_key, &header, kind, &payload, SESSION);
        assert_eq!(foreign, Err(VerifyError::Signature), "{kind:?}");
        // While keys are rotated, either is good.
        let entry = Entry {
            kind,
            payload: &payload,
            session_address: SESSION,
        };
        let both = [other_key.verifying_key(), key.verifying_key()];
        assert!(verify_entry(&header, &entry, &both, NOW, WINDOW_SECONDS).is_ok());
        assert_eq!(
            verify_entry(&header, &entry, &[], NOW, WINDOW_SECONDS),
            Err(VerifyError::Signature)
        );
        assert_eq!(
            verify_entry(&header, &entry, &both, NOW + WINDOW_SECONDS + 1, WINDOW_SECONDS),
            Err(VerifyError::Stale)
        );
    }
}

#[test]
fn what_no_two_readers_agree_on_is_never_signed() {
    let [key, _] = keys();
    for kind in EntryKind::ALL {
        let payload = entry_payload(kind).to_string();
        let header = signature(&key, kind, &payload);
        let twice = payload.replacen('{', r#"{"ma2h_version":"0.6","#, 1);
        let surrogate = payload.replacen('{', r#"{"more":"\ud800","#, 1);
        for text in [twice.as_str(), &surrogate, "", "[]", "null", "{}"] {
            let entry = Entry {
                kind,
                payload: text,
                session_address: SESSION,
            };
            assert!(sign_entry(&entry, &key, NOW, "jti_1").is_err(), "{text}");
            let found = verdict(&key, &header, kind, text, SESSION);
            assert_eq!(found, Err(VerifyError::Body), "{text}");
        }
    }
}

#[test]
fn an_acknowledgement_binds_all_that_it_says() {
    let ack = json!({
        "ma2h_version": "0.6", "type": "ack", "in_reply_to": "msg_1", "by": "agent:a",
        "acked_at": "2026-06-04T15:48:30Z", "note": "on it",
    });
    for key in keys() {
        let header = sign_ack(&ack.to_string(), &key, NOW, "jti_1").unwrap();
        let check = |ack: &Value| {
            verify_ack(
                &header,
                &ack.to_string(),
                &[key.verifying_key()],
                NOW,
                WINDOW_SECONDS,
            )
            .map(|_| ())
        };
        assert_eq!(check(&ack), Ok(()));
        for name in [
            "ma2h_version",
            "in_reply_to",
            "by",
            "acked_at",
            "note",
            "resolution_id",
        ] {
            let mut changed = ack.clone();
            changed[name] = "changed".into();
            assert_eq!(check(&changed), Err(VerifyError::Signature), "{name}");
        }
        let mut explicit = ack.clone();
        explicit["resolution_id"] = Value::Null;
        assert_eq!(check(&explicit), Ok(()));
        assert_eq!(check(&json!({})), Err(VerifyError::Body));
    }
}

#[test]
fn a_drained_item_holds_the_payload_as_it_was_signed() {
    let [key, _] = keys();
    let payload = r#"{ "n": 1.0, "title":"\u0041" }"#;
    let text = entry_signature(NOW, "jti_1", "abc");
    let item = drained_item(EntryKind::Message, payload, &text);
    assert_eq!(
        item,
        format!(r#"{{"message":{payload},"signature":"MA2H-Signature: t={NOW},jti=jti_1,v1=abc"}}"#)
    );
    let header = signature(
        &key,
        EntryKind::Receipt,
        &entry_payload(EntryKind::Receipt).to_string(),
    );
    assert!(header.starts_with("MA2H-Signature: t=1780000000,jti=jti_1,v1="));
    for text in ["MA2H-Signature: x", "ma2h-signature:x", "MA2H-Signature:  x "] {
        assert_eq!(entry_header(text), Some("x"), "{text}");
    }
    for text in ["x", "", "t=1,jti=a,v1=b", "Signature: x", " MA2H-Signature: x"] {
        assert_eq!(entry_header(text), None, "{text}");
    }
}

/// However the content is spelled, whatever it holds: what was signed verifies, and the change of one member does not.
#[test]
fn any_content_is_bound() {
    let mut random = Random::seeded(9);
    let [mac, curve] = keys();
    for round in 0..400 {
        let key = if round % 8 == 0 { &curve } else { &mac };
        let kind = EntryKind::ALL[random.below(4)];
        let (names, _) = bound(kind);
        // Of these some are texts by which the entry is known, the rest may be anything.
        let free: Vec<_> = names
            .iter()
            .filter(|name| {
                ![
                    "ma2h_version",
                    "id",
                    "from",
                    "to",
                    "in_reply_to",
                    "resolution",
                    "resolution_id",
                ]
                .contains(name)
            })
            .collect();
        let name = *free[random.below(free.len())];
        let mut payload = entry_payload(kind);
        payload[name] = random.value(4);
        let header = signature(key, kind, &payload.to_string());
        let spelled = serde_json::to_string_pretty(&payload).unwrap();
        assert_eq!(
            verdict(key, &header, kind, &spelled, SESSION),
            Ok(()),
            "{spelled}"
        );
        let mut changed = payload;
        changed[name] = json!([random.string(), random.next().to_string()]);
        let found = verdict(key, &header, kind, &changed.to_string(), SESSION);
        assert_eq!(found, Err(VerifyError::Signature), "{changed}");
    }
}
