//! Tokens and cookies: how they are made, and the digest that is all we keep of them.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

/// The deployment admin's token begins so.
pub(crate) const ADMIN_PREFIX: &str = hub_platform::config::ADMIN_TOKEN_PREFIX;
/// A human's.
pub(crate) const HUMAN_PREFIX: &str = "ma2h_human_";
/// An agent's.
pub(crate) const AGENT_PREFIX: &str = "ma2h_agent_";

/// Random bytes of what we mint: 256 bits.
const RANDOM_BYTES: usize = 32;
/// What they come to as text.
const RANDOM_CHARS: usize = 43;

/// A new secret after `prefix`. At 256 random bits a plain digest is as good as a slow hash, and can be looked up.
pub(crate) fn mint(prefix: &str) -> String {
    let random: [u8; RANDOM_BYTES] = rand::random();
    format!("{prefix}{}", BASE64_URL_SAFE_NO_PAD.encode(random))
}

/// Whether a text can be a secret that was minted after `prefix`. What cannot is not looked up.
pub(crate) fn is_minted(text: &str, prefix: &str) -> bool {
    let is_of_alphabet = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    text.strip_prefix(prefix)
        .is_some_and(|rest| rest.len() == RANDOM_CHARS && rest.bytes().all(is_of_alphabet))
}

/// What a table may hold of a secret.
pub(crate) fn digest(secret: &str) -> [u8; 32] {
    Sha256::digest(secret).into()
}

#[cfg(test)]
mod tests {
    use super::{AGENT_PREFIX, HUMAN_PREFIX, is_minted, mint};

    #[test]
    fn secrets_are_long_and_differ() {
        let (one, other) = (mint(HUMAN_PREFIX), mint(HUMAN_PREFIX));
        assert_ne!(one, other);
        assert!(is_minted(&one, HUMAN_PREFIX) && is_minted(&mint(""), ""));
        let longer = format!("{one}A");
        for text in [
            "",
            HUMAN_PREFIX,
            &one[1..],
            &one[..one.len() - 1],
            &longer,
            &one.replace('_', "+"),
        ] {
            assert!(!is_minted(text, HUMAN_PREFIX), "{text}");
        }
        assert!(!is_minted(&one, AGENT_PREFIX));
    }
}
