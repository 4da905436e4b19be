//! Schemas that came with a request: what they can say, and what they cannot make the hub do.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test's helpers fail by panicking"
)]

use std::time::{Duration, Instant};

use ma2h_schema::answer::compile;
use serde_json::{Map, Value, json};

/// As much stack as a worker thread has.
const WORKER_STACK_BYTES: usize = 2 << 20;

fn finding(schema: &Value, value: &Value) -> String {
    let answer = compile(schema).expect("the schema is supported");
    answer
        .check(value)
        .err()
        .map(|violation| violation.to_string())
        .unwrap_or_default()
}

fn refusal(schema: &Value) -> String {
    compile(schema).expect_err("the schema is not supported")
}

/// Runs on a worker's stack, and holds it to a time far above what it takes and far below what a hang takes.
fn bounded(job: impl FnOnce() + Send + 'static) {
    let started = Instant::now();
    let thread = std::thread::Builder::new()
        .stack_size(WORKER_STACK_BYTES)
        .spawn(job)
        .expect("a thread starts");
    thread.join().expect("the job ends well");
    assert!(
        started.elapsed() < Duration::from_secs(20),
        "took {:?}",
        started.elapsed()
    );
}

/// `length` definitions, each made of the next, the last being a string.
fn chain(length: usize, link: impl Fn(Value) -> Value) -> Value {
    let mut definitions = Map::new();
    for i in 0..length {
        definitions.insert(
            format!("d{i}"),
            link(json!({ "$ref": format!("#/$defs/d{}", i + 1) })),
        );
    }
    definitions.insert(format!("d{length}"), json!({ "type": "string" }));
    json!({ "$ref": "#/$defs/d0", "$defs": definitions })
}

fn nested(levels: usize) -> Value {
    (0..levels).fold(json!("x"), |inner, _| json!({ "a": inner }))
}

#[test]
fn an_answer_is_told_what_was_expected_and_never_what_it_said() {
    let schema = json!({
        "type": "object",
        "required": ["name"],
        "properties": {
            "name": { "type": "string", "minLength": 2, "pattern": "^[A-Z]" },
            "when": { "type": "string", "format": "date" },
            "seats": { "type": "integer", "minimum": 1, "maximum": 4, "multipleOf": 2 },
            "room": { "enum": ["red", "blue"] },
            "tags": { "type": "array", "items": { "type": "string" }, "uniqueItems": true, "maxItems": 2 },
            "kind": { "const": "secret" },
            "either": { "oneOf": [{ "type": "string" }, { "type": "integer" }] },
        },
        "additionalProperties": false,
    });
    for (value, expected) in [
        (
            json!({ "name": "Ann", "when": "2026-02-28", "seats": 2, "room": "red", "tags": ["a"] }),
            "",
        ),
        (json!({}), "name: is required"),
        (json!("Ann"), "must be an object"),
        (json!({ "name": "A" }), "name: must have at least 2 characters"),
        (
            json!({ "name": "ann" }),
            "name: must be a text of the form that the schema's pattern describes",
        ),
        (
            json!({ "name": "Ann", "when": "2026-02-30" }),
            "when: must be of the format date",
        ),
        (
            json!({ "name": "Ann", "seats": "2" }),
            "seats: must be a whole number",
        ),
        (json!({ "name": "Ann", "seats": 0 }), "seats: must be at least 1"),
        (json!({ "name": "Ann", "seats": 6 }), "seats: must be at most 4"),
        (
            json!({ "name": "Ann", "seats": 3 }),
            "seats: must be a multiple of 2",
        ),
        (
            json!({ "name": "Ann", "room": "x" }),
            "room: must be one of the values that the schema lists",
        ),
        (
            json!({ "name": "Ann", "tags": ["a", 1] }),
            "tags[1]: must be a string",
        ),
        (
            json!({ "name": "Ann", "tags": ["a", "a"] }),
            "tags: must not have the same item twice",
        ),
        (
            json!({ "name": "Ann", "kind": "x" }),
            "kind: must be the value that the schema names",
        ),
        (
            json!({ "name": "Ann", "either": [] }),
            "either: must have one of the forms that the schema allows",
        ),
        (json!({ "name": "Ann", "extra": 1 }), "extra: is not allowed here"),
    ] {
        assert_eq!(finding(&schema, &value), expected, "{value}");
    }
}

#[test]
fn older_drafts_and_references_within_are_understood() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": { "a/b": { "type": "integer" } },
        "properties": { "n": { "$ref": "#/definitions/a~1b" } },
    });
    assert_eq!(finding(&schema, &json!({ "n": 1 })), "");
    assert_eq!(
        finding(&schema, &json!({ "n": "1" })),
        "n: must be a whole number"
    );
    let tree =
        json!({ "type": "object", "properties": { "left": { "$ref": "#" }, "right": { "$ref": "#" } } });
    assert_eq!(finding(&tree, &json!({ "left": { "right": {} } })), "");
    assert_eq!(
        finding(&tree, &json!({ "left": { "right": 1 } })),
        "left.right: must be an object"
    );
}

