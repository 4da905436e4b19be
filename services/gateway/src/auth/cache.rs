//! Principals looked up a moment ago.

/// Bounded, and forgets after two seconds.
#[derive(Default)]
pub(crate) struct Cache;
