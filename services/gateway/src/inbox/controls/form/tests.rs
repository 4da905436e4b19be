use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::super::super::fields::Fields;
use super::super::{Complaints, Entry};
use super::field::Choice;
use super::{Field, Kind, answer, draw, fields};

fn parse(schema: &str) -> Vec<Field> {
    fields(&RawValue::from_string(schema.to_owned()).unwrap())
}

fn schema(properties: &Value, required: &Value) -> String {
    json!({"type": "object", "properties": properties, "required": required}).to_string()
}

fn kind_of(property: &Value) -> Kind {
    parse(&schema(&json!({"p": property}), &json!([]))).remove(0).kind
}

/// Posts to a form of one optional property `p`.
fn post_one(property: &Value, typed: &str) -> Result<Value, String> {
    let text = schema(&json!({"p": property}), &json!([]));
    let posted = Fields::from([("field.0", typed)]);
    answer(&parse(&text), &serde_json::from_str(&text).unwrap(), &posted).map_err(|complaints| {
        complaints
            .of("field.0")
            .unwrap_or("nothing about the field")
            .to_owned()
    })
}

fn drawn(text: &str, typed: Option<&Fields>, complaints: &Complaints) -> String {
    draw(&parse(text), &Entry { typed, complaints }).into_string()
}

#[test]
fn keeps_the_order_of_the_agent() {
    let text = r#"{"properties":{"zebra":{},"ant":{},"mole":{}},"required":["ant"]}"#;
    let fields = parse(text);
    let names: Vec<_> = fields.iter().map(|field| field.name.as_str()).collect();
    assert_eq!(names, ["zebra", "ant", "mole"]);
    assert_eq!(
        fields.iter().map(|field| field.required).collect::<Vec<_>>(),
        [false, true, false]
    );
}

#[test]
fn chooses_an_element_by_type() {
    let cases = [
        (json!({"type": "string"}), Kind::Text),
        (json!({"type": "string", "maxLength": 40}), Kind::Line("text")),
        (json!({"type": "string", "maxLength": 4000}), Kind::Text),
        (json!({"type": "string", "format": "email"}), Kind::Line("email")),
        (json!({"type": "string", "format": "date"}), Kind::Line("date")),
        (
            json!({"type": "string", "format": "date-time"}),
            Kind::Line("text"),
        ),
        (
            json!({"type": "string", "x-ma2h-sensitive": true}),
            Kind::Line("password"),
        ),
        (
            json!({"type": ["string", "null"], "maxLength": 9}),
            Kind::Line("text"),
        ),
        (json!({"type": "boolean"}), Kind::Flag),
        (json!({"type": "integer"}), Kind::Integer),
        (json!({"type": ["number", "null"]}), Kind::Number),
        (json!({"type": "object"}), Kind::Json),
        (json!({"type": "array", "items": {"type": "string"}}), Kind::Json),
        (json!({"type": ["string", "number"]}), Kind::Json),
        (json!({"type": "null"}), Kind::Json),
        (json!({}), Kind::Text),
        (json!(true), Kind::Text),
        (json!(null), Kind::Text),
        (json!({"type": 42}), Kind::Text),
    ];
    for (property, kind) in cases {
        let text = property.to_string();
        assert_eq!(kind_of(&property), kind, "{text}");
    }
    let choice = |label: &str, value: Value| Choice {
        label: label.to_owned(),
        value,
    };
    assert_eq!(
        kind_of(&json!({"enum": ["a", 2, true, null]})),
        Kind::Choice(vec![
            choice("a", json!("a")),
            choice("2", json!(2)),
            choice("Yes", json!(true)),
            choice("None", json!(null))
        ])
    );
    assert_eq!(
        kind_of(&json!({"oneOf": [{"const": "x", "title": "Ex"}, {"const": 1}]})),
        Kind::Choice(vec![choice("Ex", json!("x")), choice("1", json!(1))])
    );
    assert_eq!(
        kind_of(&json!({"oneOf": [{"const": "x"}, {"type": "string"}]})),
        Kind::Text
    );
    assert_eq!(
        kind_of(&json!({"type": "string", "enum": ["a"], "enumNames": ["First"]})),
        Kind::Choice(vec![choice("First", json!("a"))])
    );
}

