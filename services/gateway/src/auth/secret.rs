//! Tokens and cookies: how they are made, and the digest that is all we keep of them.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

/// The deployment admin's token begins so.
pub(crate) const ADMIN_PREFIX: &str = "ma2h_admin_";
/// A human's.
pub(crate) const HUMAN_PREFIX: &str = "ma2h_human_";
/// An agent's.
pub(crate) const AGENT_PREFIX: &str = "ma2h_agent_";

/// Random bytes of what we mint: 256 bits.
const RANDOM_BYTES: usize = 32;

/// A new secret after `prefix`. At 256 random bits a plain digest is as good as a slow hash, and can be looked up.
pub(crate) fn mint(prefix: &str) -> String {
    let random: [u8; RANDOM_BYTES] = rand::random();
    format!("{prefix}{}", BASE64_URL_SAFE_NO_PAD.encode(random))
}

/// What a table may hold of a secret.
pub(crate) fn digest(secret: &str) -> [u8; 32] {
    Sha256::digest(secret).into()
}

#[cfg(test)]
mod tests {
    use super::{HUMAN_PREFIX, mint};

    #[test]
    fn secrets_are_long_and_differ() {
        let (one, other) = (mint(HUMAN_PREFIX), mint(HUMAN_PREFIX));
        assert_ne!(one, other);
        assert_eq!(one.len(), HUMAN_PREFIX.len() + 43);
    }
}
