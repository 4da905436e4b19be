//! What must hold for any input. Each function takes what a fuzzer made and panics where it does not hold.
//!
//! `tests/corpus.rs` of the protocol crate runs the same functions over the committed corpus, on every test run.

mod address;
mod envelope;
mod jcs;
mod signature;

pub use address::address;
pub use envelope::envelope;
pub use jcs::jcs;
pub use signature::signature;
