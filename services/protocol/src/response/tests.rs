use serde_json::{Value, json};
use time::macros::datetime;

use super::{ResponseParts, compose, state_of};
use crate::json::member;
use crate::resolution::Resolution;

fn parts<'a>(detail: &'a str, envelope: &'a str, is_ask: bool) -> ResponseParts<'a> {
    ResponseParts {
        version: "0.6",
        message_id: "msg_1",
        resolution_id: "res_1",
        agent_id: "deploy\"bot",
        run_id: "run_1",
        resolution: if is_ask {
            Resolution::Answered
        } else {
            Resolution::Completed
        },
        defaulted: false,
        actor: "human:alice",
        resolved_at: datetime!(2026-06-04 17:48:30.5 +2),
        detail,
        state: state_of(envelope),
        is_ask,
    }
}

#[test]
fn an_answer() {
    let response = compose(&parts(r#"{"value":"x","edited":true,"comment":"c"}"#, "{}", true));
    let expected = concat!(
        r#"{"ma2h_version":"0.6","in_reply_to":"msg_1","resolution_id":"res_1","#,
        r#""agent":{"id":"deploy\"bot","run_id":"run_1"},"resolution":"answered","#,
        r#""response":{"value":"x","edited":true,"comment":"c","actor":"human:alice","#,
        r#""resolved_at":"2026-06-04T15:48:30.500000Z"}}"#
    );
    assert_eq!(response, expected);
}

#[test]
fn what_stands_in_it_is_verbatim() {
    let state = r#"{"a":1.0, "b":9007199254740993,  "\u0063" : [ 1e2, {"d":{}} ] }"#;
    let value = r#"{ "n":1.0, "o":{"p":{}} }"#;
    let envelope = format!("{{\"title\":\"t\" , \"state\" :  {state} , \"x\":1}}");
    assert_eq!(state_of(&envelope).unwrap().get(), state);
    assert!(state_of("{}").is_none());
    let response = compose(&parts(&format!("{{\"value\":{value}}}"), &envelope, true));
    assert_eq!(member(&response, "state").unwrap().get(), state);
    let inner = member(&response, "response").unwrap().get();
    assert_eq!(member(inner, "value").unwrap().get(), value);
    assert_eq!(member(inner, "actor").unwrap().get(), "\"human:alice\"");
    assert!(response.ends_with(&format!("\"state\":{state}}}")));
}

#[test]
fn when_there_is_an_inner_object() {
    let inner = |detail: &str, is_ask: bool| {
        let response: Value = serde_json::from_str(&compose(&parts(detail, "{}", is_ask))).unwrap();
        response.get("response").cloned()
    };
    let ours = json!({ "actor": "human:alice", "resolved_at": "2026-06-04T15:48:30.500000Z" });
    assert_eq!(inner("{}", true), Some(ours.clone()));
    assert_eq!(inner(" { } ", true), Some(ours));
    assert_eq!(inner("{}", false), None);
    assert_eq!(inner(" { } ", false), None);
    assert_eq!(inner(r#"{"comment":"c"}"#, false).unwrap()["comment"], "c");
    let checklist = json!([{ "text": "one", "done": true }]);
    assert_eq!(
        inner(&json!({ "checklist": checklist }).to_string(), false).unwrap()["checklist"],
        checklist
    );
}

#[test]
fn a_default_says_so() {
    let mut parts = parts(r#"{"value":"hold"}"#, "{}", true);
    parts.resolution = Resolution::Expired;
    parts.actor = "system:default_on_expire";
    parts.defaulted = true;
    let response: Value = serde_json::from_str(&compose(&parts)).unwrap();
    assert_eq!(
        (&response["defaulted"], &response["resolution"]),
        (&json!(true), &json!("expired"))
    );
    assert_eq!(response["response"]["actor"], "system:default_on_expire");
}
