//! What a schema's finding says to people.

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::paths::LocationSegment;
use jsonschema::{JsonType, ValidationError};
use serde_json::Value;

use crate::Violation;

/// How much of the schema a phrase may tell.
pub(crate) enum Phrasing<'a> {
    /// A schema of ours: its lists are short and its patterns come with a phrase, found by the keyword's location.
    Ours {
        /// Looks the phrase up.
        expected: &'a dyn Fn(&str) -> Option<&'static str>,
    },
    /// A schema that came with a request, whose texts may be long or private.
    Theirs,
}

impl Phrasing<'_> {
    pub(crate) fn violation(&self, error: &ValidationError<'_>) -> Violation {
        let mut path = Path::default();
        for segment in error.instance_path().segments() {
            match segment {
                LocationSegment::Property(name) => path.enter(&name),
                LocationSegment::Index(index) => path.at(index),
            }
        }
        // A missing or superfluous member is named itself, rather than the object it should or should not be in.
        match error.kind() {
            ValidationErrorKind::Required {
                property: Value::String(name),
            } => path.enter(name),
            ValidationErrorKind::AdditionalProperties { unexpected }
            | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
                if let Some(name) = unexpected.first() {
                    path.enter(name);
                }
            }
            _ => {}
        }
        Violation {
            path: path.text,
            message: self.message(error),
        }
    }

    fn message(&self, error: &ValidationError<'_>) -> String {
        use ValidationErrorKind as Kind;
        match error.kind() {
            Kind::Required { .. } => "is required".to_owned(),
            Kind::Type {
                kind: TypeKind::Single(kind),
            } => format!("must be {}", type_name(*kind)),
            Kind::Type {
                kind: TypeKind::Multiple(kinds),
            } => {
                let names: Vec<_> = kinds.iter().map(type_name).collect();
                format!("must be {}", names.join(" or "))
            }
            Kind::Enum { options } => self.listed(options),
            Kind::Constant { expected_value } => self.constant(expected_value),
            Kind::Format { format } => format_name(format),
            Kind::Pattern { .. } => {
                let expected = self
                    .expected(error)
                    .unwrap_or("a text of the form that the schema's pattern describes");
                format!("must be {expected}")
            }
            Kind::FalseSchema => match self.expected(error) {
                Some(expected) => format!("must be {expected}"),
                None => "is not allowed here".to_owned(),
            },
            Kind::Referencing(_) => "refers to something outside of the schema".to_owned(),
            kind => limit(kind)
                .or_else(|| structure(kind).map(str::to_owned))
                .unwrap_or_else(|| "does not satisfy the schema".to_owned()),
        }
    }

    fn expected(&self, error: &ValidationError<'_>) -> Option<&'static str> {
        match self {
            Phrasing::Ours { expected } => expected(error.absolute_keyword_location()?.as_str()),
            Phrasing::Theirs => None,
        }
    }

    fn listed(&self, options: &Value) -> String {
        let names: Vec<_> = options
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        match self {
            Phrasing::Ours { .. } => format!("must be one of {}", names.join(", ")),
            Phrasing::Theirs => "must be one of the values that the schema lists".to_owned(),
        }
    }

    fn constant(&self, value: &Value) -> String {
        match self {
            Phrasing::Ours { .. } => format!("must be {value}"),
            Phrasing::Theirs => "must be the value that the schema names".to_owned(),
        }
    }
}

fn limit(kind: &ValidationErrorKind) -> Option<String> {
    use ValidationErrorKind as Kind;
    Some(match kind {
        Kind::MinLength { limit: 1 } => "must not be empty".to_owned(),
        Kind::MinLength { limit } => format!("must have at least {}", counted(*limit, "character")),
        Kind::MaxLength { limit } => format!("must have at most {}", counted(*limit, "character")),
        Kind::MinItems { limit } => format!("must have at least {}", counted(*limit, "item")),
        Kind::MaxItems { limit } => format!("must have at most {}", counted(*limit, "item")),
        Kind::AdditionalItems { limit } => {
            format!(
                "must have at most {}",
                counted(u64::try_from(*limit).unwrap_or(u64::MAX), "item")
            )
        }
        Kind::MinProperties { limit } => format!("must have at least {}", counted(*limit, "member")),
        Kind::MaxProperties { limit } => format!("must have at most {}", counted(*limit, "member")),
        Kind::Minimum { limit } => format!("must be at least {limit}"),
        Kind::Maximum { limit } => format!("must be at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("must be more than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("must be less than {limit}"),
        Kind::MultipleOf { multiple_of } => format!("must be a multiple of {multiple_of}"),
        _ => return None,
    })
}

fn structure(kind: &ValidationErrorKind) -> Option<&'static str> {
    use ValidationErrorKind as Kind;
    Some(match kind {
        Kind::AdditionalProperties { .. } | Kind::UnevaluatedProperties { .. } => "is not allowed here",
        Kind::UnevaluatedItems { .. } => "has items that are not allowed",
        Kind::UniqueItems => "must not have the same item twice",
        Kind::Contains => "lacks an item that the schema asks for",
        Kind::AnyOf { .. } | Kind::OneOfNotValid { .. } => {
            "must have one of the forms that the schema allows"
        }
        Kind::OneOfMultipleValid { .. } => "must have exactly one of the forms that the schema allows",
        Kind::Not { .. } => "must not have the form that the schema excludes",
        Kind::PropertyNames { .. } => "has a member whose name is not allowed",
        _ => return None,
    })
}

fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

fn type_name(kind: JsonType) -> &'static str {
    match kind {
        JsonType::Array => "an array",
        JsonType::Boolean => "true or false",
        JsonType::Integer => "a whole number",
        JsonType::Null => "null",
        JsonType::Number => "a number",
        JsonType::Object => "an object",
        JsonType::String => "a string",
    }
}

fn format_name(format: &str) -> String {
    match format {
        "date-time" => "must be an RFC 3339 date and time".to_owned(),
        "uri" => "must be an absolute URI".to_owned(),
        other => format!("must be of the format {other}"),
    }
}

/// A place in a body, written for people. Names in it can come from outside, so its length has a bound.
#[derive(Default)]
struct Path {
    text: String,
    cut: bool,
}

impl Path {
    const CHARACTERS_MAX: usize = 200;

    fn enter(&mut self, name: &str) {
        let plain = name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '$'));
        if plain && !name.is_empty() {
            let dot = if self.text.is_empty() { "" } else { "." };
            self.push(&[dot, name]);
        } else {
            self.push(&["[", &Value::from(name).to_string(), "]"]);
        }
    }

    fn at(&mut self, index: usize) {
        self.push(&["[", &index.to_string(), "]"]);
    }

    fn push(&mut self, parts: &[&str]) {
        let length: usize = parts.iter().map(|part| part.chars().count()).sum();
        if self.cut || self.text.chars().count() + length > Self::CHARACTERS_MAX {
            if !self.cut {
                self.text.push('…');
            }
            self.cut = true;
        } else {
            self.text.extend(parts.iter().copied());
        }
    }
}
