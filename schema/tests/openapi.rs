//! The OpenAPI document is one: nothing in it leads nowhere, and each of its schemas is a schema.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a failing step fails the test"
)]

use std::collections::BTreeSet;

use ma2h_schema::openapi;
use serde_json::{Map, Value, json};

const METHODS: [&str; 6] = ["get", "head", "put", "post", "patch", "delete"];

fn document() -> &'static Value {
    openapi::document().unwrap()
}

/// Path, method and operation.
fn operations() -> impl Iterator<Item = (&'static str, &'static str, &'static Value)> {
    let paths = document()["paths"].as_object().unwrap();
    paths.iter().flat_map(|(path, item)| {
        let operations = item.as_object().unwrap();
        operations
            .iter()
            .map(move |(method, operation)| (path.as_str(), method.as_str(), operation))
    })
}

/// What a reference stands for; anything else stands for itself.
fn resolved(value: &'static Value) -> &'static Value {
    let Some(reference) = value["$ref"].as_str() else {
        return value;
    };
    let pointer = reference
        .strip_prefix('#')
        .unwrap_or_else(|| panic!("{reference} leads out of the document"));
    document()
        .pointer(pointer)
        .unwrap_or_else(|| panic!("{reference} leads nowhere"))
}

/// Every value, with its place.
fn visit(value: &'static Value, place: &mut Vec<String>, seen: &mut impl FnMut(&[String], &'static Value)) {
    seen(place, value);
    let mut enter = |name: String, value| {
        place.push(name);
        visit(value, place, seen);
        place.pop();
    };
    match value {
        Value::Object(members) => members
            .iter()
            .for_each(|(name, value)| enter(name.clone(), value)),
        Value::Array(values) => values
            .iter()
            .enumerate()
            .for_each(|(at, value)| enter(at.to_string(), value)),
        _ => {}
    }
}

fn has_only(value: &Value, place: &str, known: &[&str]) {
    for name in value
        .as_object()
        .unwrap_or_else(|| panic!("{place}: no object"))
        .keys()
    {
        assert!(
            known.contains(&name.as_str()) || name.starts_with("x-"),
            "{place}: {name} is unknown"
        );
    }
}

fn is_text(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.is_empty())
}

#[test]
fn every_reference_leads_somewhere() {
    let mut count = 0;
    visit(document(), &mut Vec::new(), &mut |_, value| {
        if value["$ref"].is_string() {
            resolved(value);
            count += 1;
        }
    });
    assert!(count > 300, "{count}");
}

#[test]
fn the_frame_is_whole() {
    let document = document();
    let known = [
        "openapi",
        "info",
        "jsonSchemaDialect",
        "servers",
        "security",
        "tags",
        "paths",
        "components",
    ];
    has_only(document, "document", &known);
    assert_eq!(document["openapi"], "3.1.0");
    assert!(is_text(&document["info"]["title"]) && is_text(&document["info"]["version"]));
    let sections = document["components"].as_object().unwrap();
    for (section, components) in sections {
        assert!(
            ["schemas", "responses", "parameters", "headers", "securitySchemes"].contains(&section.as_str())
        );
        for name in components.as_object().unwrap().keys() {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
            assert!(name.chars().all(is_plain), "{section}/{name}");
        }
    }
    for (name, scheme) in sections["securitySchemes"].as_object().unwrap() {
        assert!(is_text(&scheme["description"]), "{name}");
        match scheme["type"].as_str().unwrap() {
            "http" => assert!(is_text(&scheme["scheme"]), "{name}"),
            "apiKey" => assert!(is_text(&scheme["name"]) && is_text(&scheme["in"]), "{name}"),
            other => panic!("{name}: {other}"),
        }
    }
}

#[test]
fn every_operation_is_described() {
    let mut ids = BTreeSet::new();
    let known = [
        "operationId",
        "summary",
        "description",
        "tags",
        "security",
        "parameters",
        "requestBody",
        "responses",
    ];
    let tags: Vec<&str> = document()["tags"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|tag| tag["name"].as_str())
        .collect();
    for (path, method, operation) in operations() {
        let place = format!("{method} {path}");
        assert!(METHODS.contains(&method), "{place}");
        has_only(operation, &place, &known);
        assert!(operation.get("x-errors").is_none(), "{place}: not put together");
        let id = operation["operationId"]
            .as_str()
            .unwrap_or_else(|| panic!("{place}: no operationId"));
        assert!(ids.insert(id), "{place}: {id} is taken");
        assert!(is_text(&operation["summary"]), "{place}: no summary");
        for tag in operation["tags"].as_array().unwrap() {
            assert!(
                tags.contains(&tag.as_str().unwrap()),
                "{place}: {tag} is not declared"
            );
        }
        for requirement in operation["security"].as_array().into_iter().flatten() {
            for scheme in requirement.as_object().unwrap().keys() {
                assert!(
                    document()["components"]["securitySchemes"].get(scheme).is_some(),
                    "{place}: {scheme}"
                );
            }
        }
        let is_public = operation["security"] == json!([]);
        let principals = operation["x-principals"].as_array().map_or(0, Vec::len);
        assert_eq!(is_public, principals == 0, "{place}: who may call it");
        check_responses(&place, operation);
    }
    assert!(ids.len() > 75, "{}", ids.len());
}

