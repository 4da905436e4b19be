//! Canonical JSON.

use std::str;

use ma2h::{jcs, json};

#[path = "../../services/protocol/src/jcs/tests/oracle.rs"]
mod oracle;

/// The canonical form is its own canonical form, is what a second writer writes, and loses nothing but a number's
/// spelling.
pub fn jcs(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let Ok(value) = json::parse_strict(text) else {
        return;
    };
    let canonical = jcs::canonical(&value).unwrap();
    assert_eq!(canonical, oracle::canonical(&value));
    let again = json::parse_strict(&canonical).unwrap();
    assert_eq!(jcs::canonical(&again).as_ref(), Ok(&canonical));
}
