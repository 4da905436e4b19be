//! Credentials for a hub whose accounts cannot be made through the administration calls.

use std::path::Path;

use anyhow::Context as _;
use serde::Deserialize;

/// Accounts to use. With a second account, more agents and each role, more can be proved.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Given {
    pub(crate) accounts: Vec<GivenAccount>,
}

/// An account and who is in it.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct GivenAccount {
    pub(crate) id: String,
    pub(crate) humans: Vec<GivenHuman>,
    pub(crate) agents: Vec<GivenAgent>,
}

/// A human and her token.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct GivenHuman {
    pub(crate) id: String,
    /// viewer, operator or owner
    pub(crate) role: String,
    pub(crate) token: String,
}

/// An agent and its token.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct GivenAgent {
    pub(crate) id: String,
    pub(crate) token: String,
}

impl Given {
    /// Reads them from a JSON file.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
        let given: Self = serde_json::from_str(&text).with_context(|| format!("parse {}", path.display()))?;
        anyhow::ensure!(!given.accounts.is_empty(), "{} holds no account", path.display());
        Ok(given)
    }
}
