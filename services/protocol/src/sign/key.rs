//! Keys, and what they do.

use std::fmt;

use base64::Engine as _;
use ed25519_dalek::Signer as _;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use super::algorithm::Algorithm;
use super::mac::{BASE64URL, decode_mac};
use crate::error::Problem;

/// What the hub signs with.
#[derive(Clone)]
pub enum SigningKey {
    /// hmac-sha256 with a secret shared with the agent.
    Hmac(Box<Hmac<Sha256>>),
    /// ed25519 with the hub's own key.
    Ed25519(Box<ed25519_dalek::SigningKey>),
}

/// What a receiver verifies with.
#[derive(Clone)]
pub enum VerifyingKey {
    /// The shared secret.
    Hmac(Box<Hmac<Sha256>>),
    /// The hub's published key.
    Ed25519(Box<ed25519_dalek::VerifyingKey>),
}

impl SigningKey {
    /// The key of an HMAC is the secret's bytes, never none.
    pub fn hmac(secret: &[u8]) -> Result<SigningKey, Problem> {
        keyed(secret).map(|mac| SigningKey::Hmac(Box::new(mac)))
    }

    /// From the 32 bytes of the secret seed.
    pub fn ed25519(seed: &[u8; 32]) -> SigningKey {
        SigningKey::Ed25519(Box::new(ed25519_dalek::SigningKey::from_bytes(seed)))
    }

    /// How it signs.
    pub fn algorithm(&self) -> Algorithm {
        match self {
            SigningKey::Hmac(_) => Algorithm::HmacSha256,
            SigningKey::Ed25519(_) => Algorithm::Ed25519,
        }
    }

    /// What verifies this key's signatures.
    pub fn verifying_key(&self) -> VerifyingKey {
        match self {
            SigningKey::Hmac(mac) => VerifyingKey::Hmac(mac.clone()),
            SigningKey::Ed25519(key) => VerifyingKey::Ed25519(Box::new(key.verifying_key())),
        }
    }
}

impl VerifyingKey {
    /// From the shared secret's bytes.
    pub fn hmac(secret: &[u8]) -> Result<VerifyingKey, Problem> {
        keyed(secret).map(|mac| VerifyingKey::Hmac(Box::new(mac)))
    }

    /// From the 32 bytes of a public key; none where they are no key.
    pub fn ed25519(public: &[u8; 32]) -> Option<VerifyingKey> {
        let key = ed25519_dalek::VerifyingKey::from_bytes(public).ok()?;
        Some(VerifyingKey::Ed25519(Box::new(key)))
    }

    /// The bytes of an ed25519 public key.
    pub fn public_bytes(&self) -> Option<[u8; 32]> {
        match self {
            VerifyingKey::Hmac(_) => None,
            VerifyingKey::Ed25519(key) => Some(key.to_bytes()),
        }
    }
}

// Neither shows what it holds.
impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", self.algorithm().as_str())
    }
}

impl fmt::Debug for VerifyingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            VerifyingKey::Hmac(_) => "VerifyingKey(hmac-sha256)",
            VerifyingKey::Ed25519(_) => "VerifyingKey(ed25519)",
        })
    }
}

/// The `v1` over a canonical text: base64url without padding.
pub fn sign(key: &SigningKey, canonical: &str) -> String {
    match key {
        SigningKey::Hmac(mac) => {
            let mac = mac.as_ref().clone().chain_update(canonical);
            BASE64URL.encode(mac.finalize().into_bytes())
        }
        SigningKey::Ed25519(key) => BASE64URL.encode(key.sign(canonical.as_bytes()).to_bytes()),
    }
}

/// Whether `v1` is this key's over that text. Takes the same time wherever an HMAC differs.
pub fn verify(key: &VerifyingKey, canonical: &str, v1: &str) -> bool {
    let Some(signature) = decode_mac(v1) else {
        return false;
    };
    match key {
        VerifyingKey::Hmac(mac) => mac
            .as_ref()
            .clone()
            .chain_update(canonical)
            .verify_slice(&signature)
            .is_ok(),
        VerifyingKey::Ed25519(key) => ed25519_dalek::Signature::from_slice(&signature)
            .is_ok_and(|signature| key.verify_strict(canonical.as_bytes(), &signature).is_ok()),
    }
}

fn keyed(secret: &[u8]) -> Result<Hmac<Sha256>, Problem> {
    if secret.is_empty() {
        return Err(Problem::invalid_field("secret: must not be empty"));
    }
    Hmac::new_from_slice(secret).map_err(|_| Problem::internal())
}
