//! What an agent submits, and what is done with it.

use std::str;

use ma2h::address::Actor;
use ma2h::{Envelope, json, resolve, submit, view};
use serde_json::Value;

/// Bodies that a person's client might resolve with.
const ANSWERS: [&str; 4] = [
    r#"{"resolution":"answered","value":"approve","comment":"c"}"#,
    r#"{"resolution":"answered","value":{"reason":"x","n":1}}"#,
    r#"{"resolution":"declined"}"#,
    r#"{"resolution":"completed","checklist":[{"text":"one","done":true}]}"#,
];

/// An envelope is read or refused; what is read is kept, shown and decided without a fault, and nothing of it is lost.
pub fn envelope(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let Ok(value) = json::parse_strict(text) else {
        assert!(Envelope::parse(text).is_err());
        return;
    };
    // What we call JSON is JSON to everyone, and comes back the same.
    assert!(serde_json::from_str::<Value>(text).is_ok());
    assert_eq!(json::parse_strict(&value.to_string()), Ok(value));

    let Ok(envelope) = Envelope::parse(text) else {
        return;
    };
    let _verdict = submit::check(&envelope);
    for actor in [Actor::Human("alice".to_owned()), Actor::agent("a")] {
        let may = resolve::may_resolve(&envelope, &actor);
        for body in ANSWERS {
            if let Ok(answer) = resolve::decide(&envelope, &actor, body) {
                assert!(may && answer.resolution.fits(envelope.kind));
                assert!(json::parse(&answer.detail).is_ok());
            }
        }
    }
    let (detail, defaulted, _) = resolve::expiry_detail(&envelope);
    let detail = json::parse_strict(&detail).unwrap();
    assert_eq!(detail.get("value").is_some(), defaulted);

    let digest = json::lossless_digest(text, &[]).unwrap();
    assert_eq!(json::lossless_digest(&format!(" {text}\n"), &[]), Ok(digest));
    check_views(text);
}

fn check_views(text: &str) {
    let submitted = view::submitter_view("msg_1", "open", text, None, None).unwrap();
    let shown = json::parse_strict(&submitted).unwrap();
    assert_eq!(shown["id"], "msg_1");
    let sent = json::parse_strict(text).unwrap();
    assert_eq!(shown.get("state"), sent.get("state"));
    let human = view::human_view("msg_1", "open", text, None, None, None).unwrap();
    let human = json::parse_strict(&human).unwrap();
    assert!(human.get("state").is_none() && human.get("client_ref").is_none());
    for block in ["request", "action"] {
        assert!(
            human
                .get(block)
                .is_none_or(|block| block.get("callback").is_none())
        );
    }
}
