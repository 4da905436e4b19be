//! The MA2H protocol as pure functions and types.
//!
//! What a message is, who may answer it, what an answer must be, how a Response is written and signed: every
//! decision that needs no clock, no row and no network. The tiers enforce here-made decisions; none re-decides them.

pub mod ack;
pub mod address;
pub mod agent;
pub mod ask;
pub mod broadcast;
pub mod callback;
pub mod digest;
pub mod directive;
pub mod envelope;
pub mod error;
mod fields;
pub mod jcs;
pub mod json;
#[cfg(test)]
mod random;
pub mod resolution;
pub mod resolve;
pub mod response;
#[cfg(test)]
mod samples;
pub mod seal;
pub mod secret;
pub mod sign;
pub mod status;
pub mod submit;
pub mod task;
pub mod timestamp;
pub mod version;
pub mod view;

pub use envelope::Envelope;
pub use error::{ErrorCode, Problem};
pub use ma2h_schema::EntryKind;