fn check_responses(place: &str, operation: &'static Value) {
    let responses = operation["responses"].as_object().unwrap();
    assert!(
        responses.keys().any(|status| status.starts_with('2')),
        "{place}: never succeeds"
    );
    for (status, response) in responses {
        let response = resolved(response);
        has_only(response, place, &["description", "headers", "content"]);
        assert!(is_text(&response["description"]), "{place}: {status}");
        let is_status = status.len() == 3 && status.starts_with(|c: char| ('1'..='5').contains(&c));
        assert!(is_status, "{place}: {status}");
        let is_error = status
            .parse::<u16>()
            .is_ok_and(|status| status >= 400 && status != 503);
        if is_error {
            let schema = &response["content"]["application/json"]["schema"];
            assert!(
                schema.to_string().contains("schemas/Error")
                    || schema.to_string().contains("schemas/Conflict")
            );
        }
    }
    if let Some(body) = operation.get("requestBody") {
        assert_eq!(body["required"], true, "{place}");
        assert!(
            body["content"]["application/json"]["schema"].is_object(),
            "{place}"
        );
    }
}

#[test]
fn every_parameter_is_declared_and_bounded() {
    for (path, method, operation) in operations() {
        let place = format!("{method} {path}");
        let mut in_path = BTreeSet::new();
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let parameter = resolved(parameter);
            has_only(
                parameter,
                &place,
                &["name", "in", "required", "description", "schema"],
            );
            let name = parameter["name"].as_str().unwrap();
            match parameter["in"].as_str().unwrap() {
                "path" => {
                    assert_eq!(parameter["required"], true, "{place}: {name}");
                    assert!(in_path.insert(name), "{place}: {name} twice");
                }
                "query" | "header" => {}
                other => panic!("{place}: {name} in {other}"),
            }
            let schema = resolved(&parameter["schema"]);
            let bounds = [
                "maximum",
                "maxLength",
                "minimum",
                "pattern",
                "enum",
                "const",
                "format",
            ];
            let is_bounded =
                schema["type"] == "boolean" || bounds.iter().any(|bound| schema.get(bound).is_some());
            assert!(is_bounded, "{place}: {name} has no bound");
        }
        let in_template: BTreeSet<&str> = path
            .split('{')
            .skip(1)
            .map(|rest| rest.split('}').next().unwrap())
            .collect();
        assert_eq!(in_path, in_template, "{place}");
    }
}

/// Places of the document that hold a schema, by the object model of OpenAPI 3.1.
fn schema_pointers() -> Vec<String> {
    let mut pointers = Vec::new();
    visit(document(), &mut Vec::new(), &mut |place, _| {
        let names: Vec<&str> = place.iter().map(String::as_str).collect();
        let is_schema = match names.as_slice() {
            ["components", "schemas", _] => true,
            [first @ .., "schema"] => !first.contains(&"schemas"),
            _ => false,
        };
        if is_schema {
            let escaped = names
                .iter()
                .map(|name| name.replace('~', "~0").replace('/', "~1"));
            pointers.push(escaped.fold(String::new(), |pointer, name| pointer + "/" + &name));
        }
    });
    pointers
}

#[test]
fn every_schema_is_one() {
    let pointers = schema_pointers();
    assert!(pointers.len() > 150, "{}", pointers.len());
    for pointer in pointers {
        let schema = document().pointer(&pointer).unwrap();
        // What 2020-12 says of schemas; the dialect of OpenAPI adds annotations to it.
        jsonschema::draft202012::meta::validate(schema).unwrap_or_else(|error| panic!("{pointer}: {error}"));
        let shape = openapi::Shape::at(&pointer);
        assert!(shape.is_ok(), "{pointer}: {:?}", shape.err());
    }
}

#[test]
fn the_wire_has_one_description() {
    let schemas: &Map<String, Value> = document()["components"]["schemas"].as_object().unwrap();
    for noun in ma2h_schema::Noun::ALL {
        let text = ma2h_schema::document::text(ma2h_schema::Edition::V06, noun).unwrap();
        let own: Value = serde_json::from_str(text).unwrap();
        let embedded = schemas.values().find(|schema| schema["title"] == own["title"]);
        assert_eq!(
            embedded.unwrap()["required"],
            own["required"],
            "{}",
            noun.as_str()
        );
    }
}
