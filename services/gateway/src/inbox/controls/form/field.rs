//! The fields that a schema asks for.

use serde_json::Value;
use serde_json::value::RawValue;

/// A string longer than this gets a box of several lines.
const LINE_CHARS_MAX: u64 = 120;

/// One property of the answer.
#[derive(Debug, PartialEq)]
pub(in super::super::super) struct Field {
    /// The property's name.
    pub(in super::super::super) name: String,
    /// What a person reads: the title, or the name made readable.
    pub(in super::super::super) label: String,
    pub(super) hint: Option<String>,
    /// What the schema says of fitting values, in words.
    pub(super) bounds: Option<String>,
    pub(in super::super::super) kind: Kind,
    pub(super) required: bool,
    /// Whether `null` fits as well.
    pub(super) nullable: bool,
    /// `x-ma2h-sensitive` (§9.6): neither shown while typing nor ever shown again.
    pub(in super::super::super) sensitive: bool,
    /// What stands in it before anybody typed.
    pub(super) initial: Option<Value>,
}

/// How a property is filled in.
#[derive(Debug, PartialEq)]
pub(in super::super::super) enum Kind {
    /// A string in one line; the type of its input element.
    Line(&'static str),
    /// A string of several lines.
    Text,
    /// One of these.
    Choice(Vec<Choice>),
    /// Yes or no.
    Flag,
    Integer,
    Number,
    /// Anything else, written as JSON.
    Json,
}

/// A value that can be picked.
#[derive(Debug, PartialEq)]
pub(in super::super::super) struct Choice {
    pub(in super::super::super) label: String,
    pub(in super::super::super) value: Value,
}

impl Field {
    /// The name of its element in the form. Not the property's own: a browser rewrites line ends in names.
    pub(super) fn element(index: usize) -> String {
        format!("field.{index}")
    }
}

/// The fields of a schema, in the order the agent wrote them.
pub(in super::super::super) fn fields(schema: &RawValue) -> Vec<Field> {
    let members = ma2h::json::members(schema.get()).unwrap_or_default();
    let member = |name: &str| {
        members
            .iter()
            .find(|(at, _)| at == name)
            .map(|(_, raw)| raw.get())
    };
    let required: Vec<String> = member("required")
        .and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default();
    let properties = member("properties")
        .and_then(|text| ma2h::json::members(text).ok())
        .unwrap_or_default();
    let mut fields: Vec<Field> = properties
        .into_iter()
        .map(|(name, property)| {
            let property = serde_json::from_str(property.get()).unwrap_or(Value::Null);
            let required = required.contains(&name);
            field(name, &property, required)
        })
        .collect();
    // Demanded, but not described: without a field of its own nobody could answer.
    for name in required {
        if !fields.iter().any(|field| field.name == name) {
            fields.push(Field {
                kind: Kind::Json,
                ..field(name, &Value::Null, true)
            });
        }
    }
    fields
}

fn field(name: String, property: &Value, required: bool) -> Field {
    let text = |key: &str| {
        property[key]
            .as_str()
            .map(str::trim)
            .filter(|text| !text.is_empty())
    };
    let (kind, nullable) = kind(property);
    Field {
        label: text("title").map_or_else(|| readable(&name), str::to_owned),
        hint: text("description").map(str::to_owned),
        bounds: bounds(property, &kind),
        sensitive: property["x-ma2h-sensitive"] == true,
        initial: property.get("default").cloned(),
        name,
        kind,
        required,
        nullable,
    }
}

fn kind(property: &Value) -> (Kind, bool) {
    let types: Vec<&str> = match &property["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let nullable = types.contains(&"null");
    if let Some(choices) = choices(property) {
        let null_is_listed = choices.iter().any(|choice| choice.value.is_null());
        return (
            Kind::Choice(choices),
            nullable && !null_is_listed && property.get("enum").is_none(),
        );
    }
    let kind = match types
        .iter()
        .copied()
        .filter(|one| *one != "null")
        .collect::<Vec<_>>()[..]
    {
        ["boolean"] => Kind::Flag,
        ["integer"] => Kind::Integer,
        ["number"] | ["integer", "number"] | ["number", "integer"] => Kind::Number,
        ["string"] => string(property),
        // Nothing said: a string fits, unless something else in it says no.
        [] if !nullable && property.get("properties").is_none() && property.get("items").is_none() => {
            string(property)
        }
        _ => Kind::Json,
    };
    (kind, nullable)
}

/// The values of `enum`, of a `const`, or of a list of constants with titles.
fn choices(property: &Value) -> Option<Vec<Choice>> {
    let plain = |value: &Value| Choice {
        label: plain_label(value),
        value: value.clone(),
    };
    if let Some(values) = property["enum"].as_array().filter(|values| !values.is_empty()) {
        let names = property["enumNames"].as_array();
        let name = |at: usize| names.and_then(|names| names.get(at)?.as_str());
        let choice = |(at, value): (usize, &Value)| match name(at) {
            Some(label) => Choice {
                label: label.to_owned(),
                value: value.clone(),
            },
            None => plain(value),
        };
        return Some(values.iter().enumerate().map(choice).collect());
    }
    if let Some(value) = property.get("const") {
        return Some(vec![plain(value)]);
    }
    let constants = property["oneOf"]
        .as_array()
        .or_else(|| property["anyOf"].as_array())?;
    let constant = |one: &Value| {
        let value = one.get("const")?;
        Some(Choice {
            label: one["title"]
                .as_str()
                .map_or_else(|| plain_label(value), str::to_owned),
            value: value.clone(),
        })
    };
    constants
        .iter()
        .map(constant)
        .collect::<Option<Vec<_>>>()
        .filter(|choices| !choices.is_empty())
}

fn plain_label(value: &Value) -> String {
    match value {
        Value::String(text) if text.is_empty() => "(empty)".to_owned(),
        Value::String(text) => text.clone(),
        Value::Bool(true) => "Yes".to_owned(),
        Value::Bool(false) => "No".to_owned(),
        Value::Null => "None".to_owned(),
        other => other.to_string(),
    }
}

fn string(property: &Value) -> Kind {
    if property["x-ma2h-sensitive"] == true {
        return Kind::Line("password");
    }
    match property["format"].as_str() {
        Some("email" | "idn-email") => Kind::Line("email"),
        Some("uri" | "url" | "iri") => Kind::Line("url"),
        Some("date") => Kind::Line("date"),
        Some(_) => Kind::Line("text"),
        None => match property["maxLength"].as_u64() {
            Some(longest) if longest <= LINE_CHARS_MAX => Kind::Line("text"),
            _ => Kind::Text,
        },
    }
}

/// `release_note` and `releaseNote` as words.
fn readable(name: &str) -> String {
    let mut words = String::with_capacity(name.len() + 4);
    let mut before = ' ';
    for letter in name.chars() {
        if letter.is_uppercase() && before.is_lowercase() {
            words.push(' ');
            words.extend(letter.to_lowercase());
        } else {
            words.push(if matches!(letter, '_' | '-') { ' ' } else { letter });
        }
        before = letter;
    }
    let words = words.trim();
    let mut letters = words.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => name.to_owned(),
    }
}

fn bounds(property: &Value, kind: &Kind) -> Option<String> {
    let number = |key: &str| property.get(key).filter(|bound| bound.is_number());
    let (low, high, unit) = match kind {
        Kind::Integer | Kind::Number => (number("minimum"), number("maximum"), ""),
        Kind::Line(_) | Kind::Text => (
            number("minLength").filter(|bound| bound.as_u64() > Some(1)),
            number("maxLength"),
            " characters",
        ),
        _ => return None,
    };
    match (low, high) {
        (Some(low), Some(high)) => Some(format!("{low} to {high}{unit}")),
        (Some(low), None) => Some(format!("at least {low}{unit}")),
        (None, Some(high)) => Some(format!("at most {high}{unit}")),
        (None, None) => match kind {
            Kind::Integer => Some("a whole number".to_owned()),
            Kind::Number => Some("a number".to_owned()),
            _ => None,
        },
    }
}
