//! The JSON Schemas of the MA2H wire, compiled, and the check of an answer against the schema its request brought.
//!
//! The schemas lie in `v0.4/`, `v0.5/` and `v0.6/` beside this crate's sources. They are our own wording of what the
//! protocol publishes and accept and refuse the same documents; `tests/published` holds them to that.
//!
//! Nothing here reads a file or the network: schemas are embedded, and no `$ref` is ever fetched.

pub mod answer;
mod bounds;
mod compiled;
pub mod document;
pub mod entry;
pub mod message;
pub mod openapi;
mod phrase;
pub mod resolve;
mod violation;

pub use document::{Edition, Noun};
pub use entry::EntryKind;
pub use violation::Violation;
