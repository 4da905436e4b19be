//! What a check comes to, and the small comparisons that checks are made of.

use std::fmt::Debug;

use ma2h_schema::{Edition, Noun, document};
use serde_json::Value;

/// Why a check did not pass.
#[derive(Clone, Debug)]
pub(crate) enum Verdict {
    /// The hub does not keep the clause.
    Failed(String),
    /// The hub does not offer what the clause is about.
    NotOffered(String),
    /// This run has no means to try it.
    Skipped(String),
}

/// A value, or why the check that needs it ends here.
pub(crate) type Tried<T> = Result<T, Verdict>;

/// What a check returns.
pub(crate) type Proof = Tried<()>;

impl From<reqwest::Error> for Verdict {
    fn from(error: reqwest::Error) -> Self {
        // The cause says more than the kind.
        let mut text = error.to_string();
        let mut source = std::error::Error::source(&error);
        while let Some(cause) = source {
            text = format!("{text}: {cause}");
            source = cause.source();
        }
        Verdict::Failed(format!("no answer: {text}"))
    }
}

/// A failure with this text.
pub(crate) fn failed<T>(text: impl Into<String>) -> Tried<T> {
    Err(Verdict::Failed(text.into()))
}

/// Leaves a check for want of means.
pub(crate) fn skipped<T>(why: impl Into<String>) -> Tried<T> {
    Err(Verdict::Skipped(why.into()))
}

/// Says what differs.
pub(crate) fn equal<A, B>(what: &str, found: &A, expected: &B) -> Proof
where
    A: PartialEq<B> + Debug + ?Sized,
    B: Debug + ?Sized,
{
    if found == expected {
        return Ok(());
    }
    failed(format!("{what}: expected {expected:?}, got {found:?}"))
}

/// Fails with a sentence about what should have held.
pub(crate) fn holds(condition: bool, sentence: impl FnOnce() -> String) -> Proof {
    if condition { Ok(()) } else { failed(sentence()) }
}

/// The text at a pointer.
pub(crate) fn text<'a>(value: &'a Value, pointer: &str) -> Tried<&'a str> {
    let found = value.pointer(pointer).and_then(Value::as_str);
    found.ok_or_else(|| Verdict::Failed(format!("{pointer}: expected text in {value}")))
}

/// The list at a pointer.
pub(crate) fn list<'a>(value: &'a Value, pointer: &str) -> Tried<&'a [Value]> {
    let found = value.pointer(pointer).and_then(Value::as_array);
    let found = found.map(Vec::as_slice);
    found.ok_or_else(|| Verdict::Failed(format!("{pointer}: expected a list in {value}")))
}

/// That nothing is at a pointer.
pub(crate) fn absent(value: &Value, pointer: &str) -> Proof {
    match value.pointer(pointer) {
        None => Ok(()),
        Some(found) => failed(format!("{pointer}: should not be there, is {found}")),
    }
}

/// That a body has the shape that 0.6 gives it.
pub(crate) fn shaped(noun: Noun, body: &Value) -> Proof {
    let checked = document::check(Edition::V06, noun, body);
    checked.map_err(|violation| Verdict::Failed(format!("{violation} in {body}")))
}
