//! What the form holds, as what a call says that sends it, and the hub's objections at the field they are about.

use std::collections::BTreeSet;

use ma2h::error::{ErrorCode, Problem};
use ma2h::timestamp;
use serde_json::{Map, Value, json};
use time::{Duration, OffsetDateTime};

use super::super::controls::Complaints;
use super::super::fields::Fields;
use super::super::links;

pub(in super::super) const TO: &str = "to";
pub(super) const TITLE: &str = "title";
pub(super) const BODY: &str = "body";
pub(super) const PRIORITY: &str = "priority";
pub(super) const EXPIRES_IN: &str = "expires_in";
pub(super) const EXPIRES_UNIT: &str = "expires_unit";
pub(super) const TAGS: &str = "tags";
pub(super) const LINKS: &str = "links";
pub(super) const SENSITIVE: &str = "sensitive";
/// Names this sending: a form that is posted twice sends once.
pub(in super::super) const KEY: &str = "key";

/// What a time is counted in, by what the form calls it.
pub(super) const UNITS: [(&str, i64); 3] = [("minutes", 60), ("hours", 3600), ("days", 86400)];
/// Longest time until a directive is dropped.
const EXPIRY_SECONDS_MAX: i64 = 3650 * 86400;
/// Of a link that is none, so much is quoted.
const QUOTED_CHARS_MAX: usize = 60;

/// What a directive (§13.1) says, whomever it is for.
pub(in super::super) fn content(
    posted: &Fields,
    now: OffsetDateTime,
) -> Result<Map<String, Value>, Complaints> {
    let mut complaints = Complaints::default();
    let mut content = Map::new();
    let mut say = |name: &str, value: Value| drop(content.insert(name.to_owned(), value));
    match posted.filled(TITLE) {
        Some(title) => say("title", title.trim().into()),
        None => complaints.add(TITLE.to_owned(), "Write in one line what it is about.".to_owned()),
    }
    if let Some(body) = posted.filled(BODY) {
        say("body", body.into());
    }
    if let Some(priority) = posted.filled(PRIORITY) {
        say("priority", priority.into());
    }
    match expiry(posted, now) {
        Ok(Some(at)) => say("expires_at", timestamp::format(at).into()),
        Ok(None) => {}
        Err(complaint) => complaints.add(EXPIRES_IN.to_owned(), complaint),
    }
    let tags = tags(posted.get(TAGS).unwrap_or_default());
    if !tags.is_empty() {
        say("tags", tags.into());
    }
    match attached(posted.get(LINKS).unwrap_or_default()) {
        Ok(parts) if parts.is_empty() => {}
        Ok(parts) => say("context", parts.into()),
        Err(complaint) => complaints.add(LINKS.to_owned(), complaint),
    }
    if posted.has(SENSITIVE) {
        say("sensitive", true.into());
    }
    if complaints.is_empty() {
        Ok(content)
    } else {
        Err(complaints)
    }
}

/// Up to the full minute: of a form that is posted twice at once both say the same.
fn expiry(posted: &Fields, now: OffsetDateTime) -> Result<Option<OffsetDateTime>, String> {
    let Some(count) = posted.filled(EXPIRES_IN) else {
        return Ok(None);
    };
    let unit = posted.get(EXPIRES_UNIT).unwrap_or(UNITS[0].0);
    let unit = UNITS.iter().find(|(name, _)| *name == unit);
    let seconds = count.trim().parse().ok().filter(|count: &u32| *count > 0);
    let seconds = seconds
        .zip(unit)
        .map(|(count, (_, unit))| i64::from(count) * unit);
    let seconds = seconds.filter(|seconds| *seconds <= EXPIRY_SECONDS_MAX);
    let seconds = seconds.ok_or("Write a whole number, of at most ten years, or leave this empty.")?;
    let at = now + Duration::seconds(seconds);
    let minute = at.replace_second(0).and_then(|at| at.replace_nanosecond(0));
    minute
        .map(|minute| Some(minute + Duration::minutes(1)))
        .map_err(|error| error.to_string())
}

/// Each once, in the order they were typed.
fn tags(typed: &str) -> Vec<String> {
    let mut known = BTreeSet::new();
    let tags = typed.split([',', '\n']).map(str::trim);
    let tags = tags.filter(|tag| !tag.is_empty() && known.insert(*tag));
    tags.map(str::to_owned).collect()
}

/// A part (§4.2) for each line that holds an address, which the hub itself never follows.
fn attached(typed: &str) -> Result<Vec<Value>, String> {
    let lines = typed.lines().map(str::trim).filter(|line| !line.is_empty());
    let parts = lines.map(|line| {
        let (uri, name) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        if links::host(uri).is_none() {
            let quoted: String = uri.chars().take(QUOTED_CHARS_MAX).collect();
            return Err(format!(
                "“{quoted}” is no link. Begin each line with https:// or http://."
            ));
        }
        let name = name.trim();
        Ok(if name.is_empty() {
            json!({"kind": "file", "file": {"uri": uri}})
        } else {
            json!({"kind": "file", "file": {"uri": uri, "name": name}})
        })
    });
    parts.collect()
}

