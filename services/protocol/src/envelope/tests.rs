use serde_json::{Value, json};
use time::macros::datetime;

use super::{AuthScheme, Callback, Choice, Envelope, Item, MessageType, Mode, Priority, Task};
use crate::error::ErrorCode;
use crate::samples::{ask, at, input, lay_over, notify, read, task};

#[test]
fn what_a_full_envelope_says() {
    let mut sent = ask(&json!({
        "allowed_resolvers": ["human:alice"],
        "permissions": { "allow_edit": true, "allow_respond": true, "allow_ignore": false, "allow_accept": 3 },
        "default_on_expire": "hold",
        "callback": {
            "mode": "push", "url": "https://agent.example/x", "auth": { "scheme": "hmac", "secret_ref": "env:S" }
        },
    }));
    lay_over(
        &mut sent,
        &json!({
            "priority": "urgent", "tags": ["a", "b"], "sensitive": true, "body": "b", "to": "agent:x",
            "expires_at": "2026-06-05T00:00:00+02:00",
            "agent": {
                "id": "deploybot", "run_id": "run_9", "runtime": "other", "session": "sess_1", "project": "web",
                "labels": { "model": "m" }
            },
        }),
    );
    let envelope = read(&sent);
    let asked = envelope.ask.as_ref().unwrap();
    assert_eq!(envelope.kind, MessageType::Ask);
    assert_eq!(envelope.version.minor(), 6);
    assert_eq!(
        (envelope.agent_id.as_str(), envelope.run_id.as_str()),
        ("deploybot", "run_9")
    );
    assert_eq!(envelope.runtime, "other");
    assert_eq!(envelope.project.as_deref(), Some("web"));
    assert_eq!(envelope.session.as_deref(), Some("sess_1"));
    assert_eq!(envelope.to.as_deref(), Some("agent:x"));
    assert_eq!((envelope.priority, envelope.sensitive), (Priority::Urgent, true));
    assert_eq!(envelope.tags, ["a", "b"]);
    assert_eq!(envelope.body.as_deref(), Some("b"));
    assert_eq!(envelope.expires_at, Some(datetime!(2026-06-04 22:00 UTC)));
    assert_eq!(envelope.idempotency_key.as_deref(), Some("k"));
    assert_eq!(
        envelope.allowed_resolvers.as_deref(),
        Some(["human:alice".to_owned()].as_slice())
    );
    assert_eq!(
        envelope.callback,
        Some(Callback {
            url: "https://agent.example/x".into(),
            scheme: AuthScheme::Hmac,
            credential_ref: "env:S".into()
        })
    );
    assert_eq!(asked.mode, Mode::Select);
    assert_eq!(
        asked.options,
        [Choice::plain("ship", "Ship"), Choice::plain("hold", "Hold")]
    );
    assert_eq!(
        (asked.allow_edit, asked.allow_respond, asked.allow_ignore),
        (true, true, false)
    );
    assert_eq!(asked.default_on_expire, Some(json!("hold")));
}

#[test]
fn what_is_left_out_has_a_default() {
    let envelope = read(&notify());
    assert_eq!((envelope.priority, envelope.sensitive), (Priority::Normal, false));
    assert!(envelope.tags.is_empty() && envelope.expires_at.is_none() && envelope.callback.is_none());
    assert!(envelope.ask.is_none() && envelope.task.is_none() && envelope.allowed_resolvers.is_none());
    let asked = read(&ask(&json!({}))).ask.unwrap();
    assert_eq!(
        (asked.allow_edit, asked.allow_respond, asked.allow_ignore),
        (false, true, true)
    );
    assert!(asked.default_on_expire.is_none() && asked.listed && asked.repeated_value.is_none());
}

#[test]
fn a_task_has_steps() {
    let steps = json!([{ "text": "one" }, { "text": "two", "done": true, "x": 1 }]);
    let envelope = read(&task(&json!({ "checklist": steps, "verification": "v" })));
    let expected = Task {
        instructions: "do".into(),
        checklist: vec![
            Item {
                text: "one".into(),
                done: false,
            },
            Item {
                text: "two".into(),
                done: true,
            },
        ],
        verification: Some("v".into()),
    };
    assert_eq!(envelope.task, Some(expected));
}