#[test]
fn nothing_outside_the_schema_is_referred_to() {
    for reference in [
        "https://agent.example/form.json",
        "file:///etc/passwd",
        "other.json",
        "#/$defs/none",
        "#name",
    ] {
        let schema = json!({ "properties": { "a": { "$ref": reference } } });
        assert!(refusal(&schema).starts_with("$ref leads"), "{reference}");
    }
    let unused = json!({ "properties": {}, "$defs": { "a": { "$ref": "https://agent.example/form.json" } } });
    assert!(!refusal(&unused).contains("agent.example"));
    assert!(refusal(&json!({ "$dynamicRef": "#a" })).contains("not supported"));
    assert!(refusal(&json!({ "$schema": "https://agent.example/draft" })).contains("2020-12"));
    assert!(refusal(&json!({ "properties": { "a": { "$id": "https://agent.example/" } } })).contains("root"));
}

#[test]
fn what_is_no_schema_is_refused_with_its_place() {
    for (schema, expected) in [
        (
            json!({ "properties": { "a": { "type": 42 } } }),
            "properties.a.type",
        ),
        (
            json!({ "properties": { "a": { "type": "strnig" } } }),
            "properties.a.type",
        ),
        (
            json!({ "properties": { "a": { "pattern": "(" } } }),
            "properties.a.pattern",
        ),
        (
            json!({ "properties": { "a": { "pattern": "^(?!a)" } } }),
            "properties.a.pattern",
        ),
        (json!({ "required": "a" }), "required"),
    ] {
        assert!(refusal(&schema).starts_with(expected), "{}", refusal(&schema));
    }
    assert!(compile(&json!({ "properties": { "a": { "pattern": "((a{1,500}){1,500}){1,500}" } } })).is_err());
    assert_eq!(finding(&json!(true), &json!({})), "");
    assert!(!finding(&json!(false), &json!({})).is_empty());
}

#[test]
fn a_schema_that_multiplies_is_stopped_before_it_runs() {
    bounded(|| {
        let twice = chain(60, |next| json!({ "allOf": [next, next] }));
        assert_eq!(
            finding(&twice, &json!("x")),
            "is too large to be checked against this schema"
        );
        let inside = chain(
            60,
            |next| json!({ "properties": { "a": { "allOf": [next, next] } } }),
        );
        assert_eq!(finding(&inside, &nested(1)), "");
        assert_eq!(
            finding(&inside, &nested(60)),
            "is too large to be checked against this schema"
        );
        let itself = json!({ "items": { "anyOf": [{ "$ref": "#" }, { "$ref": "#" }, { "$ref": "#" }] } });
        let lists = (0..50).fold(json!([]), |inner, _| json!([inner]));
        assert_eq!(
            finding(&itself, &lists),
            "is too large to be checked against this schema"
        );
        let left_over = (0..30).fold(
            json!({}),
            |inner, _| json!({ "allOf": [inner], "unevaluatedProperties": { "type": "string" } }),
        );
        assert_eq!(
            finding(&left_over, &json!({ "a": 1 })),
            "is too large to be checked against this schema"
        );
    });
}

#[test]
fn a_schema_that_leads_back_to_itself_is_refused() {
    for schema in [
        json!({ "$ref": "#" }),
        json!({ "allOf": [{ "$ref": "#" }, { "$ref": "#" }] }),
        json!({ "properties": { "a": { "$ref": "#/$defs/b" } }, "$defs": { "b": { "not": { "$ref": "#/$defs/b" } } } }),
    ] {
        assert_eq!(
            refusal(&schema),
            "the schema refers to itself without going into the value"
        );
    }
}

#[test]
fn depth_does_not_exhaust_the_stack() {
    bounded(|| {
        let references = compile(&chain(150, |next| json!({ "allOf": [next] })));
        assert!(references.is_err() || references.is_ok_and(|answer| answer.check(&json!("x")).is_err()));
        let deepest =
            compile(&chain(240, |next| json!({ "properties": { "a": next } }))).expect("it compiles");
        assert!(deepest.check(&nested(63)).is_ok());
        assert!(deepest.check(&nested(64)).is_ok());
        assert!(deepest.check(&nested(65)).is_err());
        assert!(compile(&chain(900, |next| next)).is_err());
        let deep_tree = compile(&json!({ "properties": { "a": { "$ref": "#" } } })).expect("it compiles");
        assert!(deep_tree.check(&nested(64)).is_ok());
        let deep_schema = (0..30).fold(json!({}), |inner, _| json!({ "properties": { "a": inner } }));
        assert!(compile(&deep_schema).is_ok());
        let too_deep = (0..100).fold(json!({}), |inner, _| json!({ "not": inner }));
        assert!(refusal(&too_deep).contains("64 levels"));
    });
}

#[test]
fn size_is_bounded() {
    bounded(|| {
        let wide: Map<String, Value> = (0..2000).map(|i| (format!("f{i}"), json!({}))).collect();
        assert!(refusal(&json!({ "properties": wide })).contains("objects"));
        let patterns: Map<String, Value> = (0..201)
            .map(|i| (format!("f{i}"), json!({ "pattern": "a" })))
            .collect();
        assert!(refusal(&json!({ "properties": patterns })).contains("200 patterns"));
        let long: Vec<u32> = (0..60_000).collect();
        assert!(refusal(&json!({ "enum": long })).contains("values"));
        let words: Map<String, Value> = (0..190)
            .map(|i| (format!("f{i}"), json!({ "pattern": "^[^@]+@[^@]+$" })))
            .collect();
        let text = json!({ "f1": "a@".repeat(20_000) });
        assert_eq!(
            finding(&json!({ "properties": words }), &text),
            "is too large to be checked against this schema"
        );
        let form = json!({ "properties": { "text": { "type": "string", "pattern": "^\\S" } } });
        assert_eq!(finding(&form, &json!({ "text": "a".repeat(1 << 20) })), "");
    });
}
