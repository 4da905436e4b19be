//! The signature of a pushed Response (§9.2).

mod context;
mod header;
mod key;
mod mac;
#[cfg(test)]
mod tests;
mod verify;

pub use context::{PushContext, payload_sha256};
pub use header::{HEADER_NAME, Header, header_value, parse_header};
pub use key::{SigningKey, VerifyingKey, sign, verify};
pub use mac::{MAC_BYTES_MIN, decode_mac};
pub use verify::{Verified, VerifyError, verify_push};
