//! What must hold for any input. Each function takes what a fuzzer made and panics where it does not hold.
//!
//! The crates that are fuzzed run the same functions over the committed corpus with their other tests.

use std::time::Duration;

mod address;
mod envelope;
mod jcs;
mod markdown;
mod signature;

pub use address::address;
pub use envelope::envelope;
pub use jcs::jcs;
pub use signature::signature;

/// The gateway's renderer, as it stands there: it is private to the crate.
#[path = "../../services/gateway/src/inbox"]
#[allow(dead_code)]
mod inbox {
    mod links;
    pub(crate) mod markdown;
}

/// Markdown as the inbox draws it.
pub fn markdown(data: &[u8]) {
    markdown::markdown(data, inbox::markdown::render, Duration::from_millis(500));
}
