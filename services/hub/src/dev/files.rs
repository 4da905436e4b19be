//! Files of a development hub, each replaced as a whole so that a reader never meets half of one.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use anyhow::Context as _;

const PUBLIC: u32 = 0o644;
const PRIVATE: u32 = 0o600;

/// Reads a file, naming it where that fails.
pub(crate) fn read(path: &Path) -> anyhow::Result<String> {
    fs::read_to_string(path).with_context(|| format!("read {}", path.display()))
}

/// Replaces a file that anyone may read.
pub(crate) fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    replace(path, text, PUBLIC)
}

/// Replaces a file that only its owner may read: it holds a secret.
pub(crate) fn write_private(path: &Path, text: &str) -> anyhow::Result<()> {
    replace(path, text, PRIVATE)
}

fn replace(path: &Path, text: &str, mode: u32) -> anyhow::Result<()> {
    let mut fresh = path.as_os_str().to_owned();
    fresh.push(".new");
    let written = (|| {
        fs::write(&fresh, "")?;
        fs::set_permissions(&fresh, Permissions::from_mode(mode))?;
        fs::write(&fresh, text)?;
        fs::rename(&fresh, path)
    })();
    written.with_context(|| format!("write {}", path.display()))
}
