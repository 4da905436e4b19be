//! `MA2H-Signature: t=…,jti=…,v1=…`.

/// Of the HTTP header.
pub const HEADER_NAME: &str = "MA2H-Signature";

/// What the header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header<'a> {
    /// Unix seconds.
    pub t: i64,
    /// Names the attempt.
    pub jti: &'a str,
    /// The signature.
    pub v1: &'a str,
}

/// The header's value.
pub fn header_value(t: i64, jti: &str, v1: &str) -> String {
    format!("t={t},jti={jti},v1={v1}")
}

/// The text beside a mailbox entry: the header, name and value.
pub fn entry_signature(t: i64, jti: &str, v1: &str) -> String {
    format!("{HEADER_NAME}: {}", header_value(t, jti, v1))
}

/// The header's value in the text beside a mailbox entry. The name is a header's: its case means nothing.
pub fn entry_header(signature: &str) -> Option<&str> {
    let (name, value) = signature.split_once(':')?;
    name.eq_ignore_ascii_case(HEADER_NAME).then_some(value.trim())
}

/// Reads a header's value: each of the three once, in any order; what else there is, is for later versions.
pub fn parse_header(value: &str) -> Option<Header<'_>> {
    let (mut t, mut jti, mut v1) = (None, None, None);
    for part in value.split(',') {
        let (name, text) = part.trim().split_once('=')?;
        let slot = match name {
            "t" => &mut t,
            "jti" => &mut jti,
            "v1" => &mut v1,
            _ => continue,
        };
        if text.is_empty() || slot.replace(text).is_some() {
            return None;
        }
    }
    let t_text = t?;
    let t: i64 = t_text.parse().ok()?;
    // What is signed is the text; a number has one.
    (t.to_string() == t_text).then_some(Header {
        t,
        jti: jti?,
        v1: v1?,
    })
}
