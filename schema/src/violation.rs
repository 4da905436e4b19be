//! Where a body breaks its schema.

use std::fmt;

/// The first place where a body does not fit its schema. It says what was expected there, never what was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// The place, as in `request.options[0].value`; empty for the whole body.
    pub path: String,
    /// What is expected, to be read after the path: `must be a string`.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            formatter.write_str(&self.message)
        } else {
            write!(formatter, "{}: {}", self.path, self.message)
        }
    }
}

impl std::error::Error for Violation {}
