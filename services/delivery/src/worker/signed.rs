//! What is sent, by the kind of push, and its detached signature.

use hub_platform::ids;
use hub_proto::lifecycle::{Push, PushKind};
use ma2h::EntryKind;
use ma2h::error::Problem;
use ma2h::json::{self, Node};
use ma2h::sign::{Entry, PushContext, SigningKey, header_value, payload_sha256, sign, sign_ack};

use super::clock::HubClock;

/// A body, and the value of its `MA2H-Signature` header.
pub(super) struct Signed {
    pub(super) body: String,
    pub(super) signature: String,
}

impl Signed {
    /// Signs what is pushed, with a `jti` that is new for each attempt.
    pub(super) fn now(push: Push, key: &SigningKey, clock: HubClock) -> Result<Self, Problem> {
        let (t, jti) = (clock.now().unix_timestamp(), ids::mint("jti"));
        Ok(match push.kind() {
            PushKind::Response => Self {
                signature: sign_response(&push, key, t, &jti)?,
                body: push.payload,
            },
            PushKind::Directive => Self {
                signature: sign_directive(&push, key, t, &jti)?,
                body: format!("{{\"directive\":{}}}", push.payload),
            },
            PushKind::Ack => Self {
                signature: sign_ack(&push.payload, key, t, &jti)?,
                body: push.payload,
            },
        })
    }
}

/// Bound to where it is sent (§9.2).
fn sign_response(push: &Push, key: &SigningKey, t: i64, jti: &str) -> Result<String, Problem> {
    let response = json::parse(&push.payload)?;
    let text = |name: &str| {
        let text = response.get(name).and_then(Node::as_str);
        text.ok_or_else(|| Problem::validation(format!("{name}: expected a string")))
    };
    let resolved_at = response
        .get("response")
        .and_then(|inner| inner.get("resolved_at")?.as_str());
    let context = PushContext {
        ma2h_version: text("ma2h_version")?,
        callback_url: &push.url,
        id: text("in_reply_to")?,
        in_reply_to: text("in_reply_to")?,
        jti,
        payload_sha256: &payload_sha256(&push.payload)?,
        resolution: text("resolution")?,
        resolution_id: text("resolution_id")?,
        resolved_at,
        t,
    };
    Ok(header_value(t, jti, &sign(key, &context.canonical()?)))
}

/// Bound to its addressee, as a drain's is (§9.7).
fn sign_directive(push: &Push, key: &SigningKey, t: i64, jti: &str) -> Result<String, Problem> {
    let entry = Entry {
        kind: EntryKind::Directive,
        payload: &push.payload,
        session_address: "",
    };
    Ok(header_value(t, jti, &sign(key, &entry.canonical(t, jti)?)))
}

#[cfg(test)]
mod tests {
    use ma2h::sign::{VerifyingKey, verify_ack, verify_entry_header};

    use super::*;

    const NOW: i64 = 1_777_888_999;
    const DIRECTIVE: &str = r#"{"ma2h_version":"0.6","type":"directive","id":"dir_1","from":"human:alice","to":"agent:bot","created_at":"2026-01-02T03:04:05Z","title":"Stop"}"#;
    const ACK: &str = r#"{"ma2h_version":"0.6","type":"ack","in_reply_to":"dir_1","by":"agent:bot","acked_at":"2026-01-02T03:04:05Z","note":"on it"}"#;

    fn signed(kind: PushKind, payload: &str) -> Signed {
        let push = Push {
            payload: payload.to_owned(),
            kind: kind.into(),
            ..Push::default()
        };
        let reading = hub_proto::Timestamp {
            seconds: NOW,
            nanos: 0,
        };
        let key = SigningKey::hmac(b"a secret").unwrap();
        Signed::now(push, &key, HubClock::from_reading(reading).unwrap()).unwrap()
    }

    fn keys() -> [VerifyingKey; 1] {
        [VerifyingKey::hmac(b"a secret").unwrap()]
    }

    #[test]
    fn a_directive_is_sent_as_one_item_of_a_drain_with_its_signature_in_the_header() {
        let Signed { body, signature } = signed(PushKind::Directive, DIRECTIVE);
        assert_eq!(body, format!("{{\"directive\":{DIRECTIVE}}}"));
        let entry = |payload| Entry {
            kind: EntryKind::Directive,
            payload,
            session_address: "",
        };
        verify_entry_header(&signature, &entry(DIRECTIVE), &keys(), NOW, 120).unwrap();
        let to_another = DIRECTIVE.replace("agent:bot", "agent:other");
        assert!(verify_entry_header(&signature, &entry(&to_another), &keys(), NOW, 120).is_err());
    }

    #[test]
    fn an_acknowledgement_is_sent_as_it_is() {
        let Signed { body, signature } = signed(PushKind::Ack, ACK);
        assert_eq!(body, ACK);
        verify_ack(&signature, ACK, &keys(), NOW, 120).unwrap();
        let forged = ACK.replace("on it", "done");
        assert!(verify_ack(&signature, &forged, &keys(), NOW, 120).is_err());
    }

    #[test]
    fn what_cannot_be_read_is_not_sent() {
        let key = SigningKey::hmac(b"a secret").unwrap();
        let reading = hub_proto::Timestamp {
            seconds: NOW,
            nanos: 0,
        };
        let clock = HubClock::from_reading(reading).unwrap();
        for kind in [PushKind::Response, PushKind::Directive, PushKind::Ack] {
            let push = Push {
                payload: "{".to_owned(),
                kind: kind.into(),
                ..Push::default()
            };
            assert!(Signed::now(push, &key, clock).is_err(), "{kind:?}");
        }
    }
}
