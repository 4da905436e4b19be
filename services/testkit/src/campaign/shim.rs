//! The clock of one process, put off while it runs: libfaketime, which Debian has as `faketime`. Monotonic time goes on.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

/// Where distributions put it, beneath the folder of their libraries.
const LIBRARY: &str = "faketime/libfaketimeMT.so.1";
const FOLDERS: [&str; 4] = [
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
];

/// What a process is started with, and the file that says how far its clock is off.
#[derive(Clone, Debug)]
pub(super) struct Shim {
    library: PathBuf,
    file: PathBuf,
}

impl Shim {
    /// A clock that is right as yet; none where programs cannot be given one. On Linux they can: a shift that does nothing
    /// would be reported as one that did.
    pub(super) fn of(file: &Path) -> anyhow::Result<Option<Self>> {
        let found = FOLDERS.iter().map(|folder| Path::new(folder).join(LIBRARY));
        let Some(library) = found.into_iter().find(|path| path.exists()) else {
            anyhow::ensure!(
                !cfg!(target_os = "linux"),
                "{LIBRARY} is not installed: deploy/dev/prepare test"
            );
            return Ok(None);
        };
        let shim = Self {
            library,
            file: file.to_owned(),
        };
        shim.shift(0)?;
        Ok(Some(shim))
    }

    /// What makes a process take its time from the file.
    pub(super) fn env(&self) -> Vec<(String, String)> {
        let text = |path: &Path| path.display().to_string();
        [
            ("LD_PRELOAD", text(&self.library)),
            ("FAKETIME_TIMESTAMP_FILE", text(&self.file)),
            ("FAKETIME_CACHE_DURATION", "1".to_owned()),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()),
            ("FAKETIME_DISABLE_SHM", "1".to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }

    /// Puts the clock so far off, within a second from now.
    pub(super) fn shift(&self, seconds: i64) -> anyhow::Result<()> {
        let next = self.file.with_extension("next");
        std::fs::write(&next, format!("{seconds:+}\n"))
            .and_then(|()| std::fs::rename(&next, &self.file))
            .with_context(|| format!("write {}", self.file.display()))
    }
}
