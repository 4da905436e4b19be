//! The signature header, and the text beside a mailbox entry.

use std::str;

use ma2h::EntryKind;
use ma2h::sign::{
    Entry, MAC_BYTES_MIN, VerifyingKey, decode_mac, entry_header, entry_signature, header_value,
    parse_header, verify_entry,
};

const PAYLOAD: &str = concat!(
    r#"{"ma2h_version":"0.6","type":"directive","id":"dir_1","from":"human:alice","to":"agent:a","#,
    r#""created_at":"2026-06-04T15:22:08Z","title":"Stop"}"#
);

/// A header is read or refused; what is read is written and read the same; no one hits upon a signature.
pub fn signature(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    if let Some(bytes) = decode_mac(text) {
        assert!(bytes.len() >= MAC_BYTES_MIN);
        assert_eq!(decode_mac(text.trim_end_matches('=')), Some(bytes));
    }
    if let Some(header) = parse_header(text) {
        let value = header_value(header.t, header.jti, header.v1);
        assert_eq!(parse_header(&value), Some(header));
        let signature = entry_signature(header.t, header.jti, header.v1);
        assert_eq!(entry_header(&signature), Some(value.as_str()));
        check_verdict(&signature, header.t);
    }
    if let Some(header) = entry_header(text) {
        check_verdict(text, parse_header(header).map_or(0, |header| header.t));
    }
}

fn check_verdict(signature: &str, now: i64) {
    let key = VerifyingKey::hmac(b"a secret of some length").unwrap();
    let entry = Entry {
        kind: EntryKind::Directive,
        payload: PAYLOAD,
        session_address: "",
    };
    assert!(verify_entry(signature, &entry, &[key], now, 120).is_err());
}
