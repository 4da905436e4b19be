//! What a running development hub says of itself in `dev.json`, for tests, tools and other programs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

use super::files;

/// A running hub: where it is, and how to act in it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Description {
    /// The first gateway.
    pub base_url: String,
    /// Every gateway.
    pub base_urls: Vec<String>,
    /// The authority to trust, PEM; a relative path starts where the hub was started.
    pub ca_cert: PathBuf,
    /// The deployment admin.
    pub admin_token: String,
    /// The demo account.
    pub account: String,
    /// Its human, an owner.
    pub human: HumanDescription,
    /// Its agent.
    pub agent: AgentDescription,
    /// The database, as its superuser.
    pub postgres: String,
    /// NATS.
    pub nats: String,
    /// Where each tier serves its metrics; a second replica goes by its tier and number, `gateway-2`.
    pub metrics: BTreeMap<String, String>,
    /// Process ids, one a replica; none of a PostgreSQL or NATS that was given.
    pub pids: Pids,
}

/// A human and a token of hers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HumanDescription {
    /// Without `human:`.
    pub id: String,
    /// Her token.
    pub token: String,
}

/// An agent, a token of its own, and what its mailbox is signed with.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AgentDescription {
    /// Its agent.id.
    pub id: String,
    /// Its token.
    pub token: String,
    /// How its mailbox entries are signed.
    pub entry_key: EntryKey,
}

/// A key for mailbox entries.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EntryKey {
    /// `hmac-sha256`.
    pub alg: String,
    /// The key, as text.
    pub secret: String,
}

/// Process ids.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each is what its name says")]
pub struct Pids {
    pub gateway: Vec<u32>,
    pub lifecycle: Vec<u32>,
    pub delivery: Vec<u32>,
    pub presence: Vec<u32>,
    pub postgres: Vec<u32>,
    pub nats: Vec<u32>,
}

impl Description {
    /// Reads the description of a running hub.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let text = files::read(path).context("is the hub running? `make dev` starts one")?;
        serde_json::from_str(&text).with_context(|| format!("parse {}", path.display()))
    }

    /// Where the authority's certificate is, for a description read from `path`.
    pub fn ca_cert_at(&self, path: &Path) -> PathBuf {
        if self.ca_cert.is_absolute() {
            return self.ca_cert.clone();
        }
        let folder = path.parent().and_then(Path::parent).unwrap_or(Path::new(""));
        folder.join(&self.ca_cert)
    }

    /// Replaces the file; it holds tokens, so only its owner may read it.
    pub(crate) fn write(&self, path: &Path) -> anyhow::Result<()> {
        files::write_private(path, &format!("{}\n", serde_json::to_string_pretty(self)?))
    }
}
