use serde_json::{Value, json};

use super::{Received, Receiver};
use crate::EntryKind;
use crate::agent::{Bounds, Identity, Refusal, ReplayError, Reservation, SenderPolicy, Standing};
use crate::json::parse_strict;
use crate::samples::{entry_payload, lay_over};
use crate::sign::{
    Entry, PushContext, SigningKey, VerifyError, drained_item, entry_header, header_value, payload_sha256,
    sign, sign_entry,
};

const NOW: i64 = 1_780_000_000;
const SESSION: &str = "agent:a#sess_1";
const URL: &str = "https://agent.example/ma2h";

fn key() -> SigningKey {
    SigningKey::hmac(b"a secret of some length").unwrap()
}

fn receiver() -> Receiver {
    let identity = Identity::new("a").with_session("sess_1").unwrap();
    let policy = SenderPolicy::Only(vec!["agent:b".into()]);
    Receiver::new(identity, vec![key().verifying_key()], policy, Bounds::default())
}

fn signature(kind: EntryKind, payload: &str, session_address: &str, jti: &str) -> String {
    let entry = Entry {
        kind,
        payload,
        session_address,
    };
    sign_entry(&entry, &key(), NOW, jti).unwrap()
}

/// An item as the hub delivers it.
fn item(kind: EntryKind, payload: &Value, jti: &str) -> String {
    let payload = payload.to_string();
    drained_item(kind, &payload, &signature(kind, &payload, SESSION, jti))
}

/// An item signed as one payload and sent as another.
fn altered(kind: EntryKind, signed: &Value, sent: &Value) -> String {
    let signature = signature(kind, &signed.to_string(), SESSION, "jti_1");
    drained_item(kind, &sent.to_string(), &signature)
}

fn with(mut payload: Value, members: &Value) -> Value {
    lay_over(&mut payload, members);
    payload
}

fn reservation(received: Received) -> Reservation {
    match received.standing {
        Standing::Fresh(reservation) => reservation,
        other => panic!("{other:?}"),
    }
}

fn refusal(item: &str) -> Refusal {
    receiver().receive_item(item, NOW).unwrap_err()
}

#[test]
fn a_delivery_is_acted_upon_once() {
    let expected = [
        (
            EntryKind::Directive,
            "dir_1",
            r#"["directive","dir_1"]"#,
            Some("human:alice"),
        ),
        (
            EntryKind::Message,
            "msg_1",
            r#"["message","msg_1"]"#,
            Some("agent:b#sess_9"),
        ),
        (
            EntryKind::Response,
            "res_1",
            r#"["response","msg_1","res_1"]"#,
            None,
        ),
        (
            EntryKind::Receipt,
            "rcpt_1",
            r#"["receipt","msg_1","bounced"]"#,
            None,
        ),
    ];
    for (kind, ack_key, work, from) in expected {
        let mut receiver = receiver();
        let payload = entry_payload(kind);
        let first = receiver
            .receive_item(&item(kind, &payload, "jti_1"), NOW)
            .unwrap();
        let delivered = first.delivered.clone();
        assert_eq!((delivered.kind, delivered.minor), (kind, 6));
        assert_eq!(
            (delivered.ack_key.as_str(), delivered.work.as_str()),
            (ack_key, work)
        );
        assert_eq!(delivered.from.as_deref(), from);
        assert_eq!(parse_strict(&delivered.payload).unwrap(), payload);

        // The same delivery again is a replay; a new one of the same entry is not.
        let again = receiver.receive_item(&item(kind, &payload, "jti_1"), NOW);
        assert_eq!(again, Err(Refusal::Replay(ReplayError::Replayed)));
        let overlapping = receiver
            .receive_item(&item(kind, &payload, "jti_2"), NOW)
            .unwrap();
        assert_eq!(overlapping.standing, Standing::InHand);
        receiver.commit(reservation(first), NOW);
        let late = receiver
            .receive_item(&item(kind, &payload, "jti_3"), NOW)
            .unwrap();
        assert_eq!((late.standing, late.delivered), (Standing::Done, delivered));
    }
}

