//! What the form holds, as the body of a call that sends it, and the hub's objections at the field they are about.

use ma2h::error::{ErrorCode, Problem};
use ma2h::timestamp;
use serde_json::{Map, Value};
use time::{Duration, OffsetDateTime};

use super::super::controls::Complaints;
use super::super::fields::Fields;

pub(super) const TO: &str = "to";
pub(super) const TITLE: &str = "title";
pub(super) const BODY: &str = "body";
pub(super) const PRIORITY: &str = "priority";
pub(super) const EXPIRES_IN: &str = "expires_in";
pub(super) const EXPIRES_UNIT: &str = "expires_unit";
/// Names this sending: a form that is posted twice sends once.
pub(super) const KEY: &str = "key";

/// What a time is counted in, by what the form calls it.
pub(super) const UNITS: [(&str, i64); 3] = [("minutes", 60), ("hours", 3600), ("days", 86400)];
/// Longest time until a directive is dropped.
const EXPIRY_SECONDS_MAX: i64 = 3650 * 86400;

/// The directive (§13.1) without the hub's fields.
pub(super) fn read(agent: &str, posted: &Fields, now: OffsetDateTime) -> Result<Value, Complaints> {
    let mut complaints = Complaints::default();
    let mut directive = Map::from_iter([("to".to_owned(), format!("agent:{agent}").into())]);
    match posted.filled(TITLE) {
        Some(title) => drop(directive.insert("title".to_owned(), title.trim().into())),
        None => complaints.add(TITLE.to_owned(), "Write in one line what it is about.".to_owned()),
    }
    if let Some(body) = posted.filled(BODY) {
        directive.insert("body".to_owned(), body.into());
    }
    if let Some(priority) = posted.filled(PRIORITY) {
        directive.insert("priority".to_owned(), priority.into());
    }
    match expiry(posted, now) {
        Ok(Some(at)) => drop(directive.insert("expires_at".to_owned(), timestamp::format(at).into())),
        Ok(None) => {}
        Err(complaint) => complaints.add(EXPIRES_IN.to_owned(), complaint),
    }
    if complaints.is_empty() {
        Ok(Value::Object(directive))
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

/// What the hub says against it, where the person finds it.
pub(super) fn objections(problem: &Problem) -> Complaints {
    match problem.code {
        ErrorCode::RateLimited => {
            return Complaints::about(
                TO,
                "Its mailbox is full. Try again when it has acknowledged some of what is in it.",
            );
        }
        ErrorCode::UnknownDestination => {
            return Complaints::about(TO, "There is no such agent any more.");
        }
        ErrorCode::Unavailable | ErrorCode::Internal => {
            return Complaints::general(
                "The hub could not take it just now. Nothing you wrote is lost: send it again.",
            );
        }
        _ => {}
    }
    let (field, text) = problem.message.split_once(": ").unwrap_or(("", &problem.message));
    let element = match field {
        "to" => TO,
        "title" => TITLE,
        "body" => BODY,
        "priority" => PRIORITY,
        "expires_at" => EXPIRES_IN,
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
    use serde_json::json;
    use time::macros::datetime;

    use super::{BODY, EXPIRES_IN, EXPIRES_UNIT, PRIORITY, TITLE, objections, read};
    use crate::inbox::fields::Fields;

    const NOW: time::OffsetDateTime = datetime!(2026-06-04 18:00:30 UTC);

    #[test]
    fn reads_what_was_typed() {
        let posted = Fields::from([
            (TITLE, " Stop "),
            (BODY, "a\r\nb"),
            (PRIORITY, "high"),
            (EXPIRES_IN, "2"),
            (EXPIRES_UNIT, "hours"),
        ]);
        let directive = read("a/🌳", &posted, NOW).unwrap();
        let expected = json!({
            "to": "agent:a/🌳", "title": "Stop", "body": "a\nb", "priority": "high",
            "expires_at": "2026-06-04T20:01:00.000000Z",
        });
        assert_eq!(directive, expected);
        Draft::read(&directive.to_string()).unwrap();
        let bare = Fields::from([(TITLE, "Stop"), (BODY, " "), (EXPIRES_IN, "")]);
        assert_eq!(
            read("a", &bare, NOW).unwrap(),
            json!({"to": "agent:a", "title": "Stop"})
        );
    }

    #[test]
    fn says_at_once_all_that_is_wrong() {
        for count in ["0", "-1", "1.5", "soon", "4000", "99999999999"] {
            let posted = Fields::from([(TITLE, " "), (EXPIRES_IN, count), (EXPIRES_UNIT, "days")]);
            let complaints = read("a", &posted, NOW).unwrap_err();
            assert!(
                complaints.of(TITLE).is_some() && complaints.of(EXPIRES_IN).is_some(),
                "{count}"
            );
        }
        let odd = Fields::from([(TITLE, "x"), (EXPIRES_IN, "1"), (EXPIRES_UNIT, "moons")]);
        assert!(read("a", &odd, NOW).is_err());
    }

    #[test]
    fn the_hub_objects_at_the_field() {
        let posted = Fields::from([(TITLE, "x".repeat(201).as_str()), (PRIORITY, "normal")]);
        let body = read("a", &posted, NOW).unwrap().to_string();
        let problem = Draft::read(&body).unwrap_err();
        assert!(objections(&problem).of(TITLE).is_some(), "{problem}");
        let problem = Problem::invalid_field("expires_at: expected a time in the future");
        assert_eq!(
            objections(&problem).of(EXPIRES_IN),
            Some("Expected a time in the future.")
        );
        let general = objections(&Problem::validation("context: odd")).general;
        assert_eq!(general.as_deref(), Some("Context: odd."));
    }
}
