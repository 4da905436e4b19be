//! The OpenAPI document of the hub's whole HTTP surface, put together from the files in `openapi/`.
//!
//! `openapi.json` is the frame; each other file has the paths of one tag and the shapes that only those use. What MA2H
//! itself shapes is not said again: the schemas of 0.6 are embedded, each as a component named like its title.
//!
//! An operation of those files lists in `x-errors` the refusals of its own; what every operation may meet is added here.

use std::sync::LazyLock;

use jsonschema::{PatternOptions, Registry, Validator};
use serde_json::{Map, Value, json};

use crate::document::{self, Edition, Noun};

const FRAME: &str = include_str!("../openapi/openapi.json");
const RESOURCES: [&str; 10] = [
    include_str!("../openapi/messages.json"),
    include_str!("../openapi/directives.json"),
    include_str!("../openapi/mailbox.json"),
    include_str!("../openapi/sessions.json"),
    include_str!("../openapi/presence.json"),
    include_str!("../openapi/accounts.json"),
    include_str!("../openapi/people.json"),
    include_str!("../openapi/agents.json"),
    include_str!("../openapi/callbacks.json"),
    include_str!("../openapi/discovery.json"),
];

const URN: &str = "urn:ma2h-hub:openapi";

/// Whoever calls with a credential may meet these.
const OF_A_CREDENTIAL: [u16; 3] = [401, 500, 503];
/// Whoever sends a body may meet these.
const OF_A_BODY: [u16; 3] = [400, 413, 415];

/// The document. An embedded file that does not fit the others is a fault of the build, which the tests find.
pub fn document() -> Result<&'static Value, &'static str> {
    static DOCUMENT: LazyLock<Result<Value, String>> = LazyLock::new(compose);
    DOCUMENT.as_ref().map_err(String::as_str)
}

/// One shape of the document, compiled.
pub struct Shape(Validator);

impl Shape {
    /// The schema that stands at this pointer.
    pub fn at(pointer: &str) -> Result<Shape, String> {
        static REGISTRY: LazyLock<Result<Registry<'static>, String>> = LazyLock::new(|| {
            let registry = Registry::new()
                .add(URN, document()?)
                .map_err(|error| error.to_string())?;
            registry.prepare().map_err(|error| error.to_string())
        });
        // A pointer goes into a URI here, where the braces of a path may not stand.
        let pointer = pointer.replace('{', "%7B").replace('}', "%7D");
        let validator = jsonschema::options()
            .offline()
            .should_validate_formats(true)
            .with_pattern_options(PatternOptions::regex())
            .with_registry(REGISTRY.as_ref().map_err(String::clone)?)
            .build(&json!({ "$ref": format!("{URN}#{pointer}") }));
        validator.map(Shape).map_err(|error| error.to_string())
    }

    /// Checks a body, formats included; says where it is not as described, and in which way.
    pub fn check(&self, body: &Value) -> Result<(), String> {
        let checked = self.0.validate(body);
        checked.map_err(|error| format!("{}: {error}", error.instance_path()))
    }
}

fn compose() -> Result<Value, String> {
    let mut document = parse(FRAME)?;
    for text in RESOURCES {
        let mut resource = parse(text)?;
        let tag = resource["tag"].clone();
        for (path, mut item) in members(&mut resource, "/paths")? {
            let operations = item.as_object_mut().ok_or_else(|| format!("{path}: no object"))?;
            operations
                .values_mut()
                .for_each(|operation| finish(operation, &tag));
            add(&mut document, "/paths", &path, item)?;
        }
        for (name, schema) in members(&mut resource, "/schemas")? {
            add(&mut document, "/components/schemas", &name, schema)?;
        }
    }
    for noun in Noun::ALL {
        let text =
            document::text(Edition::V06, noun).ok_or_else(|| format!("no schema {}", noun.as_str()))?;
        let name = component(noun.as_str());
        let mut schema = parse(text)?;
        for resource_only in ["$schema", "$id"] {
            schema
                .as_object_mut()
                .map(|members| members.remove(resource_only));
        }
        rebase(&mut schema, &name);
        add(&mut document, "/components/schemas", &name, schema)?;
    }
    Ok(document)
}

fn parse(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("an embedded file: {error}"))
}

fn members(resource: &mut Value, pointer: &str) -> Result<Map<String, Value>, String> {
    match resource.pointer_mut(pointer).map(Value::take) {
        Some(Value::Object(members)) => Ok(members),
        _ => Err(format!("{}: no object {pointer}", resource["tag"])),
    }
}

fn add(document: &mut Value, pointer: &str, name: &str, value: Value) -> Result<(), String> {
    let members = document.pointer_mut(pointer).and_then(Value::as_object_mut);
    let members = members.ok_or_else(|| format!("openapi.json: no object {pointer}"))?;
    match members.insert(name.to_owned(), value) {
        None => Ok(()),
        Some(_) => Err(format!("{pointer}: {name} twice")),
    }
}

/// Gives an operation its tag, and its refusals as responses.
fn finish(operation: &mut Value, tag: &Value) {
    operation["tags"] = json!([tag]);
    let own = operation
        .as_object_mut()
        .and_then(|members| members.remove("x-errors"));
    // One without the list says for itself what it answers.
    let Some(Value::Array(own)) = own else { return };
    let mut statuses: Vec<u64> = own.iter().filter_map(Value::as_u64).collect();
    if operation.get("security") != Some(&json!([])) {
        statuses.extend(OF_A_CREDENTIAL.map(u64::from));
    }
    if operation.get("requestBody").is_some() {
        statuses.extend(OF_A_BODY.map(u64::from));
    }
    for status in statuses {
        operation["responses"][status.to_string()] =
            json!({ "$ref": format!("#/components/responses/{status}") });
    }
}

/// `get-message` as `GetMessage`.
fn component(noun: &str) -> String {
    let words = noun.split('-').map(|word| {
        let mut letters = word.chars();
        letters.next().map_or(String::new(), |first| {
            first.to_uppercase().chain(letters).collect()
        })
    });
    words.collect()
}

/// Lets the references of a schema, which stood on its own, lead to where it and the others stand now.
fn rebase(schema: &mut Value, name: &str) {
    match schema {
        Value::Object(members) => {
            for (keyword, value) in members {
                match value {
                    Value::String(reference) if keyword == "$ref" => *reference = rebased(reference, name),
                    _ => rebase(value, name),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| rebase(value, name)),
        _ => {}
    }
}

fn rebased(reference: &str, name: &str) -> String {
    let (document, pointer) = reference.split_once('#').unwrap_or((reference, ""));
    let name = match document.rsplit_once(':') {
        Some((_, noun)) => component(noun),
        None => name.to_owned(),
    };
    format!("#/components/schemas/{name}{pointer}")
}

#[cfg(test)]
mod tests {
    use super::{component, rebased};

    #[test]
    fn references_follow_their_schema() {
        assert_eq!(component("get-message"), "GetMessage");
        let cases = [
            ("#", "#/components/schemas/Session"),
            ("#/$defs/part", "#/components/schemas/Session/$defs/part"),
            (
                "urn:ma2h-hub:schema:v0.6:submit-ack",
                "#/components/schemas/SubmitAck",
            ),
            (
                "urn:ma2h-hub:schema:v0.6:message#/$defs/part",
                "#/components/schemas/Message/$defs/part",
            ),
        ];
        for (reference, expected) in cases {
            assert_eq!(rebased(reference, "Session"), expected);
        }
    }
}
