//! What a development hub must find again at its next start, or its data would be lost on it: secrets, tokens, ports.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};

use super::{files, ports};

const SECRET_BYTES: usize = 32;

/// Kept in `state.json`, readable by its owner only.
#[derive(Serialize, Deserialize)]
pub(crate) struct State {
    #[serde(skip)]
    path: PathBuf,
    pub admin_token: String,
    /// 32 bytes as base64; what delivery seals stored secrets under.
    pub key_encryption_key: String,
    /// Key of the demo agent's mailbox entries.
    pub entry_secret: String,
    /// Whether the hub was told of it.
    pub entry_key_set: bool,
    /// Tokens of the demo account, once the hub has issued them.
    pub human_token: Option<String>,
    pub agent_token: Option<String>,
    /// By listener, one a replica.
    pub ports: BTreeMap<String, Vec<u16>>,
}

impl State {
    /// Reads the state kept in `dir`, or makes one with fresh secrets.
    pub(crate) fn load(dir: &Path) -> anyhow::Result<Self> {
        let path = dir.join("state.json");
        if !path.exists() {
            let state = Self::fresh(path);
            state.save()?;
            return Ok(state);
        }
        let mut state: Self = serde_json::from_str(&files::read(&path)?).with_context(|| {
            format!(
                "parse {} (--reset, or `make dev RESET=1`, starts anew)",
                path.display()
            )
        })?;
        state.path = path;
        Ok(state)
    }

    pub(crate) fn save(&self) -> anyhow::Result<()> {
        files::write_private(&self.path, &serde_json::to_string_pretty(self)?)
    }

    fn fresh(path: PathBuf) -> Self {
        Self {
            path,
            admin_token: format!("ma2h_admin_{}", secret()),
            key_encryption_key: STANDARD.encode(rand::random::<[u8; SECRET_BYTES]>()),
            entry_secret: secret(),
            entry_key_set: false,
            human_token: None,
            agent_token: None,
            ports: BTreeMap::new(),
        }
    }

    /// `count` ports for a listener: those it had before where they are still free.
    pub(crate) fn ports(&mut self, listener: &str, count: usize) -> anyhow::Result<Vec<u16>> {
        let mut kept = self.ports.remove(listener).unwrap_or_default();
        kept.truncate(count);
        kept.retain(|&port| ports::is_free(port));
        while kept.len() < count {
            // What others of this hub will listen on is taken, though nobody may listen there yet.
            let taken: Vec<u16> = self.ports.values().flatten().chain(&kept).copied().collect();
            kept.push(ports::free(&taken)?);
        }
        self.ports.insert(listener.to_owned(), kept.clone());
        Ok(kept)
    }
}

/// 256 random bits as text.
fn secret() -> String {
    URL_SAFE_NO_PAD.encode(rand::random::<[u8; SECRET_BYTES]>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_saved_is_found_again() {
        let dir = tempfile::tempdir().unwrap();
        let mut first = State::load(dir.path()).unwrap();
        let ports = first.ports("lifecycle", 2).unwrap();
        first.save().unwrap();

        let mut again = State::load(dir.path()).unwrap();
        assert_eq!(again.admin_token, first.admin_token);
        assert_eq!(again.ports("lifecycle", 2).unwrap(), ports);
        assert_eq!(again.ports("lifecycle", 1).unwrap(), ports[..1]);
    }

    #[test]
    fn a_port_somebody_took_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let mut state = State::load(dir.path()).unwrap();
        let before = state.ports("delivery", 1).unwrap();
        let _holder = std::net::TcpListener::bind(("127.0.0.1", before[0])).unwrap();
        assert_ne!(state.ports("delivery", 1).unwrap(), before);
    }

    #[test]
    fn no_two_listeners_share_a_port() {
        let dir = tempfile::tempdir().unwrap();
        let mut state = State::load(dir.path()).unwrap();
        let mut all: Vec<u16> = ["a", "b", "c"]
            .iter()
            .flat_map(|name| state.ports(name, 8).unwrap())
            .collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 24);
    }
}
