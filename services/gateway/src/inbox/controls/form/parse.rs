//! What was typed, as the object the agent asked for.

use ma2h_schema::answer;
use serde_json::{Map, Number, Value};

use super::super::super::fields::Fields;
use super::super::Complaints;
use super::{Field, Kind};

/// The typed answer, or what is wrong with which field. Optional fields that were left empty are left out.
pub(in super::super) fn answer(
    fields: &[Field],
    schema: &Value,
    posted: &Fields,
) -> Result<Value, Complaints> {
    let mut answer = Map::new();
    let mut complaints = Complaints::default();
    for (index, field) in fields.iter().enumerate() {
        let element = Field::element(index);
        match typed(field, posted.get(&element)) {
            Ok(Some(value)) => {
                answer.insert(field.name.clone(), value);
            }
            Ok(None) => {}
            Err(complaint) => complaints.add(element, complaint),
        }
    }
    if !complaints.is_empty() {
        return Err(complaints);
    }
    let answer = Value::Object(answer);
    check(fields, schema, &answer)?;
    Ok(answer)
}

/// One value; `None` leaves the property out.
fn typed(field: &Field, text: Option<&str>) -> Result<Option<Value>, String> {
    if field.kind == Kind::Flag {
        return Ok(Some(Value::Bool(text.is_some())));
    }
    let text = text.unwrap_or_default();
    if text.trim().is_empty() {
        return match (field.required, field.nullable) {
            (false, _) => Ok(None),
            (true, true) => Ok(Some(Value::Null)),
            (true, false) => Err("This is needed for an answer.".to_owned()),
        };
    }
    let value = match &field.kind {
        Kind::Line("password") | Kind::Text => Some(Value::String(text.to_owned())),
        Kind::Line(_) => Some(Value::String(text.trim().to_owned())),
        Kind::Choice(choices) => {
            let at: Option<usize> = text.parse().ok();
            at.and_then(|at| choices.get(at))
                .map(|choice| choice.value.clone())
        }
        Kind::Integer => integer(text.trim()).map(Value::Number),
        Kind::Number => number(text.trim()).map(Value::Number),
        Kind::Json => ma2h::json::parse_strict(text).ok(),
        Kind::Flag => Some(Value::Bool(true)),
    };
    value.map(Some).ok_or_else(|| expectation(&field.kind).to_owned())
}

fn expectation(kind: &Kind) -> &'static str {
    match kind {
        Kind::Integer => "Write a whole number, for example 12.",
        Kind::Number => "Write a number, for example 12 or 12.5.",
        Kind::Json => "This is not valid JSON.",
        _ => "Choose one of the values.",
    }
}

fn integer(text: &str) -> Option<Number> {
    text.parse::<i64>()
        .map(Number::from)
        .or_else(|_| text.parse::<u64>().map(Number::from))
        .ok()
}

fn number(text: &str) -> Option<Number> {
    // Rust would read `inf`, `nan` and `.5` as well, which no JSON knows.
    let plain = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    integer(text).or_else(|| text.parse().ok().filter(|_| plain).and_then(Number::from_f64))
}

/// The whole against the whole schema: it may say more than the fields can.
fn check(fields: &[Field], schema: &Value, value: &Value) -> Result<(), Complaints> {
    let mut complaints = Complaints::default();
    let Ok(compiled) = answer::compile(schema) else {
        // The tier that decides says so; here is only no opinion.
        return Ok(());
    };
    let Err(violation) = compiled.check(value) else {
        return Ok(());
    };
    let at = fields
        .iter()
        .position(|field| is_within(&violation.path, &field.name));
    match at {
        Some(index) => {
            let complaint = if fields[index].sensitive {
                "This does not have the form the agent asked for.".to_owned()
            } else {
                sentence(&violation.message)
            };
            complaints.add(Field::element(index), complaint);
        }
        None => complaints.general = Some(sentence(&violation.message)),
    }
    Err(complaints)
}

/// Whether a path such as `name`, `name.inner` or `name[0]` lies in this property.
fn is_within(path: &str, name: &str) -> bool {
    path.strip_prefix(name)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

fn sentence(message: &str) -> String {
    let mut letters = message.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).chain(['.']).collect(),
        None => "This does not fit what the agent asked for.".to_owned(),
    }
}
