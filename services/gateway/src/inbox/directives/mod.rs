//! `/inbox/directives`: what people told agents (§13), and how far it got.

mod compose;
mod filter;
mod list;
mod one;
mod track;
mod written;

use super::links::encode;

pub(super) use compose::{compose, send};
pub(super) use list::{Listed, beginning, list, newest_to, row, sorts};
pub(super) use one::show;

use filter::Filter;

/// Where one is written.
pub(super) const NEW: &str = "/inbox/directives/new";

/// The page of one.
pub(super) fn path(id: &str) -> String {
    format!("/inbox/directives/{id}")
}

/// The form for one to this agent.
pub(super) fn to(agent: &str) -> String {
    format!("{NEW}?to={}", encode(agent))
}

/// The list of those to this agent.
pub(super) fn all_to(agent: &str) -> String {
    Filter::of_agent(agent).href()
}