#[test]
fn options_in_effect() {
    let values = |envelope: &Value| {
        let asked = read(envelope).ask.unwrap();
        let values: Vec<_> = asked.options.iter().map(|choice| choice.value.clone()).collect();
        (values.join(" "), asked.listed)
    };
    let pair = json!([{ "value": "yes", "label": "Y" }, { "value": "no", "label": "N" }]);
    let cases = [
        (ask(&json!({})), "ship hold", true),
        (
            ask(&json!({ "mode": "confirm", "options": null })),
            "approve deny",
            false,
        ),
        (
            ask(&json!({ "mode": "confirm", "options": pair })),
            "yes no",
            true,
        ),
        (input(&json!({})), "", false),
        (input(&json!({ "options": pair })), "", true),
    ];
    for (envelope, options, listed) in cases {
        assert_eq!(values(&envelope), (options.to_owned(), listed), "{envelope}");
    }
}

#[test]
fn when_an_edit_is_in_force() {
    let allowed = json!({ "permissions": { "allow_edit": true } });
    let confirm = json!({ "mode": "confirm", "options": null, "permissions": { "allow_edit": true } });
    let cases = [
        (at("0.6", ask(&allowed)), true),
        (at("0.7", ask(&allowed)), true),
        (at("0.10", ask(&allowed)), true),
        (at("0.5", ask(&allowed)), false),
        (at("0.0", ask(&allowed)), false),
        (at("0.6", ask(&confirm)), true),
        (at("0.6", input(&allowed)), false),
        (
            at("0.6", ask(&json!({ "permissions": { "allow_edit": false } }))),
            false,
        ),
        (at("0.6", ask(&json!({ "permissions": {} }))), false),
    ];
    for (envelope, in_force) in cases {
        assert_eq!(read(&envelope).ask.unwrap().allow_edit, in_force, "{envelope}");
    }
}

#[test]
fn callbacks() {
    let callback = |scheme: &str, reference: &str| {
        let auth = json!({ "scheme": scheme, reference: "ref" });
        ask(&json!({ "callback": { "mode": "push", "url": "https://a.example/", "auth": auth } }))
    };
    for (scheme, reference) in [
        ("hmac", "secret_ref"),
        ("bearer", "token_ref"),
        ("apikey", "token_ref"),
    ] {
        let read = read(&callback(scheme, reference)).callback.unwrap();
        assert_eq!(
            (read.scheme.as_str(), read.credential_ref.as_str()),
            (scheme, "ref")
        );
    }
    assert_eq!(
        read(&ask(&json!({ "callback": { "mode": "pull" } }))).callback,
        None
    );
    assert!(
        read(&task(
            &json!({ "callback": { "mode": "pull", "url": "x", "auth": 3 } })
        ))
        .callback
        .is_none()
    );
}

/// Every envelope is refused as malformed, with that message.
fn unreadable(cases: &[(Value, &str)]) {
    for (envelope, message) in cases {
        let problem = Envelope::parse(&envelope.to_string()).unwrap_err();
        assert_eq!(problem.code, ErrorCode::ValidationError, "{envelope}");
        assert_eq!(problem.message, *message, "{envelope}");
    }
}

#[test]
fn what_cannot_be_read() {
    let with = |members: Value| {
        let mut envelope = ask(&json!({}));
        lay_over(&mut envelope, &members);
        envelope
    };
    unreadable(&[
        (json!([]), "expected an object"),
        (with(json!({ "agent": null })), "agent: required"),
        (with(json!({ "agent": [] })), "agent: expected an object"),
        (
            with(json!({ "agent": { "id": "x", "runtime": "cli" } })),
            "agent.run_id: required",
        ),
        (with(json!({ "title": 3 })), "title: expected a string"),
        (
            with(json!({ "tags": ["a", 1] })),
            "tags: expected an array of strings",
        ),
        (
            with(json!({ "sensitive": "yes" })),
            "sensitive: expected true or false",
        ),
        (
            with(json!({ "expires_at": "tomorrow" })),
            "expires_at: expected an RFC 3339 time",
        ),
        (
            with(json!({ "expires_at": "9999-12-31T23:59:59-01:00" })),
            "expires_at: expected an RFC 3339 time",
        ),
        (
            with(json!({ "type": "order" })),
            "type: expected notify, ask or task",
        ),
        (
            with(json!({ "priority": "now" })),
            "priority: expected low, normal, high or urgent",
        ),
        (with(json!({ "request": null })), "request: required"),
        (with(json!({ "request": 1 })), "request: expected an object"),
    ]);
    let problem = Envelope::parse(&at("1.0", notify()).to_string()).unwrap_err();
    assert_eq!(problem.code, ErrorCode::VersionNotSupported);
}

