//! What the hub says at the terminal. Nobody may be listening any more, which must not stop it.

use std::fmt::Display;
use std::io::{Write as _, stderr, stdout};

/// Says what is being done.
pub(super) fn say(text: impl Display) {
    writeln!(stdout(), "hub: {text}").ok();
}

/// Says something that stands for itself.
pub(super) fn tell(text: impl Display) {
    writeln!(stdout(), "{text}").ok();
}

/// Says what went wrong.
pub(super) fn warn(text: impl Display) {
    writeln!(stderr(), "hub: {text}").ok();
}
