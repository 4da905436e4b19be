//! Keys, and what only development may do.

use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD, Engine};

use super::section::section;
use super::{Error, Secret};

/// Bytes of a key-encryption key.
const KEY_BYTES: usize = 32;

section! {
    /// Keys, and what only development may do.
    Security in "security" {
        /// What secrets are sealed with: 32 random bytes as base64 or hexadecimal.
        key_encryption_key: Secret = "HUB_KEY_ENCRYPTION_KEY", "", "secret";
        /// Further keys that open what was sealed under them, while the key is being changed: each as above.
        key_encryption_keys_accepted: Secret = "HUB_KEY_ENCRYPTION_KEYS_ACCEPTED", "", "comma list of secrets";
        /// Development: callbacks to loopback and private addresses and to http:// are possible. Never in production.
        development: bool = "HUB_DEVELOPMENT", "false", "true or false";
        /// How far a signature's time may lie from the receiver's (§9.5); advertised.
        replay_window_seconds: u64 = "HUB_REPLAY_WINDOW_SECONDS", "120", "seconds", 1 to 3600;
    }
}

impl Security {
    /// The key-encryption key itself.
    pub fn key_encryption_key_bytes(&self) -> Result<[u8; KEY_BYTES], Error> {
        const NAME: &str = "HUB_KEY_ENCRYPTION_KEY";
        if self.key_encryption_key.is_empty() {
            return Err(Error::Missing { name: NAME });
        }
        read_key(NAME, self.key_encryption_key.expose())
    }

    /// The further keys that open what was sealed under them.
    pub fn accepted_key_encryption_keys_bytes(&self) -> Result<Vec<[u8; KEY_BYTES]>, Error> {
        let keys = self
            .key_encryption_keys_accepted
            .expose()
            .split(',')
            .map(str::trim);
        keys.filter(|key| !key.is_empty())
            .map(|key| read_key("HUB_KEY_ENCRYPTION_KEYS_ACCEPTED", key))
            .collect()
    }
}

fn read_key(name: &str, text: &str) -> Result<[u8; KEY_BYTES], Error> {
    decode_key(text).ok_or_else(|| Error::Invalid {
        name: name.to_owned(),
        expected: format!("{KEY_BYTES} bytes as base64 or hexadecimal"),
    })
}

fn decode_key(text: &str) -> Option<[u8; KEY_BYTES]> {
    let hexadecimal = (text.len() == 2 * KEY_BYTES)
        .then(|| decode_hexadecimal(text))
        .flatten();
    let bytes = hexadecimal
        .or_else(|| BASE64_STANDARD.decode(text).ok())
        .or_else(|| BASE64_URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok())?;
    bytes.try_into().ok()
}

fn decode_hexadecimal(text: &str) -> Option<Vec<u8>> {
    if !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Secret, Security, decode_key};

    #[test]
    fn a_key_reads_from_base64_and_hexadecimal() {
        let as_hexadecimal = "00".repeat(31) + "ff";
        let as_base64 = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAP8=";
        let as_base64_url = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAP8";
        for text in [&as_hexadecimal, as_base64, as_base64_url] {
            let key = decode_key(text).unwrap();
            assert_eq!((key[0], key[31]), (0, 255), "{text}");
        }
        for text in ["", "short", &"zz".repeat(32), &"00".repeat(33)] {
            assert!(decode_key(text).is_none(), "{text}");
        }
    }

    #[test]
    fn a_missing_key_is_named() {
        let security = Security {
            key_encryption_key: Secret::default(),
            key_encryption_keys_accepted: Secret::default(),
            development: false,
            replay_window_seconds: 1,
        };
        let error = security.key_encryption_key_bytes().unwrap_err();
        assert_eq!(error.to_string(), "HUB_KEY_ENCRYPTION_KEY is not set");
    }
}
