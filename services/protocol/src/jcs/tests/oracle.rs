//! A second canonical writer, as plain as RFC 8785 reads. It shares nothing with the one in use: the digits of a number
//! come from the standard library, the order of keys and the escapes from the text of the RFC.

use std::fmt::Write as _;

use serde_json::Value;

pub(super) fn canonical(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => decimal(number.as_f64().unwrap()),
        Value::String(text) => quoted(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(canonical).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(name, _)| name.encode_utf16().collect::<Vec<u16>>());
            let members: Vec<String> = members
                .into_iter()
                .map(|(name, value)| format!("{}:{}", quoted(name), canonical(value)))
                .collect();
            format!("{{{}}}", members.join(","))
        }
    }
}

/// 3.2.2.2
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            '\0'..'\u{20}' => write!(out, "\\u{:04x}", u32::from(letter)).unwrap(),
            _ => out.push(letter),
        }
    }
    out + "\""
}

/// 3.2.2.3: `Number::toString` of ECMAScript, by its numbered cases.
fn decimal(number: f64) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    let sign = if number < 0.0 { "-" } else { "" };
    let shortest = closest(number.abs());
    let (mantissa, exponent) = shortest.split_once('e').unwrap();
    let digits = mantissa.replace('.', "");
    let exponent: i32 = exponent.parse().unwrap();
    let (count, point) = (i32::try_from(digits.len()).unwrap(), exponent + 1);
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap());
    let split = |at: i32| digits.split_at(usize::try_from(at).unwrap());
    let text = if (count..=21).contains(&point) {
        format!("{digits}{}", zeros(point - count))
    } else if (1..=21).contains(&point) {
        let (whole, fraction) = split(point);
        format!("{whole}.{fraction}")
    } else if (-5..=0).contains(&point) {
        format!("0.{}{digits}", zeros(-point))
    } else {
        let (first, rest) = split(1);
        let dot = if rest.is_empty() { "" } else { "." };
        format!("{first}{dot}{rest}e{exponent:+}")
    };
    format!("{sign}{text}")
}

/// Of the shortest decimals that read back as `number` the closest one, and of two as close the even one.
fn closest(number: f64) -> String {
    let shortest = format!("{number:e}");
    let (mantissa, _) = shortest.split_once('e').unwrap();
    let decimals = mantissa.len().saturating_sub(2);
    let rounded = format!("{number:.decimals$e}");
    // Beside a power of two the closest may lie on the side where the next number is nearer.
    if rounded.parse() == Ok(number) {
        rounded
    } else {
        shortest
    }
}