/// What the hub says against it, where the person finds it.
pub(in super::super) fn objections(problem: &Problem) -> Complaints {
    if matches!(problem.code, ErrorCode::Unavailable | ErrorCode::Internal) {
        return Complaints::general(
            "The hub could not take it just now. Nothing you wrote is lost: send it again.",
        );
    }
    let (field, text) = problem.message.split_once(": ").unwrap_or(("", &problem.message));
    let element = match field {
        "to" => TO,
        "title" => TITLE,
        "body" => BODY,
        "priority" => PRIORITY,
        "expires_at" => EXPIRES_IN,
        _ if field.starts_with("tags") => TAGS,
        // It holds nothing else here.
        _ if field.starts_with("context") => LINKS,
        _ => return Complaints::general(sentence(&problem.message)),
    };
    Complaints::about(element, &sentence(text))
}

/// Text of an error as a sentence.
fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(chars).chain(['.']).collect()
}

#[cfg(test)]
mod tests {
    use ma2h::directive::Draft;
    use ma2h::error::Problem;
    use serde_json::{Map, Value, json};
    use time::macros::datetime;

    use super::{
        BODY, EXPIRES_IN, EXPIRES_UNIT, LINKS, PRIORITY, SENSITIVE, TAGS, TITLE, content, objections,
    };
    use crate::inbox::fields::Fields;

    const NOW: time::OffsetDateTime = datetime!(2026-06-04 18:00:30 UTC);

    /// As a directive that is sent.
    fn directive(content: Map<String, Value>) -> String {
        let mut directive = Value::Object(content);
        directive["to"] = "agent:a".into();
        directive.to_string()
    }

    #[test]
    fn reads_what_was_typed() {
        let posted = Fields::from([
            (TITLE, " Stop "),
            (BODY, "a\r\nb"),
            (PRIORITY, "high"),
            (EXPIRES_IN, "2"),
            (EXPIRES_UNIT, "hours"),
            (TAGS, "deploy, eu ,,deploy"),
            (
                LINKS,
                "https://ci.example/d?x=1  the  patch\r\n\r\n http://b.example",
            ),
            (SENSITIVE, "yes"),
        ]);
        let read = content(&posted, NOW).unwrap();
        let expected = json!({
            "title": "Stop", "body": "a\nb", "priority": "high", "expires_at": "2026-06-04T20:01:00.000000Z",
            "tags": ["deploy", "eu"],
            "context": [
                {"kind": "file", "file": {"uri": "https://ci.example/d?x=1", "name": "the  patch"}},
                {"kind": "file", "file": {"uri": "http://b.example"}},
            ],
            "sensitive": true,
        });
        assert_eq!(Value::Object(read.clone()), expected);
        Draft::read(&directive(read)).unwrap();
        let bare = Fields::from([
            (TITLE, "Stop"),
            (BODY, " "),
            (EXPIRES_IN, ""),
            (TAGS, " , "),
            (LINKS, "\n"),
        ]);
        assert_eq!(
            Value::Object(content(&bare, NOW).unwrap()),
            json!({"title": "Stop"})
        );
    }

    #[test]
    fn says_at_once_all_that_is_wrong() {
        for count in ["0", "-1", "1.5", "soon", "4000", "99999999999"] {
            let posted = Fields::from([
                (TITLE, " "),
                (EXPIRES_IN, count),
                (EXPIRES_UNIT, "days"),
                (LINKS, "javascript:alert(1)"),
            ]);
            let complaints = content(&posted, NOW).unwrap_err();
            for field in [TITLE, EXPIRES_IN, LINKS] {
                assert!(complaints.of(field).is_some(), "{field}, {count}");
            }
        }
        let odd = Fields::from([(TITLE, "x"), (EXPIRES_IN, "1"), (EXPIRES_UNIT, "moons")]);
        assert!(content(&odd, NOW).is_err());
    }

    #[test]
    fn the_hub_objects_at_the_field() {
        let posted = Fields::from([(TITLE, "x".repeat(201).as_str()), (PRIORITY, "normal")]);
        let body = directive(content(&posted, NOW).unwrap());
        let problem = Draft::read(&body).unwrap_err();
        assert!(objections(&problem).of(TITLE).is_some(), "{problem}");
        let posted = Fields::from([(TITLE, "x"), (LINKS, "https://ü b")]);
        let body = directive(content(&posted, NOW).unwrap());
        let problem = Draft::read(&body).unwrap_err();
        assert!(objections(&problem).of(LINKS).is_some(), "{problem}");
        let problem = Problem::invalid_field("expires_at: expected a time in the future");
        assert_eq!(
            objections(&problem).of(EXPIRES_IN),
            Some("Expected a time in the future.")
        );
        let problem = Problem::invalid_field("context: expected at most 16 parts");
        assert_eq!(objections(&problem).of(LINKS), Some("Expected at most 16 parts."));
        let general = objections(&Problem::validation("odd: thing")).general;
        assert_eq!(general.as_deref(), Some("Odd: thing."));
    }
}
