//! One development hub per folder.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::Path;

use anyhow::Context as _;

/// The lock's file in the folder.
pub(crate) const NAME: &str = "lock";

/// Held while a hub runs in the folder. The kernel lets go of it however the process ends.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    pub(crate) fn take(dir: &Path) -> anyhow::Result<Self> {
        let path = dir.join(NAME);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .with_context(|| format!("open {}", path.display()))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                file.read_to_string(&mut holder).ok();
                anyhow::bail!(
                    "a hub runs in {} already (process {}): stop it first, or give this one another folder with HUB_DEV_DIR",
                    dir.display(),
                    holder.trim()
                );
            }
            Err(TryLockError::Error(error)) => {
                return Err(error).with_context(|| format!("lock {}", path.display()));
            }
        }
        let named = (|| {
            file.set_len(0)?;
            file.rewind()?;
            writeln!(file, "{}", std::process::id())
        })();
        named.with_context(|| format!("write {}", path.display()))?;
        Ok(Self { _file: file })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_hub_in_a_folder_is_told_who_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let first = Lock::take(dir.path()).unwrap();
        let refused = Lock::take(dir.path()).unwrap_err().to_string();
        assert!(
            refused.contains(&format!("process {}", std::process::id())),
            "{refused}"
        );
        drop(first);
        Lock::take(dir.path()).unwrap();
    }
}
