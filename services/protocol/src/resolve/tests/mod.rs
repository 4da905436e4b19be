mod expiries;
mod resolvers;

use serde_json::{Value, json};

use super::{COMMENT_BYTES_MAX, Resolution, decide};
use crate::address::Actor;
use crate::error::ErrorCode;
use crate::samples::{ask, at, input, notify, read, task};

/// How `human:alice`, who may, fares with a body: the resolution and the detail, or the status and the message.
fn resolved(envelope: &Value, body: &str) -> Result<(Resolution, String), (u16, String)> {
    let mut envelope = envelope.clone();
    let block = if envelope["type"] == "ask" {
        "request"
    } else {
        "action"
    };
    if envelope["type"] != "notify" {
        envelope[block]["allowed_resolvers"] = json!(["human:alice"]);
    }
    let answer = decide(&read(&envelope), &Actor::Human("alice".into()), body);
    answer
        .map(|answer| (answer.resolution, answer.detail))
        .map_err(|problem| (problem.code.http_status(), problem.message))
}

fn accepted(envelope: &Value, body: &str, resolution: Resolution, detail: &str) {
    assert_eq!(
        resolved(envelope, body),
        Ok((resolution, detail.to_owned())),
        "{envelope} {body}"
    );
}

fn refused(envelope: &Value, body: &str, status: u16, message: &str) {
    let (found, text) = resolved(envelope, body).unwrap_err();
    assert_eq!(found, status, "{envelope} {body}: {text}");
    assert!(text.starts_with(message), "{envelope} {body}: {text}");
}

