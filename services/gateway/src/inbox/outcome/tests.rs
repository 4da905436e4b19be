use hub_proto::lifecycle::{Attempt, ListAttemptsReply};
use serde_json::{Value, json};
use time::{Duration, OffsetDateTime};

use super::draw;
use crate::inbox::session::tests::session;
use crate::inbox::shown::tests::{ask, resolved};
use crate::principal::Role;

fn drawn(envelope: &Value, status: &str, response: &Value) -> String {
    draw(
        &resolved(envelope, status, response),
        &session("cookie", Role::Operator),
        None,
        OffsetDateTime::UNIX_EPOCH,
    )
    .into_string()
}

fn select() -> Value {
    ask(
        &json!({"mode": "select", "permissions": {"allow_edit": true}, "options": [
            {"value": "ship", "label": "Ship it"}, {"value": "hold", "label": "Hold"}
        ]}),
    )
}

#[test]
fn names_the_option_and_who_chose_it() {
    let response = json!({"resolution": "answered", "response": {"value": "hold", "actor": "human:alice", "comment": "<b>no</b>"}});
    let html = drawn(&select(), "answered", &response);
    assert!(
        html.contains("<p class=\"decision\">Hold</p>") && html.contains("By alice"),
        "{html}"
    );
    assert!(html.contains("&lt;b&gt;no&lt;/b&gt;"), "{html}");
    assert!(!html.contains("Outside the list"), "{html}");
}

#[test]
fn shows_an_edited_answer_as_text() {
    let response = json!({"resolution": "answered", "response": {"value": "<img src=x> **later**", "edited": true, "actor": "human:alice"}});
    let html = drawn(&select(), "answered", &response);
    assert!(
        html.contains("&lt;img src=x&gt; **later**") && html.contains("Outside the list"),
        "{html}"
    );
}

#[test]
fn hides_what_is_sensitive() {
    let schema = json!({"properties": {"key": {"type": "string", "title": "Key", "x-ma2h-sensitive": true}, "note": {"type": "string"}}});
    let response = json!({"resolution": "answered", "response": {"value": {"key": "hunter2", "note": "blue"}, "actor": "human:alice"}});
    let mut envelope = ask(&json!({"mode": "input", "schema": schema}));
    let html = drawn(&envelope, "answered", &response);
    assert!(!html.contains("hunter2") && html.contains("blue"), "{html}");
    envelope["sensitive"] = json!(true);
    let html = drawn(&envelope, "answered", &response);
    assert!(!html.contains("hunter2") && !html.contains("blue"), "{html}");
}

#[test]
fn says_whose_decision_an_expiry_is() {
    let defaulted = json!({"resolution": "expired", "defaulted": true, "response": {"value": "hold", "actor": "system:default_on_expire"}});
    let html = drawn(&select(), "expired", &defaulted);
    assert!(
        html.contains("own default applies") && html.contains("Hold"),
        "{html}"
    );
    let bare = json!({"resolution": "expired", "response": {"actor": "system:expiry"}});
    assert!(drawn(&select(), "expired", &bare).contains("gave no default"));
}

#[test]
fn shows_every_digit_of_an_answer() {
    let text = r#"{"resolution":"answered","response":{"value":{"n":9007199254740993,"ok":true},"actor":"human:alice"}}"#;
    let envelope = ask(&json!({"mode": "input", "schema": {"properties": {"n": {"type": "integer"}}}}));
    let html = drawn(&envelope, "answered", &serde_json::from_str(text).unwrap());
    assert!(
        html.contains("9007199254740993") && html.contains("Yes"),
        "{html}"
    );
}

fn pushed(pushes: &ListAttemptsReply, role: Role) -> String {
    let response = json!({"resolution": "answered", "response": {"value": "hold", "actor": "human:alice"}});
    let shown = resolved(&select(), "answered", &response);
    draw(
        &shown,
        &session("cookie", role),
        Some(pushes),
        OffsetDateTime::UNIX_EPOCH,
    )
    .into_string()
}

#[test]
fn says_when_the_next_attempt_is_due() {
    let at = hub_proto::stamp(OffsetDateTime::UNIX_EPOCH + Duration::minutes(3));
    let pushes = ListAttemptsReply {
        state: "due".to_owned(),
        next_attempt_at: Some(at),
        ..ListAttemptsReply::default()
    };
    let html = pushed(&pushes, Role::Operator);
    assert!(
        html.contains("The next attempt is due") && html.contains(">in 3 min<"),
        "{html}"
    );
    assert!(!html.contains("Send again"), "{html}");
}

#[test]
fn what_was_given_up_can_be_sent_again_by_who_may() {
    let last = Attempt {
        generation: 2,
        number: 5,
        ..Attempt::default()
    };
    for (state, role, offered) in [
        ("exhausted", Role::Operator, true),
        ("refused", Role::Owner, true),
        ("exhausted", Role::Viewer, false),
        ("held", Role::Owner, false),
        ("delivered", Role::Owner, false),
    ] {
        let pushes = ListAttemptsReply {
            state: state.to_owned(),
            attempts: vec![last.clone()],
            next_attempt_at: None,
        };
        let html = pushed(&pushes, role);
        assert_eq!(html.contains("Send again"), offered, "{state} {role:?}: {html}");
        assert_eq!(html.contains(r#"name="after" value="2.5""#), offered, "{html}");
    }
}
