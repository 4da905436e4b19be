//! What can be wrong with a configuration.

use std::path::PathBuf;

/// Names what to correct; never shows a value, which may be a secret.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A key or variable the hub does not know.
    #[error("{name} is not a setting of the hub")]
    Unknown {
        /// The variable, or `table.key`.
        name: String,
    },
    /// A value of the wrong kind or out of its range.
    #[error("{name}: expected {expected}")]
    Invalid {
        /// The variable, or `table.key`.
        name: String,
        /// What would do.
        expected: String,
    },
    /// The same field set directly and by a file.
    #[error("{name} is set twice, also by {origin}")]
    Twice {
        /// The variable.
        name: String,
        /// What set it before.
        origin: String,
    },
    /// A setting that is needed for what was asked.
    #[error("{name} is not set")]
    Missing {
        /// The variable.
        name: &'static str,
    },
    /// A file that a setting names.
    #[error("{name}: cannot read {path}: {reason}")]
    File {
        /// The variable, or `table.key`.
        name: String,
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// A file that is not TOML.
    #[error("HUB_CONFIG: {message}")]
    Toml {
        /// What the parser said.
        message: String,
    },
}
