//! Documents and whether a schema takes them.

use anyhow::Context as _;
use jsonschema::{PatternOptions, Registry, Validator};
use ma2h_schema::{Edition, Noun, document};
use serde_json::{Value, json};

use super::patch;
use crate::report::Line;

/// Every schema the hub validates with.
pub(crate) struct Schemas {
    registry: Registry<'static>,
}

/// A schema, or a part of one: `v0.6/session#registerRequest`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Target {
    edition: Edition,
    noun: Noun,
    /// Of `$defs`; the whole if empty.
    part: String,
}

impl Target {
    /// Reads `v0.6/session#registerRequest`.
    pub(super) fn parse(text: &str) -> anyhow::Result<Self> {
        let (whole, part) = text.split_once('#').unwrap_or((text, ""));
        let (edition, noun) = whole.split_once('/').context("expected an edition and a noun")?;
        let edition = Edition::ALL.into_iter().find(|known| known.as_str() == edition);
        let noun = Noun::ALL.into_iter().find(|known| known.as_str() == noun);
        Ok(Self {
            edition: edition.with_context(|| format!("{text}: no such edition"))?,
            noun: noun.with_context(|| format!("{text}: no such noun"))?,
            part: part.to_owned(),
        })
    }
}

impl Schemas {
    /// Takes the schemas that are built in.
    pub(crate) fn load() -> anyhow::Result<Self> {
        let mut documents = Vec::new();
        for edition in Edition::ALL {
            for noun in Noun::ALL {
                let Some(text) = document::text(edition, noun) else {
                    continue;
                };
                let schema: Value = serde_json::from_str(text)?;
                let id = schema["$id"].as_str().context("a schema without $id")?.to_owned();
                documents.push((id, schema));
            }
        }
        let registry = Registry::new().extend(documents)?.prepare()?;
        Ok(Self { registry })
    }

    /// Why the schema refuses a document; nothing if it takes it.
    pub(super) fn refusal(&self, target: &Target, body: &Value) -> anyhow::Result<Option<String>> {
        if target.part.is_empty() {
            return Ok(document::check(target.edition, target.noun, body)
                .err()
                .map(|violation| violation.to_string()));
        }
        let validator = self.validator(target)?;
        Ok(validator.validate(body).err().map(|error| error.to_string()))
    }

    fn validator(&self, target: &Target) -> anyhow::Result<Validator> {
        let text = document::text(target.edition, target.noun).context("no such schema")?;
        let schema: Value = serde_json::from_str(text)?;
        let id = schema["$id"].as_str().context("a schema without $id")?;
        let part = json!({ "$ref": format!("{id}#/$defs/{}", target.part) });
        let options = jsonschema::options().offline().should_validate_formats(true);
        let options = options.with_pattern_options(PatternOptions::regex());
        Ok(options.with_registry(&self.registry).build(&part)?)
    }
}

/// The cases of a topic, each under every schema that the topic or the case names.
pub(super) fn prove(schemas: &Schemas, topic: &Value) -> anyhow::Result<Vec<Line>> {
    let section = topic["section"].as_str().context("section: expected text")?;
    let about = topic["topic"].as_str().context("topic: expected text")?;
    let cases = topic["cases"].as_array().context("cases: expected a list")?;
    let mut lines = Vec::new();
    for case in cases {
        let name = case["name"].as_str().context("name: expected text")?;
        let valid = case["valid"].as_bool().context("valid: expected a boolean")?;
        let document = patch::applied(&topic["base"], case).with_context(|| name.to_owned())?;
        let targets = case.get("schema").unwrap_or(&topic["schema"]);
        for target in targets.as_array().context("schema: expected a list")? {
            let text = target.as_str().context("schema: expected names")?;
            let refusal = schemas.refusal(&Target::parse(text)?, &document)?;
            let section = case["section"].as_str().unwrap_or(section);
            let name = format!("{text}: {about}: {name}");
            lines.push(Line::of(section, name, verdict(valid, refusal)));
        }
    }
    Ok(lines)
}

/// Whether a verdict is the one expected.
pub(super) fn verdict(valid: bool, refusal: Option<String>) -> Result<(), String> {
    match (valid, refusal) {
        (true, Some(refusal)) => Err(format!("should be valid, but {refusal}")),
        (false, None) => Err("should be invalid".to_owned()),
        (true, None) | (false, Some(_)) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Schemas, Target, prove};
    use crate::report::Status;

    #[test]
    fn a_wrong_verdict_is_a_failure() {
        let schemas = Schemas::load().unwrap();
        let topic = json!({
            "topic": "t", "section": "16.1", "schema": ["v0.5/session#registerRequest", "v0.6/session#registerRequest"],
            "base": {"ttl_seconds": 60},
            "cases": [
                {"name": "right", "valid": true},
                {"name": "wrong", "valid": false},
                {"name": "also wrong", "valid": true, "set": {"/ttl_seconds": "60"}},
                {"name": "right again", "valid": false, "set": {"/ttl_seconds": "60"}}
            ]
        });
        let lines = prove(&schemas, &topic).unwrap();
        let failed: Vec<bool> = lines.iter().map(|line| line.status == Status::Failed).collect();
        assert_eq!(failed, [false, false, true, true, true, true, false, false]);
        assert!(Target::parse("v0.9/message").is_err() && Target::parse("v0.6/letter").is_err());
    }
}