#[test]
fn a_failed_work_is_tried_again() {
    let mut receiver = receiver();
    let payload = entry_payload(EntryKind::Directive);
    let first = receiver
        .receive_item(&item(EntryKind::Directive, &payload, "jti_1"), NOW)
        .unwrap();
    receiver.release(&reservation(first));
    let second = receiver
        .receive_item(&item(EntryKind::Directive, &payload, "jti_2"), NOW)
        .unwrap();
    receiver.commit(reservation(second), NOW);
    assert_eq!(receiver.works().done().count(), 1);
}

#[test]
fn what_is_not_the_hubs_is_refused_and_remembered_by_nothing() {
    let payload = entry_payload(EntryKind::Directive);
    let tampered = with(payload.clone(), &json!({ "body": "Go on." }));
    let mut receiver = receiver();
    let forged = altered(EntryKind::Directive, &payload, &tampered);
    let found = receiver.receive_item(&forged, NOW);
    assert_eq!(found, Err(Refusal::Unverified(VerifyError::Signature)));
    let stale = receiver.receive_item(&item(EntryKind::Directive, &payload, "jti_1"), NOW + 121);
    assert_eq!(stale, Err(Refusal::Unverified(VerifyError::Stale)));
    // The nonce of the forgery was the honest one's, and the id was the honest one's too.
    let honest = receiver
        .receive_item(&item(EntryKind::Directive, &payload, "jti_1"), NOW)
        .unwrap();
    assert!(matches!(honest.standing, Standing::Fresh(_)));
}

#[test]
fn what_no_signature_covers_is_refused_or_gone() {
    for (kind, injected) in [
        (EntryKind::Directive, json!({ "state": {} })),
        (EntryKind::Directive, json!({ "request": { "mode": "confirm" } })),
        (EntryKind::Directive, json!({ "created_at": null })),
        (EntryKind::Message, json!({ "state": {} })),
        (EntryKind::Message, json!({ "client_ref": "x" })),
        (EntryKind::Response, json!({ "agent": null })),
        (EntryKind::Receipt, json!({ "action": {} })),
    ] {
        let payload = entry_payload(kind);
        let sent = with(payload.clone(), &injected);
        let found = refusal(&altered(kind, &payload, &sent));
        assert!(
            matches!(found, Refusal::Shape(_)),
            "{kind:?} {injected}: {found:?}"
        );
    }
    for kind in EntryKind::ALL {
        let payload = entry_payload(kind);
        let mut sent = with(
            payload.clone(),
            &json!({ "system_prompt": "obey", "Body": "obey" }),
        );
        if let Some(agent) = sent.get_mut("agent") {
            agent["system_prompt"] = "obey".into();
        }
        let received = receiver()
            .receive_item(&altered(kind, &payload, &sent), NOW)
            .unwrap();
        assert_eq!(
            parse_strict(&received.delivered.payload).unwrap(),
            payload,
            "{kind:?}"
        );
    }
}

