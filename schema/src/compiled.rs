//! Schema documents compiled, each once and when it is first needed.

use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

use jsonschema::{PatternOptions, Registry, Validator};
use serde_json::{Value, json};

use crate::document::TEXTS;
use crate::entry::EntryKind;
use crate::phrase::Phrasing;
use crate::{Edition, Noun, Violation};

/// One compiled document.
pub(crate) struct Compiled {
    validator: Validator,
}

impl Compiled {
    pub(crate) fn check(&self, body: &Value) -> Result<(), Violation> {
        self.validator.validate(body).map_err(|error| {
            let mut violation = Phrasing::Ours { expected: &expected }.violation(&error);
            if violation.path.is_empty() {
                violation.message.insert_str(0, "the body ");
            }
            violation
        })
    }
}

/// The whole document.
pub(crate) fn whole(edition: Edition, noun: Noun) -> Result<&'static Compiled, Violation> {
    static CELLS: [OnceLock<Result<Compiled, String>>; Edition::ALL.len() * Noun::ALL.len()] =
        [const { OnceLock::new() }; Edition::ALL.len() * Noun::ALL.len()];
    let cell = &CELLS[edition as usize * Noun::ALL.len() + noun as usize];
    given(cell.get_or_init(|| compile_whole(edition, noun)))
}

/// The message schema without the two rules of 0.6 that are told with 422, after the idempotency key was looked at:
/// that no two options are alike, and that an input schema has something to fill in.
pub(crate) fn message_shape(edition: Edition) -> Result<&'static Compiled, Violation> {
    static SHAPE_V06: LazyLock<Result<Compiled, String>> = LazyLock::new(compile_message_shape);
    match edition {
        Edition::V04 | Edition::V05 => whole(edition, Noun::Message),
        Edition::V06 => given(&SHAPE_V06),
    }
}

/// An embedded schema that does not compile is a fault of the build, which the tests find; nothing passes it.
fn given(compiled: &'static Result<Compiled, String>) -> Result<&'static Compiled, Violation> {
    compiled.as_ref().map_err(|reason| Violation {
        path: String::new(),
        message: format!("the body cannot be checked: {reason}"),
    })
}

/// One kind of mailbox entry: a branch of its document.
pub(crate) fn entry(edition: Edition, kind: EntryKind) -> Result<&'static Compiled, Violation> {
    static CELLS: [OnceLock<Result<Compiled, String>>; Edition::ALL.len() * EntryKind::ALL.len()] =
        [const { OnceLock::new() }; Edition::ALL.len() * EntryKind::ALL.len()];
    let cell = &CELLS[edition as usize * EntryKind::ALL.len() + kind as usize];
    given(cell.get_or_init(|| {
        let branch = format!("{}#/$defs/{}", urn(edition, Noun::InboundMessage), kind.as_str());
        compile(&json!({ "$ref": branch }))
    }))
}

fn compile_whole(edition: Edition, noun: Noun) -> Result<Compiled, String> {
    let id = urn(edition, noun);
    let document = DOCUMENTS
        .get(&id)
        .ok_or_else(|| format!("there is no schema {id}"))?;
    compile(document)
}

fn compile(document: &Value) -> Result<Compiled, String> {
    let registry = Registry::new()
        .extend(DOCUMENTS.iter())
        .and_then(jsonschema::RegistryBuilder::prepare)
        .map_err(|error| error.to_string())?;
    let validator = jsonschema::options()
        .offline()
        .should_validate_formats(true)
        .with_pattern_options(PatternOptions::regex())
        .with_registry(&registry)
        .build(document)
        .map_err(|error| error.to_string())?;
    Ok(Compiled { validator })
}

fn compile_message_shape() -> Result<Compiled, String> {
    let id = urn(Edition::V06, Noun::Message);
    let mut document = DOCUMENTS
        .get(&id)
        .cloned()
        .ok_or_else(|| format!("there is no schema {id}"))?;
    for rule in ["/$defs/distinct", "/$defs/answerable"] {
        let definition = document
            .pointer_mut(rule)
            .ok_or_else(|| format!("{id} has no {rule}"))?;
        *definition = Value::Bool(true);
    }
    let validator = jsonschema::options()
        .offline()
        .should_validate_formats(true)
        .with_pattern_options(PatternOptions::regex())
        .build(&document)
        .map_err(|error| error.to_string())?;
    Ok(Compiled { validator })
}

fn urn(edition: Edition, noun: Noun) -> String {
    format!("urn:ma2h-hub:schema:{}:{}", edition.as_str(), noun.as_str())
}

/// The documents by their `$id`.
static DOCUMENTS: LazyLock<BTreeMap<String, Value>> = LazyLock::new(|| {
    let parsed = TEXTS.iter().filter_map(|(edition, noun, text)| {
        let document = serde_json::from_str(text).ok()?;
        Some((urn(*edition, *noun), document))
    });
    parsed.collect()
});

/// What the schema says, for people, a value should have been there. The phrase stands beside the keyword that failed
/// or, where a whole member is refused, beside the `properties` that refuse it.
fn expected(keyword_location: &str) -> Option<&'static str> {
    let (id, pointer) = keyword_location.split_once('#')?;
    let document = DOCUMENTS.get(id)?;
    let (mut pointer, _) = pointer.rsplit_once('/')?;
    if pointer.ends_with("/properties") {
        pointer = pointer.strip_suffix("/properties")?;
    }
    document.pointer(pointer)?.get("x-expected")?.as_str()
}

#[cfg(test)]
mod tests {
    use super::{DOCUMENTS, message_shape, urn, whole};
    use crate::document::TEXTS;
    use crate::{Edition, Noun};

    #[test]
    fn every_document_is_named_by_its_place_and_compiles() {
        assert_eq!(DOCUMENTS.len(), TEXTS.len());
        for (edition, noun, _) in TEXTS {
            let id = urn(*edition, *noun);
            assert_eq!(DOCUMENTS[&id]["$id"], id.as_str());
            assert!(whole(*edition, *noun).is_ok(), "{id}");
        }
        assert!(message_shape(Edition::V06).is_ok());
        assert!(whole(Edition::V04, Noun::Session).is_err());
    }
}
