use serde_json::{Value, json};

use super::super::fields::Fields;
use super::super::session::tests::session;
use super::super::shown::tests::{ask, open};
use super::{Complaints, Entry, draw, read};
use crate::principal::Role;

fn select(allow_edit: bool) -> Value {
    ask(&json!({
        "mode": "select",
        "permissions": {"allow_edit": allow_edit},
        "allowed_resolvers": ["human:alice"],
        "options": [
            {"value": "ship\r\nit", "label": "Ship <b>", "description": "Now."},
            {"value": "hold", "label": "Hold"}
        ]
    }))
}

fn confirm(allow_edit: bool) -> Value {
    ask(
        &json!({"mode": "confirm", "permissions": {"allow_edit": allow_edit}, "allowed_resolvers": ["human:alice"]}),
    )
}

fn task() -> Value {
    let mut envelope = ask(&json!(null));
    envelope["type"] = json!("task");
    envelope["action"] = json!({
        "instructions": "Rotate it",
        "allowed_resolvers": ["human:alice"],
        "checklist": [{"text": "one", "done": false}, {"text": "two", "done": true}]
    });
    envelope.as_object_mut().unwrap().remove("request");
    envelope
}

fn posted<const N: usize>(envelope: &Value, pairs: [(&str, &str); N]) -> Result<Value, Complaints> {
    read(&open(envelope), &Fields::from(pairs))
}

fn drawn(envelope: &Value, role: Role) -> String {
    let entry = Entry {
        typed: None,
        complaints: &Complaints::default(),
    };
    draw(&open(envelope), &session("secret", role), &entry).into_string()
}

#[test]
fn an_option_is_answered_by_its_exact_value() {
    let body = posted(
        &select(false),
        [
            ("choice", "0"),
            ("resolution", "answered"),
            ("comment", " ok \r\n"),
        ],
    )
    .unwrap();
    assert_eq!(
        body,
        json!({"resolution": "answered", "value": "ship\r\nit", "comment": " ok"})
    );
    assert!(posted(&select(false), [("choice", "2")]).is_err());
    assert!(posted(&select(false), [("choice", "hold")]).is_err());
    assert!(posted(&select(false), []).is_err());
}

#[test]
fn own_words_count_only_where_the_agent_takes_them() {
    let complaint = posted(&select(false), [("choice", "other"), ("free", "later")]);
    assert!(complaint.is_err());
    let body = posted(&select(true), [("choice", "other"), ("free", " later\r\nmaybe")]).unwrap();
    assert_eq!(body["value"], " later\nmaybe");
    assert_eq!(
        posted(&select(true), [("free", "later")]).unwrap()["value"],
        "later"
    );
    assert!(posted(&select(true), [("choice", "other"), ("free", "  ")]).is_err());
    assert!(
        posted(&select(true), [("choice", "1"), ("free", "later")]).is_err(),
        "two answers at once"
    );
    assert_eq!(
        posted(&select(true), [("choice", "1"), ("free", " ")]).unwrap()["value"],
        "hold"
    );
}

#[test]
fn a_button_confirms() {
    assert_eq!(
        posted(&confirm(false), [("choice", "0")]).unwrap(),
        json!({"resolution": "answered", "value": "approve"})
    );
    assert_eq!(
        posted(&confirm(false), [("choice", "1")]).unwrap()["value"],
        "deny"
    );
    assert!(posted(&confirm(false), [("choice", "other"), ("free", "x")]).is_err());
    assert_eq!(
        posted(&confirm(true), [("choice", "other"), ("free", "x")]).unwrap()["value"],
        "x"
    );
    assert!(posted(&confirm(true), [("choice", "0"), ("free", "but wait")]).is_err());
    assert!(posted(&confirm(true), []).is_err());
}

#[test]
fn declining_needs_no_answer() {
    let body = posted(
        &select(false),
        [("resolution", "declined"), ("choice", "0"), ("comment", "no")],
    )
    .unwrap();
    assert_eq!(body, json!({"resolution": "declined", "comment": "no"}));
}

#[test]
fn a_task_ends_with_its_list() {
    let body = posted(&task(), [("resolution", "completed"), ("done.0", "yes")]).unwrap();
    assert_eq!(
        body,
        json!({"resolution": "completed", "checklist": [{"text": "one", "done": true}, {"text": "two", "done": false}]})
    );
    assert_eq!(
        posted(&task(), [("resolution", "dismissed")]).unwrap()["resolution"],
        "dismissed"
    );
    assert!(posted(&task(), [("resolution", "answered")]).is_err());
}

#[test]
fn the_box_for_own_words_is_there_where_it_counts() {
    assert!(!drawn(&select(false), Role::Operator).contains("name=\"free\""));
    assert!(drawn(&select(true), Role::Operator).contains("name=\"free\""));
    assert!(drawn(&confirm(true), Role::Operator).contains("name=\"free\""));
    let mut older = select(true);
    older["ma2h_version"] = json!("0.5");
    assert!(!drawn(&older, Role::Operator).contains("name=\"free\""));
}

#[test]
fn says_why_it_is_switched_off() {
    let html = drawn(&select(false), Role::Operator);
    assert!(
        !html.contains("<fieldset class=\"bare stack\" disabled"),
        "{html}"
    );
    let html = drawn(&select(false), Role::Viewer);
    assert!(
        html.contains("disabled") && html.contains("as a viewer"),
        "{html}"
    );
    let mut others = select(false);
    others["request"]["allowed_resolvers"] = json!(["human:bob", "agent:x"]);
    let html = drawn(&others, Role::Owner);
    assert!(
        html.contains("disabled") && html.contains("“bob” or “agent x”"),
        "{html}"
    );
    others["request"]
        .as_object_mut()
        .unwrap()
        .remove("allowed_resolvers");
    let html = drawn(&others, Role::Owner);
    assert!(
        html.contains("disabled") && html.contains("named nobody"),
        "{html}"
    );
}

#[test]
fn offers_only_what_is_permitted() {
    let permissions = |respond: bool, ignore: bool| {
        let mut envelope = select(false);
        envelope["request"]["permissions"] = json!({"allow_respond": respond, "allow_ignore": ignore});
        drawn(&envelope, Role::Operator)
    };
    let has = |html: &str| {
        (
            html.contains("value=\"answered\""),
            html.contains("value=\"declined\""),
        )
    };
    assert_eq!(has(&permissions(true, true)), (true, true));
    assert_eq!(has(&permissions(true, false)), (true, false));
    assert_eq!(has(&permissions(false, true)), (false, true));
    assert_eq!(has(&permissions(false, false)), (false, false));
}

#[test]
fn escapes_what_the_agent_wrote() {
    let html = drawn(&select(false), Role::Operator);
    assert!(html.contains("Ship &lt;b&gt;") && !html.contains("<b>"), "{html}");
}

#[test]
fn says_what_silence_means() {
    let mut envelope = select(false);
    assert!(!drawn(&envelope, Role::Operator).contains("nobody answers"));
    envelope["expires_at"] = json!("2126-01-01T00:00:00Z");
    assert!(drawn(&envelope, Role::Operator).contains("ends without an answer"));
    envelope["request"]["default_on_expire"] = json!("hold");
    assert!(drawn(&envelope, Role::Operator).contains("the agent goes by “Hold”"));
}
