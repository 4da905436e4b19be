//! The ways there are to sign.

use std::str::FromStr;

use crate::error::Problem;

/// How something is signed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Algorithm {
    /// With a secret that the agent has as well.
    HmacSha256,
    /// With the hub's own key, whose public half is published.
    #[default]
    Ed25519,
}

impl Algorithm {
    /// All of them.
    pub const ALL: [Algorithm; 2] = [Algorithm::HmacSha256, Algorithm::Ed25519];

    /// As the wire has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Algorithm::HmacSha256 => "hmac-sha256",
            Algorithm::Ed25519 => "ed25519",
        }
    }
}

impl FromStr for Algorithm {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Algorithm, Problem> {
        match text {
            "hmac-sha256" => Ok(Algorithm::HmacSha256),
            "ed25519" => Ok(Algorithm::Ed25519),
            _ => Err(Problem::invalid_field("alg: expected hmac-sha256 or ed25519")),
        }
    }
}
