//! The published schema vectors.

use ma2h_schema::{Edition, Noun, document};

use crate::files::{Family, documents, published};

/// A vector's target: edition, noun, fragment. A bare file name means 0.4.
pub(crate) fn target(vector: &serde_json::Value) -> (String, String, String) {
    let target = vector["target"].as_str().expect("a vector has a target");
    let (path, fragment) = target.split_at(target.find('#').unwrap_or(target.len()));
    let (edition, file) = path.split_once('/').unwrap_or(("v0.4", path));
    let noun = file.strip_suffix(".schema.json").expect("a target is a schema");
    (edition.to_owned(), noun.to_owned(), fragment.to_owned())
}

#[test]
fn every_schema_vector_gets_its_published_verdict() {
    let (theirs, ours) = (Family::published(), Family::ours());
    let mut vectors = documents(&published().join("conformance/vectors"));
    vectors.retain(|_, vector| vector["class"] == "schema-validation");
    assert!(vectors.len() >= 76, "only {} vectors", vectors.len());
    for (name, vector) in vectors {
        let (edition, noun, fragment) = target(&vector);
        let (input, valid) = (&vector["input"], vector["expect"] == "valid");
        assert_eq!(
            theirs.validator(&edition, &noun, &fragment).is_valid(input),
            valid,
            "{name}, published schema"
        );
        assert_eq!(
            ours.validator(&edition, &noun, &fragment).is_valid(input),
            valid,
            "{name}, our schema"
        );
        if fragment.is_empty() {
            let found = document::check(edition_named(&edition), noun_named(&noun), input);
            assert_eq!(found.is_ok(), valid, "{name}, embedded: {found:?}");
        }
    }
}

#[test]
fn there_is_a_schema_of_ours_for_every_published_one() {
    assert_eq!(Family::published().names(), Family::ours().names());
}

fn edition_named(name: &str) -> Edition {
    Edition::ALL
        .into_iter()
        .find(|edition| edition.as_str() == name)
        .expect("an edition of ours")
}

fn noun_named(name: &str) -> Noun {
    Noun::ALL
        .into_iter()
        .find(|noun| noun.as_str() == name)
        .expect("a noun of ours")
}
