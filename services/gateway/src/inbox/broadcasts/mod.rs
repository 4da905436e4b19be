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

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use maud::{Markup, html};

use super::page::{self, Place};
use super::session::Session;
use super::writing::{self, Way, may_write};

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

/// A page on which it is chosen who is written to, for whoever may write; drawn again where something is wrong with the choice.
fn choosing(session: &Session, way: Way, title: &str, is_wrong: bool, choice: &Markup) -> Response {
    let main = html! {
        main id="main" class="list" tabindex="-1" {
            p class="back" { a href=(LIST) data-back { "← Broadcasts" } }
            h1 class="hidden" { (title) }
            div class="list-head" { (writing::ways(way)) }
            (writing::why_not(session))
            @if may_write(session) { (choice) }
        }
    };
    let status = if is_wrong {
        StatusCode::UNPROCESSABLE_ENTITY
    } else {
        StatusCode::OK
    };
    let page = page::frame(title, Some(session), Some(Place::Directives), &main);
    (status, page).into_response()
}
