//! The list of agents, to look at or to choose from.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::{IntoResponse, Redirect, Response};
use ma2h::error::Problem;
use maud::{Markup, html};
use serde::Deserialize;
use time::OffsetDateTime;

use crate::app::App;
use crate::directory::agents;
use crate::edge::page::PageParams;

use super::super::links::{encode, to_agent};
use super::super::page::{self, Place};
use super::super::session::Session;
use super::super::writing::{self, Way};
use super::super::{directives, icons};
use super::{Known, is_addressable, know, one, waiting};

/// Agents on one page.
const PAGE_ROWS: u32 = 50;

/// The query of the list's address.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in super::super) struct Asked {
    /// Goes to the page of this agent.
    id: Option<String>,
    cursor: Option<String>,
}

/// What a page of the list is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Look,
    /// To whom a directive goes.
    Choose,
}

/// `GET /inbox/agents`.
pub(in super::super) async fn list(
    State(app): State<Arc<App>>,
    session: Session,
    asked: Result<Query<Asked>, QueryRejection>,
) -> Response {
    let Asked { id, cursor } = asked.map(|Query(asked)| asked).unwrap_or_default();
    match id.filter(|id| !id.is_empty()) {
        Some(id) if to_agent(&id).contains('?') => one::page_of(&app, &session, &id).await,
        Some(id) => Redirect::to(&to_agent(&id)).into_response(),
        None => page_of(&app, &session, cursor, Purpose::Look).await,
    }
}

/// The agents as addressees of a directive.
pub(in super::super) async fn choose(app: &App, session: &Session, cursor: Option<String>) -> Response {
    page_of(app, session, cursor, Purpose::Choose).await
}

async fn page_of(app: &App, session: &Session, cursor: Option<String>, purpose: Purpose) -> Response {
    let is_first = cursor.as_ref().is_none_or(String::is_empty);
    let wanted = PageParams::of(cursor, PAGE_ROWS);
    match self::page(app, session, &wanted).await {
        Ok((known, next_cursor)) => {
            let pages = (is_first, next_cursor.as_deref());
            let main = draw(session, &known, pages, purpose, OffsetDateTime::now_utc());
            let (title, place) = match purpose {
                Purpose::Look => ("Agents", Place::Agents),
                Purpose::Choose => ("Write to an agent", Place::Directives),
            };
            page::frame(title, Some(session), Some(place), &main).into_response()
        }
        Err(problem) => page::problem(&problem, Some(session)),
    }
}

/// A page of the account's agents, and the cursor of the next one.
pub(in super::super) async fn page(
    app: &App,
    session: &Session,
    wanted: &PageParams,
) -> Result<(Vec<Known>, Option<String>), Problem> {
    let wanted = wanted.page()?;
    let mut found = agents::list(&app.pool, &session.human.account, &wanted).await?;
    let next_cursor = wanted.cut(&mut found, |agent| &agent.id);
    Ok((know(app, session, found).await?, next_cursor))
}

fn draw(
    session: &Session,
    known: &[Known],
    (is_first, next_cursor): (bool, Option<&str>),
    purpose: Purpose,
    now: OffsetDateTime,
) -> Markup {
    let address = match purpose {
        Purpose::Look => "/inbox/agents",
        Purpose::Choose => directives::NEW,
    };
    html! {
        main id="main" class="list" tabindex="-1" data-page="agents" {
            @if purpose == Purpose::Choose { p class="back" { a href="/inbox/directives" data-back { "← Directives" } } }
            div class="list-head" {
                @match purpose {
                    Purpose::Look => h1 { "Agents" },
                    Purpose::Choose => {
                        h1 class="hidden" { "Write to one agent" }
                        (writing::ways(Way::One))
                    }
                }
                (by_id(address, purpose))
            }
            @if purpose == Purpose::Choose { (writing::why_not(session)) }
            @if known.is_empty() {
                (nothing(is_first))
            } @else {
                ol class="rows card" { @for agent in known { (row(agent, purpose, now)) } }
            }
            @if !is_first || next_cursor.is_some() {
                nav class="paging" aria-label="Pages" {
                    @if !is_first { a class="button" href=(address) { "First" } }
                    @if let Some(cursor) = next_cursor {
                        a class="button" rel="next" href=(format!("{address}?cursor={}", encode(cursor))) { "Next" }
                    }
                }
            }
        }
    }
}

/// Straight to one of many.
fn by_id(address: &str, purpose: Purpose) -> Markup {
    let name = if purpose == Purpose::Look { "id" } else { "to" };
    html! {
        form class="search" role="search" method="get" action=(address) {
            label class="hidden" for="q" { "Id of an agent" }
            input id="q" type="search" name=(name) placeholder="Id of an agent" autocomplete="off" autocapitalize="none"
                spellcheck="false" required;
        }
    }
}

fn nothing(is_first: bool) -> Markup {
    html! {
        div class="card empty" {
            @if is_first {
                h2 { "No agents yet" }
                p class="muted" { "An owner of the account adds them; they appear here by themselves once they are used." }
            } @else {
                h2 { "No more agents" }
            }
        }
    }
}

fn row(agent: &Known, purpose: Purpose, now: OffsetDateTime) -> Markup {
    let to = match purpose {
        Purpose::Look => to_agent(&agent.id),
        Purpose::Choose => directives::to(&agent.id),
    };
    let is_link = purpose == Purpose::Look || is_addressable(&agent.id);
    html! {
        li class="row" data-key=(agent.id) data-open[agent.presence.is_online()] {
            (icons::agent())
            div class="row-main" {
                p class="row-title" {
                    @if is_link { a id=(format!("row-{}", agent.id)) href=(to) data-row { (agent.id) } }
                    @else { (agent.id) }
                }
                (meta(agent, !is_link, now))
            }
            div class="row-side" { p { (waiting(&agent.waiting)) } }
        }
    }
}

/// What is known of an agent, beneath its id in a row; `explains` says why it cannot be chosen.
pub(in super::super) fn meta(agent: &Known, explains: bool, now: OffsetDateTime) -> Markup {
    html! {
        p class="row-meta" {
            span { (agent.presence.badge(now)) }
            @for (name, value) in &agent.labels { span class="tag" { (name) ": " (value) } }
            @if explains { span { "cannot be written to: its id has a # in it" } }
        }
    }
}
