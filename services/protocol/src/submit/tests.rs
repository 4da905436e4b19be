use serde_json::{Value, json};

use super::check;
use crate::error::{ErrorCode, Problem};
use crate::samples::{ask, at, input, lay_over, notify, read, task};

fn submitted(envelope: &Value) -> Result<(), Problem> {
    check(&read(envelope))
}

/// Every case is refused as an invalid field of that name, whatever minor is declared.
fn refused_at_every_minor(name: &str, cases: &[Value]) {
    for envelope in cases {
        for version in ["0.1", "0.3", "0.4", "0.5", "0.6", "0.7", "0.10"] {
            let problem = submitted(&at(version, envelope.clone())).unwrap_err();
            assert_eq!(problem.code, ErrorCode::InvalidField, "{envelope}");
            assert!(
                problem.message.starts_with(name),
                "{envelope}: {}",
                problem.message
            );
        }
    }
}

fn accepted(cases: &[Value]) {
    for envelope in cases {
        assert_eq!(submitted(envelope), Ok(()), "{envelope}");
    }
}

fn options(values: &[(&str, &str)]) -> Value {
    values
        .iter()
        .map(|(value, label)| json!({ "value": value, "label": label }))
        .collect()
}

#[test]
fn option_values_differ() {
    let twice = options(&[("a", "One"), ("a", "Two")]);
    refused_at_every_minor(
        "request.options: two options have the value \"a\"",
        &[
            ask(&json!({ "options": twice })),
            ask(&json!({ "options": options(&[("a", "One"), ("a", "One")]) })),
            ask(&json!({ "options": options(&[("b", "x"), ("a", "x"), ("c", "x"), ("a", "x")]) })),
            ask(&json!({ "mode": "confirm", "options": twice })),
            ask(&json!({ "options": twice, "permissions": { "allow_edit": true } })),
            ask(
                &json!({ "options": twice, "default_on_expire": "a", "permissions": { "allow_respond": false } }),
            ),
            input(&json!({ "options": twice })),
        ],
    );
    accepted(&[
        ask(&json!({ "options": options(&[("ship", "Same"), ("hold", "Same")]) })),
        ask(&json!({ "options": options(&[("ship", "x"), ("ship ", "x"), ("Ship", "x"), ("", "x")]) })),
        ask(&json!({ "options": options(&[("\u{e9}", "x"), ("e\u{301}", "x")]) })),
        ask(&json!({ "mode": "confirm", "options": options(&[("y", "x"), ("n", "x")]) })),
        ask(&json!({ "mode": "confirm", "options": null })),
    ]);
}

#[test]
fn an_input_schema_describes_an_object() {
    let fields = json!({ "reason": { "type": "string" } });
    let refused: Vec<Value> = [
        json!({ "type": "string", "minLength": 1 }),
        json!({ "type": "string", "properties": fields }),
        json!({}),
        json!({ "type": "object" }),
        json!({ "type": "object", "properties": {} }),
        json!({ "type": "object", "properties": [] }),
        json!({ "type": "object", "properties": ["reason"] }),
        json!({ "type": "object", "properties": true }),
        json!({ "allOf": [{ "properties": fields }] }),
        json!({ "$ref": "#/$defs/a", "$defs": { "a": { "properties": fields } } }),
        json!({ "patternProperties": { "x": {} } }),
        json!({ "type": ["string", "number"], "properties": fields }),
        json!({ "type": [], "properties": fields }),
        json!({ "type": ["object", "object"], "properties": fields }),
        json!({ "type": ["object", 42], "properties": fields }),
        json!({ "type": ["object", "record"], "properties": fields }),
        json!({ "type": 42, "properties": fields }),
        json!({ "type": { "object": true }, "properties": fields }),
        json!({ "type": "Object", "properties": fields }),
        json!("object"),
        json!(true),
        json!([]),
    ]
    .iter()
    .map(|schema| input(&json!({ "schema": schema })))
    .collect();
    refused_at_every_minor("request.schema: ", &refused);
    refused_at_every_minor("request.schema: ", &[input(&json!({ "schema": null }))]);
    // What no mend elsewhere mends.
    let mended = json!({ "schema": { "type": "string" }, "permissions": { "allow_edit": true, "allow_respond": false } });
    refused_at_every_minor("request.schema: ", &[input(&mended)]);

    let mut explicit_null = input(&json!({}));
    explicit_null["request"]["schema"]["type"] = Value::Null;
    refused_at_every_minor("request.schema: ", &[explicit_null]);

    let stands = [
        json!({ "properties": fields }),
        json!({ "type": ["object"], "properties": fields }),
        json!({ "type": ["object", "null"], "properties": fields }),
        json!({ "type": ["null", "object"], "properties": fields }),
        json!({
            "type": ["null", "boolean", "object", "array", "number", "string", "integer"], "properties": fields
        }),
        json!({ "type": "object", "properties": { "a": {}, "b": true } }),
        // Nothing satisfies it; it can be declined.
        json!({ "type": "object", "properties": { "a": { "type": "string", "enum": [1] } }, "required": ["a"] }),
    ];
    accepted(&stands.map(|schema| input(&json!({ "schema": schema }))));
}

