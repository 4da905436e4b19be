//! Schema `directory`: accounts, humans, agents, tokens, browser sessions, audit.

pub(crate) mod browser_sessions;
