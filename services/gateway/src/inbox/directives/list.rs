//! The list, newest first.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::{IntoResponse, Response};
use hub_platform::cpu;
use hub_proto::lifecycle::Directive;
use ma2h::error::Problem;
use maud::{Markup, html};
use time::OffsetDateTime;

use crate::app::App;
use crate::directives::{self, STATES};

use super::super::page::{self, Place};
use super::super::session::Session;
use super::super::writing::may_write;
use super::super::{broadcasts, icons, names, when};
use super::NEW;
use super::filter::Filter;
use super::written::Heading;

/// Of an agent's note a row shows the beginning.
const NOTE_CHARS_MAX: usize = 120;

/// A directive of a list.
pub(in super::super) struct Listed(Heading);

/// `GET /inbox/directives`.
pub(in super::super) async fn list(
    State(app): State<Arc<App>>,
    session: Session,
    filter: Result<Query<Filter>, QueryRejection>,
) -> Response {
    let filter = filter.map(|Query(filter)| filter).unwrap_or_default().cleaned();
    match read(&app, &session, filter.request()).await {
        Ok((listed, next_cursor)) => {
            let now = OffsetDateTime::now_utc();
            let main = draw(&session, &filter, &listed, next_cursor.as_deref(), now);
            page::frame("Directives", Some(&session), Some(Place::Directives), &main).into_response()
        }
        Err(problem) => page::problem(&problem, Some(&session)),
    }
}

/// The newest to one agent.
pub(in super::super) async fn newest_to(
    app: &App,
    session: &Session,
    agent: &str,
    limit: u32,
) -> Result<Vec<Listed>, Problem> {
    let wanted = directives::Filter {
        limit,
        ..Filter::of_agent(agent).request()
    };
    Ok(read(app, session, wanted).await?.0)
}

async fn read(
    app: &App,
    session: &Session,
    wanted: directives::Filter,
) -> Result<(Vec<Listed>, Option<String>), Problem> {
    let reply = directives::list(app, &session.principal(), wanted).await?;
    let bytes = reply.directives.iter().map(|found| found.directive.len()).sum();
    let listed = cpu::run(bytes, move || headings(&reply.directives)).await?;
    Ok((listed, reply.next_cursor))
}

fn headings(found: &[Directive]) -> Result<Vec<Listed>, Problem> {
    let headings = found.iter().map(|found| Heading::read(found).map(Listed));
    headings.collect()
}

fn draw(
    session: &Session,
    filter: &Filter,
    listed: &[Listed],
    next_cursor: Option<&str>,
    now: OffsetDateTime,
) -> Markup {
    html! {
        main id="main" class="list" tabindex="-1" data-page="directives" {
            h1 class="hidden" { "Directives" }
            div class="list-head" {
                (sorts(false))
                @if may_write(session) { a class="button primary" href=(NEW) { "Write to an agent" } }
            }
            (narrowing(filter))
            @if listed.is_empty() {
                (nothing(filter, next_cursor.is_some()))
            } @else {
                ol class="rows card" { @for directive in listed { (row(directive, true, now)) } }
            }
            @if filter.cursor.is_some() || next_cursor.is_some() {
                nav class="paging" aria-label="Pages" {
                    @if filter.cursor.is_some() { a class="button" href=(filter.href()) { "Newest" } }
                    @if let Some(cursor) = next_cursor {
                        a class="button" rel="next" href=(filter.href_from(cursor)) { "Older" }
                    }
                }
            }
        }
    }
}

/// To one agent each, or to many at once.
pub(in super::super) fn sorts(to_many: bool) -> Markup {
    let sorts = [
        ("To one agent", Filter::default().href(), !to_many),
        ("Broadcasts", broadcasts::LIST.to_owned(), to_many),
    ];
    html! {
        nav class="tabs" aria-label="Directives" {
            @for (title, href, is_current) in sorts {
                a href=(href) aria-current=[is_current.then_some("page")] { (title) }
            }
        }
    }
}

/// A link switches its term on, or off where it is on.
fn narrowing(filter: &Filter) -> Markup {
    html! {
        nav class="chips" aria-label="Filters" {
            @for state in STATES {
                @let on = filter.state.as_deref() == Some(state);
                @let to = Filter { state: (!on).then(|| state.to_owned()), cursor: None, ..filter.clone() };
                (page::chip(names::track(state).0, &to.href(), on))
            }
            @if let Some(agent) = &filter.agent {
                @let to = Filter { agent: None, cursor: None, ..filter.clone() };
                (page::chip(&format!("To {agent}"), &to.href(), true))
            }
        }
    }
}

fn nothing(filter: &Filter, has_more: bool) -> Markup {
    html! {
        div class="card empty" {
            @if has_more {
                h2 { "Nothing so far" }
                p class="muted" { "None of the newest ones fits. Older ones may." }
            } @else if filter.is_narrow() || filter.cursor.is_some() {
                h2 { "Nothing fits" }
                p class="muted" { "No directive here matches the filters." }
                p { a class="button" href=(Filter::default().href()) { "Show all of them" } }
            } @else {
                h2 { "Nothing here yet" }
                p class="muted" { "What people tell agents appears here, with how far it got." }
            }
        }
    }
}

/// One row; `names_agent` where they are not all to the same one.
pub(in super::super) fn row(Listed(directive): &Listed, names_agent: bool, now: OffsetDateTime) -> Markup {
    let (state, sign) = names::track(&directive.track.state);
    let note = directive.track.ack.as_ref().and_then(|ack| ack.note.as_deref());
    html! {
        li class="row" data-key=(directive.id) data-open[!directive.track.is_over()] {
            (icons::directive())
            div class="row-main" {
                p class="row-title" {
                    a id=(format!("row-{}", directive.id)) href=(directive.path()) data-row { (directive.title) }
                }
                p class="row-meta" {
                    (icons::priority(directive.priority))
                    @if names_agent { span class="clamped" { "to " (directive.agent) } }
                    span { "by " (names::actor(&directive.author)) }
                    // Text of the agent: shown as that, never as markup (§14.4).
                    @if let Some(note) = note { span class="row-note" { "“" (beginning(note)) "”" } }
                }
            }
            div class="row-side" {
                @if let Some(at) = directive.created_at { p { (when::past(at, now)) } }
                p class="track-state" data-state=(directive.track.state) { span aria-hidden="true" { (sign) " " } (state) }
                @if let ("queued", Some(expires_at)) = (directive.track.state.as_str(), directive.expires_at) {
                    p class="expiry" { (when::deadline(expires_at, now)) }
                }
            }
        }
    }
}

/// Of a note so much that it fits a row.
pub(in super::super) fn beginning(note: &str) -> String {
    let line = note.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(NOTE_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::{Heading, Listed, beginning, row};
    use crate::inbox::directives::written::tests::directive;

    #[test]
    fn a_row_is_text() {
        let hurt = "<img src=x onerror=alert(1)>";
        let listed = Listed(Heading::read(&directive(hurt, "")).unwrap());
        let html = row(&listed, true, datetime!(2026-06-04 19:00 UTC)).into_string();
        assert!(!html.contains("<img") && html.contains("&lt;img"), "{html}");
        for part in [
            "Queued",
            "1 h ago",
            "expires in 1 h",
            "to a/b",
            "by alice",
            "Urgent",
        ] {
            assert!(html.contains(part), "{part} in {html}");
        }
    }

    #[test]
    fn a_note_is_one_short_line() {
        assert_eq!(beginning("on\n it "), "on it");
        assert_eq!(beginning(&"ä".repeat(121)), format!("{}…", "ä".repeat(120)));
    }
}
