//! How many of each thing an envelope may hold, and how long a name may be.
//!
//! The advertised limits are in bytes (§8.6). Within them a hostile envelope could still carry what no list can show and no
//! column can index; these bounds are far above what people and agents read.

use crate::envelope::Envelope;
use crate::error::Problem;

/// Entries of one list.
const ENTRIES_MAX: usize = 1_000;
/// Characters of what names something: a key, a label, an option, a tag.
const NAME_CHARS_MAX: usize = 2_000;
/// The same of a project, which lists are narrowed to by an index.
const PROJECT_CHARS_MAX: usize = 500;

/// Refuses what is over a bound.
pub(super) fn check(envelope: &Envelope) -> Result<(), Problem> {
    let block = envelope.kind.block().unwrap_or_default();
    let resolvers = envelope.allowed_resolvers.as_deref().unwrap_or_default();
    let resolvers_at = format!("{block}.allowed_resolvers");
    check_texts("tags", &envelope.tags)?;
    check_texts(&resolvers_at, resolvers)?;
    check_labels(&envelope.labels)?;
    let single = [
        ("idempotency_key", envelope.idempotency_key.as_deref()),
        ("agent.run_id", Some(envelope.run_id.as_str())),
        ("agent.runtime", Some(envelope.runtime.as_str())),
    ];
    for (field, text) in single {
        check_name(|| field.to_owned(), text.unwrap_or_default())?;
    }
    let project = envelope.project.as_deref().unwrap_or_default();
    check_chars(|| "agent.project".to_owned(), project, PROJECT_CHARS_MAX)?;
    if let Some(ask) = envelope.ask.as_ref().filter(|ask| ask.listed) {
        check_count("request.options", ask.options.len())?;
        for (at, option) in ask.options.iter().enumerate() {
            check_name(|| format!("request.options[{at}].value"), &option.value)?;
            check_name(|| format!("request.options[{at}].label"), &option.label)?;
        }
    }
    let checklist = envelope.task.as_ref().map_or(0, |task| task.checklist.len());
    check_count("action.checklist", checklist)
}

fn check_texts(field: &str, texts: &[String]) -> Result<(), Problem> {
    check_count(field, texts.len())?;
    for (at, text) in texts.iter().enumerate() {
        check_name(|| format!("{field}[{at}]"), text)?;
    }
    Ok(())
}

fn check_labels(labels: &[(String, String)]) -> Result<(), Problem> {
    check_count("agent.labels", labels.len())?;
    for (name, value) in labels {
        check_name(|| "agent.labels".to_owned(), name)?;
        check_name(|| "agent.labels".to_owned(), value)?;
    }
    Ok(())
}

fn check_count(field: &str, count: usize) -> Result<(), Problem> {
    if count <= ENTRIES_MAX {
        return Ok(());
    }
    Err(Problem::invalid_field(format!(
        "{field}: expected at most {ENTRIES_MAX} entries"
    )))
}

fn check_name(field: impl Fn() -> String, text: &str) -> Result<(), Problem> {
    check_chars(field, text, NAME_CHARS_MAX)
}

fn check_chars(field: impl Fn() -> String, text: &str, chars_max: usize) -> Result<(), Problem> {
    // As many bytes as the bound are never more characters: the common case counts nothing.
    if text.len() <= chars_max || text.chars().count() <= chars_max {
        return Ok(());
    }
    Err(Problem::invalid_field(format!(
        "{}: expected at most {chars_max} characters",
        field()
    )))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{ENTRIES_MAX, NAME_CHARS_MAX, PROJECT_CHARS_MAX, check};
    use crate::error::ErrorCode;
    use crate::samples::{ask, lay_over, notify, read, task};

    /// The bound itself is kept, one more is refused by name.
    fn bounded(field: &str, envelope: impl Fn(usize) -> Value, max: usize) {
        assert_eq!(check(&read(&envelope(max))), Ok(()), "{field}");
        let problem = check(&read(&envelope(max + 1))).unwrap_err();
        assert_eq!(problem.code, ErrorCode::InvalidField, "{field}");
        let named = problem
            .message
            .starts_with(&format!("{field}: expected at most {max} "));
        assert!(named, "{field}: {}", problem.message);
    }

    fn told(members: &Value) -> Value {
        let mut envelope = notify();
        lay_over(&mut envelope, members);
        envelope
    }

    fn told_by(members: &Value) -> Value {
        let mut envelope = notify();
        lay_over(&mut envelope["agent"], members);
        envelope
    }

    fn texts(count: usize) -> Value {
        (0..count).map(|at| format!("t{at}")).collect()
    }

    #[test]
    fn lists_are_bounded() {
        bounded("tags", |n| told(&json!({ "tags": texts(n) })), ENTRIES_MAX);
        let labels = |n| {
            (0..n)
                .map(|at| (format!("l{at}"), json!("x")))
                .collect::<serde_json::Map<_, _>>()
        };
        bounded(
            "agent.labels",
            |n| told_by(&json!({ "labels": labels(n) })),
            ENTRIES_MAX,
        );
        let options = |n: usize| -> Value {
            (0..n)
                .map(|at| json!({ "value": at.to_string(), "label": "x" }))
                .collect()
        };
        bounded(
            "request.options",
            |n| ask(&json!({ "options": options(n) })),
            ENTRIES_MAX,
        );
        let resolvers = |n: usize| -> Value { (0..n).map(|at| json!(format!("human:h{at}"))).collect() };
        bounded(
            "request.allowed_resolvers",
            |n| ask(&json!({ "allowed_resolvers": resolvers(n) })),
            ENTRIES_MAX,
        );
        bounded(
            "action.allowed_resolvers",
            |n| task(&json!({ "allowed_resolvers": resolvers(n) })),
            ENTRIES_MAX,
        );
        let items = |n: usize| -> Value { (0..n).map(|_| json!({ "text": "x", "done": false })).collect() };
        bounded(
            "action.checklist",
            |n| task(&json!({ "checklist": items(n) })),
            ENTRIES_MAX,
        );
    }

    #[test]
    fn names_are_bounded_in_characters() {
        let named = |field: &str, over: fn(String) -> Value| {
            bounded(field, |n| over("ä".repeat(n)), NAME_CHARS_MAX);
        };
        named("idempotency_key", |text| {
            told(&json!({ "idempotency_key": text }))
        });
        named("tags[1]", |text| told(&json!({ "tags": ["a", text] })));
        named("agent.run_id", |text| told_by(&json!({ "run_id": text })));
        named("agent.runtime", |text| told_by(&json!({ "runtime": text })));
        named("agent.labels", |text| {
            told_by(&json!({ "labels": { "a": text } }))
        });
        let project = |n: usize| told_by(&json!({ "project": "ä".repeat(n) }));
        bounded("agent.project", project, PROJECT_CHARS_MAX);
        for member in ["value", "label"] {
            bounded(
                &format!("request.options[0].{member}"),
                |n| {
                    let mut option = json!({ "value": "a", "label": "A" });
                    option[member] = json!("ä".repeat(n));
                    ask(&json!({ "options": [option] }))
                },
                NAME_CHARS_MAX,
            );
        }
    }
}
