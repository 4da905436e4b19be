//! `/inbox/directives`: what people told agents (§13), and how far it got.

mod compose;
mod draft;
mod filter;
mod list;
mod one;
mod track;
mod written;

use maud::{Markup, html};

use crate::principal::Role;

use super::links::encode;
use super::session::Session;

pub(super) use compose::{compose, send};
pub(super) use list::{Listed, list, newest_to, row};
pub(super) use one::show;

use filter::Filter;

/// Where one is written.
pub(super) const NEW: &str = "/inbox/directives/new";

/// The form for one to this agent.
pub(super) fn to(agent: &str) -> String {
    format!("{NEW}?to={}", encode(agent))
}

/// The list of those to this agent.
pub(super) fn all_to(agent: &str) -> String {
    Filter::of_agent(agent).href()
}

/// Whether the person may write any.
pub(super) fn may_write(session: &Session) -> bool {
    session.human.role >= Role::Operator
}

/// Tells a person who may not, why.
pub(super) fn why_not(session: &Session) -> Markup {
    html! {
        @if !may_write(session) {
            p class="notice" { "You are signed in as a viewer: you can read directives, but not write them." }
        }
    }
}
