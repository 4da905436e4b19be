//! The published examples.

use serde_json::Value;

use crate::files::{Family, documents, published};

/// What an example is an example of.
fn noun(name: &str, example: &Value) -> &'static str {
    match example["type"].as_str() {
        Some("directive" | "receipt") => "inbound-message",
        Some("ack") => "ack",
        Some("notify" | "ask" | "task") => "message",
        _ if example.get("resolution").is_some() => "response",
        _ => panic!("what is {name}?"),
    }
}

/// The examples, with their noun.
pub(crate) fn all() -> Vec<(String, &'static str, Value)> {
    let examples = documents(&published().join("examples")).into_iter();
    examples
        .map(|(name, example)| (name.clone(), noun(&name, &example), example))
        .collect()
}

#[test]
fn every_example_is_valid_where_the_published_schema_says_so() {
    let (theirs, ours) = (Family::published(), Family::ours());
    let mut valid = 0;
    for (name, noun, example) in all() {
        for edition in ["v0.4", "v0.5", "v0.6"] {
            let expected = theirs.validator(edition, noun, "").is_valid(&example);
            assert_eq!(
                ours.validator(edition, noun, "").is_valid(&example),
                expected,
                "{name} as {edition} {noun}"
            );
            valid += usize::from(expected);
        }
        assert!(
            theirs.validator("v0.6", noun, "").is_valid(&example),
            "{name} is no {noun}"
        );
    }
    assert!(valid > 40, "only {valid} valid");
}