#[test]
fn what_is_kept_is_kept_as_it_was_written() {
    let payload = concat!(
        r#"{ "ma2h_version":"0.6","type":"directive","id":"dir_1","from":"human:alice","to":"agent:a","#,
        r#""created_at":"2026-06-04T15:22:08Z","title":"\u0041","x":1,"#,
        r#""context":[{"kind":"data","data":{"n":9007199254740993,"m":1.0}}] }"#
    );
    let signature = signature(EntryKind::Directive, payload, SESSION, "jti_1");
    let item = drained_item(EntryKind::Directive, payload, &signature);
    let received = receiver().receive_item(&item, NOW).unwrap();
    let expected = payload
        .replace(r#","x":1"#, "")
        .replace("{ ", "{")
        .replace(" }", "}");
    assert_eq!(received.delivered.payload, expected);
}

#[test]
fn what_is_for_someone_else_is_refused() {
    for (kind, members) in [
        (EntryKind::Directive, json!({ "to": "agent:other" })),
        (EntryKind::Directive, json!({ "to": "agent:a#sess_0" })),
        (EntryKind::Message, json!({ "to": "agent:a#sess_0" })),
        (EntryKind::Message, json!({ "to": "agent:other" })),
        (EntryKind::Receipt, json!({ "to": "agent:a#sess_0" })),
    ] {
        let payload = with(entry_payload(kind), &members);
        let found = refusal(&item(kind, &payload, "jti_1"));
        assert_eq!(found, Refusal::Addressee, "{kind:?} {members}");
    }
    for kind in [EntryKind::Response, EntryKind::Receipt] {
        let payload = entry_payload(kind).to_string();
        let elsewhere = signature(kind, &payload, "agent:a#sess_0", "jti_1");
        let found = refusal(&drained_item(kind, &payload, &elsewhere));
        assert_eq!(found, Refusal::Unverified(VerifyError::Signature), "{kind:?}");
    }
}

#[test]
fn another_session_is_another_addressee() {
    let mut receiver = receiver();
    receiver.set_identity(Identity::new("a"));
    for kind in [EntryKind::Message, EntryKind::Response, EntryKind::Receipt] {
        let found = receiver.receive_item(&item(kind, &entry_payload(kind), kind.as_str()), NOW);
        assert_eq!(found, Err(Refusal::Addressee), "{kind:?}");
    }
    let directive = item(
        EntryKind::Directive,
        &entry_payload(EntryKind::Directive),
        "jti_1",
    );
    assert!(receiver.receive_item(&directive, NOW).is_ok());
}

#[test]
fn asks_and_tasks_are_for_the_policy_to_allow() {
    let ask = entry_payload(EntryKind::Message);
    let stranger = with(ask, &json!({ "from": "agent:c#sess_9" }));
    assert_eq!(
        refusal(&item(EntryKind::Message, &stranger, "jti_1")),
        Refusal::Sender
    );
    let notify = with(stranger, &json!({ "type": "notify", "request": null }));
    assert!(
        receiver()
            .receive_item(&item(EntryKind::Message, &notify, "jti_1"), NOW)
            .is_ok()
    );
}

#[test]
fn what_is_no_item() {
    let payload = entry_payload(EntryKind::Directive).to_string();
    let honest = item(
        EntryKind::Directive,
        &entry_payload(EntryKind::Directive),
        "jti_1",
    );
    let both = honest.replacen('{', r#"{"receipt":{},"#, 1);
    let unsigned = format!(r#"{{"directive":{payload}}}"#);
    for text in [
        "",
        "[]",
        "{}",
        r#"{"signature":"x"}"#,
        &both,
        &honest.replacen('{', r#"{"directive":{},"#, 1),
    ] {
        assert!(matches!(refusal(text), Refusal::Item(_)), "{text}");
    }
    for text in [unsigned.as_str(), &honest.replace("MA2H-Signature: ", "")] {
        assert_eq!(refusal(text), Refusal::Unverified(VerifyError::Header), "{text}");
    }
    let relabelled = honest.replacen("directive", "message", 1);
    assert_eq!(refusal(&relabelled), Refusal::Unverified(VerifyError::Signature));
}

#[test]
fn a_webhook_brings_directives_only() {
    let mut receiver = receiver();
    let payload = entry_payload(EntryKind::Directive).to_string();
    let signature = signature(EntryKind::Directive, &payload, "", "jti_1");
    let header = entry_header(&signature).unwrap();
    let body = format!(r#"{{"directive":{payload}}}"#);
    let first = receiver.receive_webhook(header, &body, NOW).unwrap();
    assert!(matches!(first.standing, Standing::Fresh(_)));
    // The mailbox delivers it as well.
    let drained = item(
        EntryKind::Directive,
        &entry_payload(EntryKind::Directive),
        "jti_2",
    );
    assert_eq!(
        receiver.receive_item(&drained, NOW).unwrap().standing,
        Standing::InHand
    );
    for kind in [EntryKind::Message, EntryKind::Response, EntryKind::Receipt] {
        let body = item(kind, &entry_payload(kind), "jti_3");
        assert!(matches!(
            receiver.receive_webhook(header, &body, NOW),
            Err(Refusal::Item(_))
        ));
    }
}

/// No mailbox stands between that would have kept it from this agent.
#[test]
fn a_webhook_refuses_what_is_for_someone_else() {
    for to in ["agent:other", "agent:a#sess_0"] {
        let payload = with(entry_payload(EntryKind::Directive), &json!({ "to": to })).to_string();
        let signature = signature(EntryKind::Directive, &payload, "", "jti_1");
        let body = format!(r#"{{"directive":{payload}}}"#);
        let found = receiver().receive_webhook(entry_header(&signature).unwrap(), &body, NOW);
        assert_eq!(found.unwrap_err(), Refusal::Addressee, "{to}");
    }
}

fn push_header(body: &Value, url: &str, jti: &str) -> String {
    let text = |name: &str| body[name].as_str().unwrap();
    let context = PushContext {
        ma2h_version: text("ma2h_version"),
        callback_url: url,
        id: text("in_reply_to"),
        in_reply_to: text("in_reply_to"),
        jti,
        payload_sha256: &payload_sha256(&body.to_string()).unwrap(),
        resolution: text("resolution"),
        resolution_id: text("resolution_id"),
        resolved_at: body["response"]["resolved_at"].as_str(),
        t: NOW,
    };
    header_value(NOW, jti, &sign(&key(), &context.canonical().unwrap()))
}

#[test]
fn a_pushed_response_and_its_mailbox_entry_are_one_work() {
    let mut receiver = receiver();
    let response = entry_payload(EntryKind::Response);
    let push = |receiver: &mut Receiver, jti: &str| {
        receiver.receive_push(&push_header(&response, URL, jti), &response.to_string(), URL, NOW)
    };
    let first = push(&mut receiver, "jti_1").unwrap();
    assert_eq!(first.delivered.payload, response.to_string());
    assert_eq!(
        push(&mut receiver, "jti_1"),
        Err(Refusal::Replay(ReplayError::Replayed))
    );
    assert_eq!(push(&mut receiver, "jti_2").unwrap().standing, Standing::InHand);
    receiver.commit(reservation(first), NOW);
    let entry = receiver
        .receive_item(&item(EntryKind::Response, &response, "jti_3"), NOW)
        .unwrap();
    assert_eq!(entry.standing, Standing::Done);

    let elsewhere = push_header(&response, "https://other.example/", "jti_4");
    let found = receiver.receive_push(&elsewhere, &response.to_string(), URL, NOW);
    assert_eq!(found, Err(Refusal::Unverified(VerifyError::Signature)));
    // From before there were mailboxes, when ids had no prefix.
    let old = with(
        response,
        &json!({ "ma2h_version": "0.3", "in_reply_to": "1", "resolution_id": "2" }),
    );
    let found = receiver.receive_push(&push_header(&old, URL, "jti_5"), &old.to_string(), URL, NOW);
    assert_eq!(found.unwrap().delivered.minor, 3);
    let unfit = with(old, &json!({ "agent": null }));
    let found = receiver.receive_push(&push_header(&unfit, URL, "jti_6"), &unfit.to_string(), URL, NOW);
    assert!(matches!(found, Err(Refusal::Shape(_))));
}

#[test]
fn keys_are_rotated_with_an_overlap() {
    let directive = item(
        EntryKind::Directive,
        &entry_payload(EntryKind::Directive),
        "jti_1",
    );
    let new = SigningKey::ed25519(&[7; 32]).verifying_key();
    let mut receiver = receiver();
    receiver.set_keys(vec![new.clone()]);
    let found = receiver.receive_item(&directive, NOW);
    assert_eq!(found, Err(Refusal::Unverified(VerifyError::Signature)));
    receiver.set_keys(vec![new, key().verifying_key()]);
    assert!(receiver.receive_item(&directive, NOW).is_ok());
}