#[test]
fn an_input_schema_can_be_evaluated() {
    let field = |field: Value| input(&json!({ "schema": { "properties": { "a": field } } }));
    refused_at_every_minor(
        "request.schema cannot be evaluated: ",
        &[
            field(json!({ "type": "text" })),
            field(json!({ "pattern": "(" })),
            field(json!({ "$ref": "https://elsewhere.example/schema.json" })),
            field(json!(42)),
        ],
    );
}

#[test]
fn a_stray_schema_means_nothing() {
    let schemas = [
        json!({}),
        json!({ "type": "string" }),
        json!({ "type": 42 }),
        json!({ "$ref": "https://x.example/" }),
    ];
    for schema in schemas {
        accepted(&[
            ask(&json!({ "schema": schema })),
            ask(&json!({ "mode": "confirm", "options": null, "schema": schema })),
        ]);
    }
}

#[test]
fn a_default_answers_the_ask() {
    let edit = json!({ "allow_edit": true });
    refused_at_every_minor(
        "request.default_on_expire: ",
        &[
            ask(&json!({ "default_on_expire": "wait" })),
            ask(&json!({ "default_on_expire": "wait", "permissions": edit })),
            ask(&json!({ "default_on_expire": "Ship" })),
            ask(&json!({ "default_on_expire": {} })),
            ask(&json!({ "mode": "confirm", "options": null, "default_on_expire": "ship" })),
            ask(&json!({ "mode": "confirm", "default_on_expire": "approve" })),
            input(&json!({ "default_on_expire": "x" })),
            input(&json!({ "default_on_expire": {} })),
            input(&json!({ "default_on_expire": { "reason": 1 } })),
        ],
    );
    accepted(&[
        ask(&json!({ "default_on_expire": "hold" })),
        ask(&json!({ "mode": "confirm", "options": null, "default_on_expire": "deny" })),
        ask(&json!({ "mode": "confirm", "default_on_expire": "ship" })),
        input(&json!({ "default_on_expire": { "reason": "x", "more": 1 } })),
    ]);
    for mut envelope in [ask(&json!({})), input(&json!({}))] {
        envelope["request"]["default_on_expire"] = Value::Null;
        accepted(&[envelope]);
    }
}

#[test]
fn a_push_is_verifiable_and_reachable() {
    let push = |url: &str| {
        let auth = json!({ "scheme": "hmac", "secret_ref": "env:S" });
        json!({ "callback": { "mode": "push", "url": url, "auth": auth } })
    };
    let fine = push("https://agent.example/ma2h");
    for (version, code) in [
        ("0.0", Some(ErrorCode::VersionNotSupported)),
        ("0.2", Some(ErrorCode::VersionNotSupported)),
        ("0.3", None),
        ("0.6", None),
        ("0.10", None),
    ] {
        assert_eq!(
            submitted(&at(version, ask(&fine)))
                .err()
                .map(|problem| problem.code),
            code,
            "{version}"
        );
        assert_eq!(
            submitted(&at(version, task(&fine)))
                .err()
                .map(|problem| problem.code),
            code,
            "{version}"
        );
    }
    accepted(&[
        at("0.2", ask(&json!({ "callback": { "mode": "pull" } }))),
        at("0.1", task(&json!({}))),
    ]);
    let problem = submitted(&ask(&push("https://u:p@agent.example/"))).unwrap_err();
    assert_eq!(problem.code, ErrorCode::InvalidField);
    assert_eq!(problem.message, "request.callback.url: must not carry user-info");
    let problem = submitted(&task(&push("https://agent.example/#x"))).unwrap_err();
    assert_eq!(problem.message, "action.callback.url: must not carry a fragment");
}

#[test]
fn the_inter_agent_leg_is_not_offered() {
    let mut addressed = notify();
    lay_over(&mut addressed, &json!({ "to": "agent:x" }));
    assert_eq!(
        submitted(&addressed).unwrap_err().message,
        "to: addressed messages are not offered"
    );
    let mut from_session = notify();
    from_session["agent"]["session"] = "sess_1".into();
    let problem = submitted(&from_session).unwrap_err();
    assert_eq!(problem.code, ErrorCode::InvalidField);
    assert_eq!(problem.message, "agent.session: sessions are not offered");
    accepted(&[notify()]);
}
