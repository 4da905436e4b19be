//! How things are spelled: the canonical form of JSON (RFC 8785), and what a signature may look like (§9.2).

use anyhow::Context as _;
use ma2h::sign::decode_mac;
use serde_json::Value;

use crate::report::Line;

/// JSON texts and their canonical form; `null` where a text is no JSON that could be signed.
pub(super) fn prove_texts(topic: &Value) -> anyhow::Result<Vec<Line>> {
    let section = topic["section"].as_str().context("section: expected text")?;
    let texts = topic["texts"].as_array().context("texts: expected a list")?;
    let proved = texts.iter().map(|case| {
        let name = case["name"].as_str().context("name: expected text")?;
        let json = case["json"].as_str().context("json: expected text")?;
        let expected = case["canonical"].as_str();
        let found = canonical(json).ok();
        let outcome = equal("canonical form", found.as_deref(), expected);
        Ok(Line::of(section, format!("canonical form: {name}"), outcome))
    });
    proved.collect()
}

/// Values of `v1` and how many bytes they hold; `null` where a value is malformed.
pub(super) fn prove_values(topic: &Value) -> anyhow::Result<Vec<Line>> {
    let section = topic["section"].as_str().context("section: expected text")?;
    let values = topic["values"].as_array().context("values: expected a list")?;
    let proved = values.iter().map(|case| {
        let name = case["name"].as_str().context("name: expected text")?;
        let value = case["value"].as_str().context("value: expected text")?;
        let bytes = decode_mac(value).map(|bytes| bytes.len() as u64);
        let outcome = equal("bytes", bytes, case["bytes"].as_u64());
        Ok(Line::of(section, format!("v1: {name}"), outcome))
    });
    proved.collect()
}

/// The canonical form of a text, where it is strict JSON.
pub(super) fn canonical(json: &str) -> Result<String, String> {
    let value = ma2h::json::parse_strict(json).map_err(|problem| problem.to_string())?;
    ma2h::jcs::canonical(&value).map_err(|problem| problem.to_string())
}

/// Says what differs.
#[expect(
    clippy::needless_pass_by_value,
    reason = "most of what is compared is a reference, or made for it"
)]
pub(super) fn equal<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    Err(format!("{what}: expected {expected:?}, got {found:?}"))
}
