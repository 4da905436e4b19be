//! Signatures: of a pushed Response (§9.2), of what a mailbox delivers (§9.7, §9.8), of a pushed acknowledgement (§14.4).
//!
//! All are detached: a canonical text is rebuilt by the receiver from what it got, and only then compared.

mod ack;
mod algorithm;
mod context;
mod digest;
mod entry;
mod header;
mod key;
mod mac;
#[cfg(test)]
mod tests;
mod verify;

pub use ack::{sign_ack, verify_ack};
pub use algorithm::Algorithm;
pub use context::{AckContext, CommandContext, PushContext, ReceiptContext, ResponseContext};
pub use digest::{ack_sha256, directive_sha256, message_sha256, payload_sha256, receipt_sha256};
pub use entry::{Entry, drained_item, sign_entry, verify_entry, verify_entry_header};
pub use header::{HEADER_NAME, Header, entry_header, entry_signature, header_value, parse_header};
pub use key::{SigningKey, VerifyingKey, sign, verify};
pub use mac::{MAC_BYTES_MIN, decode_mac};
pub use verify::{Verified, VerifyError, verify_push, verify_push_with_any};
