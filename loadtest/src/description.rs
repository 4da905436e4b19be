//! What a running development hub says of itself in `.hub/dev.json`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::Deserialize;

#[derive(Deserialize)]
pub(crate) struct Description {
    pub base_urls: Vec<String>,
    pub ca_cert: PathBuf,
    pub admin_token: String,
    /// Its PostgreSQL, as the user that migrates.
    pub postgres: Option<String>,
    pub nats: Option<String>,
    /// Where each tier serves its metrics.
    pub metrics: BTreeMap<String, String>,
    /// Process ids by tier or service.
    pub pids: BTreeMap<String, Vec<u32>>,
}

impl Description {
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| {
            format!(
                "read {} (is a hub running? start one with `make dev`)",
                path.display()
            )
        })?;
        let mut description: Self =
            serde_json::from_str(&text).with_context(|| format!("parse {}", path.display()))?;
        if description.base_urls.is_empty() {
            anyhow::bail!("{} names no base_urls", path.display());
        }
        if description.ca_cert.is_relative() {
            description.ca_cert = beside(path, &description.ca_cert);
        }
        Ok(description)
    }
}

/// A relative path in the description starts where the hub was started, one folder above the description.
fn beside(description: &Path, relative: &Path) -> PathBuf {
    let started_in = description
        .parent()
        .and_then(Path::parent)
        .unwrap_or(Path::new(""));
    started_in.join(relative)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_start_above_the_description() {
        let found = beside(Path::new("/srv/.hub/dev.json"), Path::new(".hub/ca.pem"));
        assert_eq!(found, Path::new("/srv/.hub/ca.pem"));
        assert_eq!(
            beside(Path::new(".hub/dev.json"), Path::new(".hub/ca.pem")),
            Path::new(".hub/ca.pem")
        );
    }
}
