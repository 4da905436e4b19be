//! `request`: what an ask wants to know (§5.2).

use std::collections::HashSet;
use std::str::FromStr;

use serde_json::Value;

use crate::error::Problem;

/// How an ask is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// By one of the options.
    Select,
    /// By an object that fits the schema.
    Input,
    /// By one of two options: approve and deny, where none are given.
    Confirm,
}

impl Mode {
    /// As the wire has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Mode::Select => "select",
            Mode::Input => "input",
            Mode::Confirm => "confirm",
        }
    }
}

impl FromStr for Mode {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Mode, Problem> {
        match text {
            "select" => Ok(Mode::Select),
            "input" => Ok(Mode::Input),
            "confirm" => Ok(Mode::Confirm),
            _ => Err(Problem::validation(
                "request.mode: expected select, input or confirm",
            )),
        }
    }
}

/// One way to answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What the agent gets.
    pub value: String,
    /// What a person reads.
    pub label: String,
    /// More to read.
    pub description: Option<String>,
}

impl Choice {
    pub(crate) fn plain(value: &str, label: &str) -> Choice {
        Choice {
            value: value.to_owned(),
            label: label.to_owned(),
            description: None,
        }
    }
}

/// A question to a person.
#[expect(clippy::struct_excessive_bools, reason = "the wire has as many flags")]
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    /// How it is answered.
    pub mode: Mode,
    /// The effective options: the given ones, or the two that a bare confirm stands for; none of an input ask.
    pub options: Vec<Choice>,
    /// Whether the envelope lists the options itself.
    pub listed: bool,
    /// A value that two of the given options share.
    pub repeated_value: Option<String>,
    /// What the answer to an input ask must fit; elsewhere a schema means nothing.
    pub schema: Option<Value>,
    /// Whether an answer outside the options is taken: in force, not merely written (§5.2).
    pub allow_edit: bool,
    /// Whether it may be answered.
    pub allow_respond: bool,
    /// Whether it may be declined.
    pub allow_ignore: bool,
    /// What applies when it expires; `null` is none.
    pub default_on_expire: Option<Value>,
    /// The same as it was written, for the Response.
    pub default_on_expire_text: Option<String>,
}

impl Ask {
    /// Whether `value` is one of the effective options: the same string, code point by code point.
    pub fn lists(&self, value: &str) -> bool {
        self.options.iter().any(|choice| choice.value == value)
    }

    /// What a first submit must satisfy, at every minor: it can be answered, unambiguously.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        if let Some(value) = &self.repeated_value {
            let shown: String = value.chars().take(VALUE_SHOWN_CHARS).collect();
            let message =
                format!("request.options: two options have the value {shown:?}, values must differ");
            return Err(Problem::invalid_field(message));
        }
        if self.mode == Mode::Input {
            check_answerable(self.schema.as_ref())?;
        }
        self.check_default()
    }

    fn check_default(&self) -> Result<(), Problem> {
        let Some(default) = &self.default_on_expire else {
            return Ok(());
        };
        if self.mode == Mode::Input {
            let fits = self
                .check_input(default)
                .map_err(|why| format!("request.default_on_expire: {why}"));
            return fits.map_err(Problem::invalid_field);
        }
        match default.as_str() {
            Some(value) if self.lists(value) => Ok(()),
            _ => Err(Problem::invalid_field(
                "request.default_on_expire: expected an option's value or null",
            )),
        }
    }

    /// Whether `value` answers an input ask; otherwise says why not.
    pub(crate) fn check_input(&self, value: &Value) -> Result<(), String> {
        if !value.is_object() {
            return Err("expected an object that fits request.schema".to_owned());
        }
        let answer = compile(self.schema.as_ref().unwrap_or(&Value::Null))?;
        answer.check(value).map_err(|violation| violation.to_string())
    }
}

/// Characters of a client's value that an error repeats.
const VALUE_SHOWN_CHARS: usize = 40;

/// The names that JSON Schema's `type` knows.
const TYPE_NAMES: [&str; 7] = [
    "null", "boolean", "object", "array", "number", "string", "integer",
];

fn compile(schema: &Value) -> Result<ma2h_schema::answer::Answer, String> {
    ma2h_schema::answer::compile(schema).map_err(|why| format!("request.schema cannot be evaluated: {why}"))
}

/// An input ask is answered by an object, so its schema describes one, with something to fill in. What the fields say
/// is not looked at; but a schema that no answer can be held to would strand the ask with a person who cannot mend it.
fn check_answerable(schema: Option<&Value>) -> Result<(), Problem> {
    let refused = |why: &str| Err(Problem::invalid_field(format!("request.schema: {why}")));
    let Some(schema @ Value::Object(members)) = schema else {
        return refused("expected a json schema that describes an object");
    };
    if !members.get("type").is_none_or(admits_object) {
        return refused("the answer is an object, expected \"type\": \"object\" or a list with it");
    }
    let fields = members.get("properties").and_then(Value::as_object);
    if fields.is_none_or(serde_json::Map::is_empty) {
        return refused("expected properties with at least one field");
    }
    compile(schema).map(|_| ()).map_err(Problem::invalid_field)
}

/// Whether a `type` keyword is a proper one and lets an object through.
fn admits_object(keyword: &Value) -> bool {
    match keyword {
        Value::String(name) => name == "object",
        Value::Array(names) => {
            let mut seen = HashSet::new();
            let is_proper = |name: &Value| {
                name.as_str()
                    .is_some_and(|name| TYPE_NAMES.contains(&name) && seen.insert(name.to_owned()))
            };
            names.iter().all(is_proper) && names.iter().any(|name| name == "object")
        }
        _ => false,
    }
}
