//! What an agent submits.

use std::fs;

use ma2h::{Envelope, ErrorCode, json, submit};

use crate::files::{file, published, vector};

#[test]
fn every_example_of_a_request_passes_submit() {
    for name in [
        "ask-dev-team-decision",
        "ask-mode-confirm",
        "ask-mode-input",
        "ask-select-allow-edit",
        "ask-sensitive-field",
        "notify-daily-digest",
        "task-manual-action",
    ] {
        let text = file(&format!("examples/{name}.json"));
        let envelope = Envelope::parse(&text).unwrap_or_else(|problem| panic!("{name}: {problem}"));
        submit::check(&envelope).unwrap_or_else(|problem| panic!("{name}: {problem}"));
    }
}

/// Documents that the published message schema calls valid are read here too, whatever submit says of them.
#[test]
fn every_valid_message_vector_is_read() {
    let mut read = 0;
    for entry in fs::read_dir(published().join("conformance/vectors")).unwrap() {
        let vector = json::parse_strict(&fs::read_to_string(entry.unwrap().path()).unwrap()).unwrap();
        let is_message = vector["target"]
            .as_str()
            .is_some_and(|target| target.ends_with("/message.schema.json"));
        if is_message && vector["expect"] == "valid" {
            let input = vector["input"].to_string();
            Envelope::parse(&input).unwrap_or_else(|problem| panic!("{}: {problem}", vector["id"]));
            read += 1;
        }
    }
    assert!(read >= 5, "{read}");
}

#[test]
fn what_no_schema_can_see_is_refused_at_submit() {
    let name = "sv-071-options-duplicate-value-schema-cannot-catch-valid";
    let vector = vector(name);
    let problem = submit::check(&Envelope::parse(&vector["input"].to_string()).unwrap()).unwrap_err();
    assert_eq!(problem.code, ErrorCode::InvalidField);
}