#[test]
fn makes_names_readable() {
    let label = |name: &str| parse(&schema(&json!({name: {}}), &json!([]))).remove(0).label;
    assert_eq!(label("release_note"), "Release note");
    assert_eq!(label("releaseNote"), "Release note");
    assert_eq!(label("API_KEY"), "API KEY");
    assert_eq!(label("größe"), "Größe");
    assert_eq!(label("__"), "__");
    assert_eq!(label(""), "");
}

#[test]
fn survives_any_schema() {
    for text in [
        "null",
        "[]",
        "{}",
        "{\"properties\":[]}",
        "{\"properties\":{\"a\":false},\"required\":\"a\"}",
    ] {
        let _ = parse(text);
    }
}

#[test]
fn demands_what_is_required_but_not_described() {
    let fields = parse(r#"{"properties":{"a":{"type":"string"}},"required":["a","b"]}"#);
    assert_eq!(fields[1].name, "b");
    assert_eq!(fields[1].kind, Kind::Json);
    assert!(fields[1].required);
}

#[test]
fn types_what_was_typed() {
    let cases = [
        (json!({"type": "string"}), "two\r\nlines ", json!("two\nlines ")),
        (json!({"type": "string", "maxLength": 9}), " a ", json!("a")),
        (
            json!({"type": "string", "x-ma2h-sensitive": true}),
            " key ",
            json!(" key "),
        ),
        (json!({"type": "integer"}), " 12 ", json!(12)),
        (
            json!({"type": "integer"}),
            "-9007199254740993",
            json!(-9_007_199_254_740_993_i64),
        ),
        (
            json!({"type": "integer"}),
            "18446744073709551615",
            json!(u64::MAX),
        ),
        (json!({"type": "number"}), "12", json!(12)),
        (json!({"type": "number"}), "12.5e1", json!(125.0)),
        (json!({"enum": ["a", 2]}), "1", json!(2)),
        (
            json!({"type": "array"}),
            "[1, {\"a\": null}]",
            json!([1, {"a": null}]),
        ),
    ];
    for (property, typed, value) in cases {
        assert_eq!(
            post_one(&property, typed),
            Ok(json!({"p": value})),
            "{property} {typed}"
        );
    }
}

#[test]
fn refuses_what_does_not_fit() {
    let cases = [
        (
            json!({"type": "integer"}),
            "12.5",
            "Write a whole number, for example 12.",
        ),
        (
            json!({"type": "integer"}),
            "twelve",
            "Write a whole number, for example 12.",
        ),
        (
            json!({"type": "number"}),
            "12,5",
            "Write a number, for example 12 or 12.5.",
        ),
        (
            json!({"type": "number"}),
            "1e400",
            "Write a number, for example 12 or 12.5.",
        ),
        (
            json!({"type": "number"}),
            "NaN",
            "Write a number, for example 12 or 12.5.",
        ),
        (
            json!({"type": "number"}),
            "inf",
            "Write a number, for example 12 or 12.5.",
        ),
        (json!({"enum": ["a"]}), "1", "Choose one of the values."),
        (json!({"enum": ["a"]}), "a", "Choose one of the values."),
        (
            json!({"type": "object"}),
            "{\"a\":1,\"a\":2}",
            "This is not valid JSON.",
        ),
        (json!({"type": "object"}), "{", "This is not valid JSON."),
    ];
    for (property, typed, complaint) in cases {
        assert_eq!(
            post_one(&property, typed),
            Err(complaint.to_owned()),
            "{property} {typed}"
        );
    }
    let too_long = post_one(&json!({"type": "string", "maxLength": 3}), "four");
    assert!(too_long.is_err_and(|complaint| complaint != "nothing about the field"));
}

#[test]
fn leaves_out_what_was_left_empty() {
    let text = schema(
        &json!({"a": {"type": "string"}, "b": {"type": "boolean"}, "c": {"type": ["string", "null"]}, "d": {"enum": [1]}}),
        &json!(["c"]),
    );
    let posted = Fields::from([("field.0", "  "), ("field.2", ""), ("field.3", "")]);
    let value = answer(&parse(&text), &serde_json::from_str(&text).unwrap(), &posted).ok();
    assert_eq!(value, Some(json!({"b": false, "c": null})));
}

#[test]
fn complains_at_each_empty_required_field() {
    let text = schema(
        &json!({"a": {"type": "string"}, "b": {"type": "integer"}}),
        &json!(["a", "b"]),
    );
    let complaints = answer(
        &parse(&text),
        &serde_json::from_str(&text).unwrap(),
        &Fields::default(),
    )
    .unwrap_err();
    assert_eq!(complaints.of("field.0"), Some("This is needed for an answer."));
    assert_eq!(complaints.of("field.1"), Some("This is needed for an answer."));
}

#[test]
fn never_repeats_a_secret() {
    let property = json!({"type": "string", "x-ma2h-sensitive": true, "pattern": "^k-", "default": "s3cret"});
    let complaint = post_one(&property, "hunter2").unwrap_err();
    assert!(!complaint.contains("hunter2"), "{complaint}");

    let text = schema(&json!({"p": property, "q": {"type": "string"}}), &json!([]));
    let typed = Fields::from([("field.0", "hunter2"), ("field.1", "shown")]);
    let html = drawn(&text, Some(&typed), &Complaints::default());
    assert!(!html.contains("hunter2") && html.contains("shown"), "{html}");
    let html = drawn(&text, None, &Complaints::default());
    assert!(
        !html.contains("s3cret")
            && html.contains("type=\"password\"")
            && html.contains("autocomplete=\"off\"")
    );
}

#[test]
fn a_sensitive_field_of_another_type_is_hidden_as_well() {
    for kind in ["integer", "number", "object"] {
        let text = schema(
            &json!({"p": {"type": kind, "x-ma2h-sensitive": true, "default": 4711}}),
            &json!([]),
        );
        let html = drawn(
            &text,
            Some(&Fields::from([("field.0", "4711")])),
            &Complaints::default(),
        );
        assert!(!html.contains("4711"), "{html}");
        assert!(
            html.contains("type=\"password\"") || html.contains("hidden-text"),
            "{html}"
        );
    }
}

#[test]
fn keeps_what_was_typed_beside_the_complaint() {
    let text = r#"{"required":["n"],"properties":{
        "n":{"type":"integer","minimum":1,"maximum":9},
        "c":{"enum":["a","b"]},
        "f":{"type":"boolean","default":true}}}"#;
    let mut complaints = Complaints::default();
    complaints.add("field.0".to_owned(), "Write a whole number.".to_owned());
    let typed = Fields::from([("field.0", "<many>"), ("field.1", "1")]);
    let html = drawn(text, Some(&typed), &complaints);
    assert!(html.contains("value=\"&lt;many&gt;\""), "{html}");
    assert!(html.contains("aria-invalid=\"true\""), "{html}");
    assert!(
        html.contains("aria-describedby=\"field.0-hint field.0-error\""),
        "{html}"
    );
    assert!(html.contains("<option value=\"1\" selected>b</option>"), "{html}");
    assert!(
        !html.contains("checked"),
        "an unchecked box stays unchecked: {html}"
    );
    assert!(drawn(text, None, &Complaints::default()).contains("checked"));
}

#[test]
fn starts_with_the_default() {
    let text = schema(
        &json!({"s": {"type": "string", "default": "x"}, "i": {"type": "integer", "default": 7}, "e": {"enum": ["a", "b"], "default": "b"}, "j": {"type": "array", "default": [1]}}),
        &json!([]),
    );
    let html = drawn(&text, None, &Complaints::default());
    assert!(html.contains(">\nx</textarea>"), "{html}");
    assert!(html.contains("value=\"7\""), "{html}");
    assert!(html.contains("<option value=\"1\" selected>b</option>"), "{html}");
    assert!(html.contains(">\n[\n  1\n]</textarea>"), "{html}");
}
