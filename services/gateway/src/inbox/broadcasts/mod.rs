//! `/inbox/broadcasts`: what people told many agents at once, and how far it got with each.

mod audience;
mod by_labels;
mod choose;
mod compose;
mod list;
mod one;
mod progress;
mod reach;
mod recipients;

pub(super) use by_labels::labels;
pub(super) use choose::agents;
pub(super) use compose::{compose, send};
pub(super) use list::list;
pub(super) use one::show;

/// The list of them.
pub(super) const LIST: &str = "/inbox/broadcasts";
/// Where agents are chosen one by one.
pub(super) const AGENTS: &str = "/inbox/broadcasts/agents";
/// Where labels are chosen.
pub(super) const LABELS: &str = "/inbox/broadcasts/labels";
/// Where one is written, its audience in the query.
const NEW: &str = "/inbox/broadcasts/new";
