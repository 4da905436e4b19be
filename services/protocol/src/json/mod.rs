//! JSON as it was written.
//!
//! What the hub accepts it must be able to give back and to sign, so it refuses text whose meaning depends on the
//! reader: duplicate keys, lone surrogates, numbers beyond a double. The rest is kept by its text.

mod lossless;
mod members;
mod node;
mod scan;
#[cfg(test)]
mod tests;

use serde_json::Value;

pub use lossless::lossless_digest;
pub use members::{member, members};
pub use node::{Member, Node};

use crate::error::Problem;

/// Levels of nesting that are read: what strict readers at the other end take.
pub const NESTING_MAX: usize = 127;
/// Levels of nesting that a client may send: the hub embeds what it got in documents of its own.
pub const INPUT_NESTING_MAX: usize = 120;

/// Values, each object and list among them, that are read: each takes far more memory than the one or two bytes it may be
/// written with.
pub const VALUES_MAX: usize = 2_000_000;
/// Values that a client may send: the hub embeds what it got in documents of its own.
pub const INPUT_VALUES_MAX: usize = 500_000;

/// Reads one JSON value, strictly, without loss.
pub fn parse(text: &str) -> Result<Node<'_>, Problem> {
    scan::scan(text, NESTING_MAX, VALUES_MAX)
}

/// Reads what a client sent: as [`parse`], but no deeper than [`INPUT_NESTING_MAX`] and no more than
/// [`INPUT_VALUES_MAX`].
pub fn parse_input(text: &str) -> Result<Node<'_>, Problem> {
    scan::scan(text, INPUT_NESTING_MAX, INPUT_VALUES_MAX)
}

/// Reads one JSON value, strictly. A number is the nearest double, or the integer where 64 bits hold it.
pub fn parse_strict(text: &str) -> Result<Value, Problem> {
    parse(text).map(|node| node.to_value())
}

/// The JSON text of a string.
pub fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