#[test]
fn listed_answers() {
    let confirm = ask(&json!({ "mode": "confirm", "options": null }));
    let pair = ask(&json!({ "mode": "confirm" }));
    for envelope in [
        ask(&json!({})),
        ask(&json!({ "permissions": { "allow_edit": true } })),
    ] {
        let body = r#"{"resolution":"answered","value":"hold"}"#;
        accepted(&envelope, body, Resolution::Answered, r#"{"value":"hold"}"#);
    }
    let body = r#"{"resolution":"answered","value":"approve","comment":"c"}"#;
    accepted(
        &confirm,
        body,
        Resolution::Answered,
        r#"{"value":"approve","comment":"c"}"#,
    );
    refused(&pair, body, 422, "value: ");
    refused(
        &ask(&json!({})),
        r#"{"resolution":"answered","value":{"a":1}}"#,
        422,
        "value: expected a string",
    );
    for value in ["Hold", "hold ", " hold", "", "hold\u{301}"] {
        let body = json!({ "resolution": "answered", "value": value }).to_string();
        refused(
            &ask(&json!({})),
            &body,
            422,
            "value: expected one of the options' values",
        );
    }
}

#[test]
fn free_form_answers() {
    let edit = json!({ "permissions": { "allow_edit": true } });
    let confirm = json!({ "mode": "confirm", "options": null, "permissions": { "allow_edit": true } });
    for (envelope, value) in [
        (ask(&edit), r#""hold, until the migration lands""#),
        (ask(&edit), r#""Hold""#),
        (ask(&edit), r#"" hold ""#),
        (ask(&edit), r#""""#),
        (ask(&edit), r#""\u0000\ud83d\ude00""#),
        (at("0.10", ask(&edit)), r#""x""#),
        (ask(&confirm), r#""Approve""#),
        (ask(&confirm), r#""ship""#),
    ] {
        let body = format!("{{\"resolution\":\"answered\",\"value\":{value}}}");
        accepted(
            &envelope,
            &body,
            Resolution::Answered,
            &format!("{{\"value\":{value},\"edited\":true}}"),
        );
    }
    for envelope in [
        ask(&json!({})),
        ask(&json!({ "permissions": { "allow_edit": false } })),
        at("0.5", ask(&edit)),
        at("0.3", ask(&edit)),
    ] {
        refused(
            &envelope,
            r#"{"resolution":"answered","value":"wait"}"#,
            422,
            "value: expected one of",
        );
    }
    refused(
        &ask(&edit),
        r#"{"resolution":"answered","value":{}}"#,
        422,
        "value: expected a string",
    );
    refused(
        &ask(&edit),
        r#"{"resolution":"answered","value":1}"#,
        400,
        "value",
    );
}

#[test]
fn what_the_resolver_says_of_edited_is_ignored() {
    let edit = ask(&json!({ "permissions": { "allow_edit": true } }));
    for edited in ["true", "false", "null", "\"x\"", "[1]"] {
        let body = |value: &str| {
            format!("{{\"edited\":{edited},\"value\":\"{value}\",\"resolution\":\"answered\"}}")
        };
        accepted(&edit, &body("ship"), Resolution::Answered, r#"{"value":"ship"}"#);
        accepted(
            &edit,
            &body("other"),
            Resolution::Answered,
            r#"{"value":"other","edited":true}"#,
        );
    }
}

#[test]
fn input_answers() {
    let asked = input(&json!({}));
    let value = r#"{ "reason":"r", "n":1.0, "m":9007199254740993 }"#;
    let body = format!("{{\"resolution\":\"answered\",\"value\":{value}}}");
    accepted(
        &asked,
        &body,
        Resolution::Answered,
        &format!("{{\"value\":{value}}}"),
    );
    let edit = input(&json!({ "permissions": { "allow_edit": true } }));
    accepted(
        &edit,
        &body,
        Resolution::Answered,
        &format!("{{\"value\":{value}}}"),
    );
    for envelope in [&asked, &edit] {
        refused(
            envelope,
            r#"{"resolution":"answered","value":"r"}"#,
            422,
            "value: expected an object",
        );
        refused(
            envelope,
            r#"{"resolution":"answered","value":{}}"#,
            422,
            "value: ",
        );
        refused(
            envelope,
            r#"{"resolution":"answered","value":{"reason":1}}"#,
            422,
            "value: reason: ",
        );
    }
    let nullable = input(&json!({ "schema": { "type": ["object", "null"], "properties": { "a": {} } } }));
    refused(
        &nullable,
        r#"{"resolution":"answered","value":null}"#,
        400,
        "value",
    );
    // Stored before such a schema was refused at submit: never a failure of the hub's.
    for schema in [
        json!({ "type": "string" }),
        json!({ "properties": { "a": 42 } }),
        json!([]),
    ] {
        let stored = input(&json!({ "schema": schema }));
        refused(
            &stored,
            r#"{"resolution":"answered","value":{"a":1}}"#,
            422,
            "value: ",
        );
        accepted(
            &stored,
            r#"{"resolution":"declined"}"#,
            Resolution::Declined,
            "{}",
        );
    }
}

#[test]
fn the_resolution_fits_the_verb() {
    let declined = r#"{"resolution":"declined","comment":"no"}"#;
    let completed = r#"{"resolution":"completed","checklist":[ {"text":"one","done":true} ],"comment":"c"}"#;
    let dismissed = r#"{"resolution":"dismissed"}"#;
    let answered = r#"{"resolution":"answered","value":"ship"}"#;
    accepted(
        &ask(&json!({})),
        declined,
        Resolution::Declined,
        r#"{"comment":"no"}"#,
    );
    let kept = r#"{"comment":"c","checklist":[ {"text":"one","done":true} ]}"#;
    accepted(&task(&json!({})), completed, Resolution::Completed, kept);
    accepted(&task(&json!({})), dismissed, Resolution::Dismissed, "{}");
    refused(
        &ask(&json!({})),
        completed,
        422,
        "resolution: an ask is answered or declined",
    );
    refused(
        &ask(&json!({})),
        dismissed,
        422,
        "resolution: an ask is answered or declined",
    );
    refused(
        &task(&json!({})),
        answered,
        422,
        "resolution: a task is completed or dismissed",
    );
    refused(
        &task(&json!({})),
        declined,
        422,
        "resolution: a task is completed or dismissed",
    );
    for body in [declined, completed, dismissed, answered] {
        refused(&notify(), body, 422, "resolution: a notify is not resolved");
    }
}

#[test]
fn permissions_take_affordances_away() {
    let silent = ask(&json!({ "permissions": { "allow_respond": false, "allow_edit": true } }));
    let insistent = ask(&json!({ "permissions": { "allow_ignore": false } }));
    refused(
        &silent,
        r#"{"resolution":"answered","value":"ship"}"#,
        422,
        "resolution: this ask may not be answered",
    );
    accepted(
        &silent,
        r#"{"resolution":"declined"}"#,
        Resolution::Declined,
        "{}",
    );
    refused(
        &insistent,
        r#"{"resolution":"declined"}"#,
        422,
        "resolution: this ask may not be declined",
    );
    let body = r#"{"resolution":"answered","value":"ship"}"#;
    accepted(&insistent, body, Resolution::Answered, r#"{"value":"ship"}"#);
}

#[test]
fn shapes() {
    let asked = ask(&json!({}));
    for body in [
        "",
        "[]",
        "{}",
        r#"{"resolution":"cancelled"}"#,
        r#"{"resolution":"expired"}"#,
        r#"{"resolution":"ignored"}"#,
        r#"{"resolution":"answered"}"#,
        r#"{"resolution":"declined","value":"ship"}"#,
        r#"{"resolution":"declined","comment":1}"#,
        r#"{"resolution":"declined","checklist":[]}"#,
        r#"{"resolution":"completed","checklist":[{"text":"x"}]}"#,
        r#"{"resolution":"declined","resolution":"answered"}"#,
        r#"{"resolution":"declined","comment":"\ud800"}"#,
    ] {
        assert_eq!(resolved(&asked, body).unwrap_err().0, 400, "{body}");
    }
}

#[test]
fn the_order_of_the_refusals() {
    let asked = read(&ask(&json!({ "allowed_resolvers": ["human:bob"] })));
    let alice = Actor::Human("alice".into());
    let cases = [
        ("{", ErrorCode::ValidationError),
        (r#"{"resolution":"answered"}"#, ErrorCode::ValidationError),
        (r#"{"resolution":"completed"}"#, ErrorCode::NotAuthorized),
        (
            r#"{"resolution":"answered","value":"x"}"#,
            ErrorCode::NotAuthorized,
        ),
        (
            r#"{"resolution":"answered","value":"ship"}"#,
            ErrorCode::NotAuthorized,
        ),
    ];
    for (body, code) in cases {
        assert_eq!(decide(&asked, &alice, body).unwrap_err().code, code, "{body}");
    }
    let edit = ask(&json!({ "permissions": { "allow_respond": false } }));
    refused(
        &edit,
        r#"{"resolution":"answered","value":"nowhere"}"#,
        422,
        "resolution: ",
    );
}

#[test]
fn comments_and_checklists_are_bounded() {
    let body = |length: usize| {
        let comment = "é".repeat(length / 2);
        json!({ "resolution": "declined", "comment": comment }).to_string()
    };
    assert!(resolved(&ask(&json!({})), &body(COMMENT_BYTES_MAX)).is_ok());
    refused(
        &ask(&json!({})),
        &body(COMMENT_BYTES_MAX + 2),
        422,
        "comment: longer than 16384 bytes",
    );
    let item = json!({ "text": "x".repeat(1000), "done": true });
    let long = json!({ "resolution": "completed", "checklist": vec![item; 17] }).to_string();
    refused(
        &task(&json!({})),
        &long,
        422,
        "checklist: longer than 16384 bytes",
    );
}