#[test]
fn what_cannot_be_read_of_a_request_or_an_action() {
    let push = |callback: Value| ask(&json!({ "callback": callback }));
    unreadable(&[
        (
            ask(&json!({ "mode": "guess" })),
            "request.mode: expected select, input or confirm",
        ),
        (
            ask(&json!({ "options": null })),
            "request.options: required for mode select",
        ),
        (
            ask(&json!({ "options": [{ "label": "x" }] })),
            "request.options[0].value: required",
        ),
        (
            ask(&json!({ "options": [7] })),
            "request.options[0]: expected an object",
        ),
        (
            ask(&json!({ "permissions": [] })),
            "request.permissions: expected an object",
        ),
        (
            ask(&json!({ "permissions": { "allow_edit": "yes" } })),
            "request.permissions.allow_edit: expected true or false",
        ),
        (
            input(&json!({ "permissions": { "allow_edit": 1 } })),
            "request.permissions.allow_edit: expected true or false",
        ),
        (
            ask(&json!({ "allowed_resolvers": [1] })),
            "request.allowed_resolvers: expected an array of strings",
        ),
        (
            task(&json!({ "instructions": null })),
            "action.instructions: required",
        ),
        (
            task(&json!({ "checklist": [{ "done": true }] })),
            "action.checklist[0].text: required",
        ),
        (
            push(json!({ "mode": "shove" })),
            "request.callback.mode: expected push or pull",
        ),
        (push(json!({ "mode": "push" })), "request.callback.url: required"),
        (
            push(json!({ "mode": "push", "url": "x", "auth": {} })),
            "request.callback.auth.scheme: required",
        ),
        (
            push(json!({ "mode": "push", "url": "x", "auth": { "scheme": "hmac", "token_ref": "r" } })),
            "request.callback.auth.secret_ref: required",
        ),
        (
            push(json!({ "mode": "push", "url": "x", "auth": { "scheme": "bearer", "secret_ref": "r" } })),
            "request.callback.auth.token_ref: required",
        ),
    ]);
    let problem = Envelope::parse(&push(json!({ "mode": "push", "url": "x" })).to_string()).unwrap_err();
    assert_eq!(problem.code, ErrorCode::InvalidField);
    assert_eq!(problem.message, "request.callback.auth: required for mode push");
}

#[test]
fn what_is_kept_by_its_text() {
    let sent = input(&json!({ "default_on_expire": "DEFAULT" })).to_string();
    let default = r#"{ "n":1.0, "reason":"\u0041", "big":9007199254740993 }"#;
    let envelope = Envelope::parse(&sent.replace("\"DEFAULT\"", default)).unwrap();
    assert_eq!(
        envelope.ask.unwrap().default_on_expire_text.as_deref(),
        Some(default)
    );
    // A null is no default.
    let asked = Envelope::parse(&sent.replace("\"DEFAULT\"", "null"))
        .unwrap()
        .ask
        .unwrap();
    assert_eq!(
        (asked.default_on_expire, asked.default_on_expire_text),
        (None, None)
    );
}

#[test]
fn strange_text_is_read_or_refused() {
    let sent = notify().to_string();
    for title in [r"\u0000", r"\ud83d\ude00", "😀", "\u{202e}x"] {
        let envelope = Envelope::parse(&sent.replace("\"t\"", &format!("\"{title}\""))).unwrap();
        assert!(!envelope.title.is_empty());
    }
    let with_state = |state: &str| sent.replacen('{', &format!("{{\"state\":{state},"), 1);
    let deep = format!("{}{}", "{\"a\":".repeat(249) + "{}", "}".repeat(249));
    for (state, message) in [
        (deep.as_str(), "nested deeper than 120 levels"),
        (r#"{"n":1e400}"#, "number out of the range of a double"),
        (r#"{"a":1,"a":1}"#, "duplicate key \"a\""),
        (r#"{"a":"\ud800"}"#, "lone surrogate"),
    ] {
        let problem = Envelope::parse(&with_state(state)).unwrap_err();
        assert_eq!(problem.code, ErrorCode::ValidationError);
        assert!(problem.message.starts_with(message), "{problem}");
    }
    assert!(
        Envelope::parse(&with_state(
            r#"{"a":9223372036854775808,"b":1.0,"c":9007199254740993}"#
        ))
        .is_ok()
    );
}
