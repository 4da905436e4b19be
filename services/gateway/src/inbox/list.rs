//! `/inbox`: the list.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::{IntoResponse, Response};
use hub_proto::lifecycle::{ListMessagesReply, MessageSummary};
use ma2h::envelope::{MessageType, Priority};
use ma2h::status::Status;
use maud::{Markup, html};
use time::OffsetDateTime;

use crate::app::App;
use crate::messages;

use super::filter::{Filter, View};
use super::page::{self, Place};
use super::session::Session;
use super::{icons, names, when};

/// Tags that a row has room for.
const ROW_TAGS_MAX: usize = 3;

/// `GET /inbox`.
pub(super) async fn show(
    State(app): State<Arc<App>>,
    session: Session,
    filter: Result<Query<Filter>, QueryRejection>,
) -> Response {
    let filter = filter.map(|Query(filter)| filter).unwrap_or_default().cleaned();
    match messages::list(&app, &session.principal(), filter.request()).await {
        Ok(found) => {
            let main = draw(&filter, &found, OffsetDateTime::now_utc());
            page::frame(filter.view.title(), Some(&session), Some(Place::Inbox), &main).into_response()
        }
        Err(problem) => page::problem(&problem, Some(&session)),
    }
}

fn draw(filter: &Filter, found: &ListMessagesReply, now: OffsetDateTime) -> Markup {
    html! {
        main id="main" class="list" tabindex="-1" data-page="list" {
            h1 class="hidden" { (filter.view.title()) }
            div class="list-head" {
                nav class="tabs" aria-label="Views" {
                    @for view in View::ALL {
                        a href=(Filter { view, kind: None, ..filter.clone() }.href())
                            aria-current=[(view == filter.view).then_some("page")] { (view.title()) }
                    }
                }
                (search(filter))
            }
            (narrowing(filter))
            @if found.messages.is_empty() {
                (nothing(filter))
            } @else {
                ol class="rows card" { @for summary in &found.messages { (row(summary, now)) } }
            }
            (paging(filter, found.next_cursor.as_deref()))
        }
    }
}

fn search(filter: &Filter) -> Markup {
    html! {
        form class="search" role="search" method="get" action="/inbox" {
            @if filter.view != View::default() { input type="hidden" name="view" value=(filter.view.as_str()); }
            @for (name, value) in filter.terms() {
                @if name != "q" { input type="hidden" name=(name) value=(value); }
            }
            label class="hidden" for="q" { "Search titles" }
            input id="q" type="search" name="q" placeholder="Search titles" autocomplete="off"
                value=(filter.q.as_deref().unwrap_or_default());
        }
    }
}

/// A link switches its term on, or off where it is on.
fn narrowing(filter: &Filter) -> Markup {
    let kind = |kind: &str| Filter {
        kind: toggled(filter.kind.as_deref(), kind),
        ..filter.clone()
    };
    let priority = |name: &str| Filter {
        priority: toggled(filter.priority.as_deref(), name),
        ..filter.clone()
    };
    html! {
        nav class="chips" aria-label="Filters" {
            @if filter.view != View::Notices {
                (page::chip("Questions", &kind("ask").href(), filter.kind.as_deref() == Some("ask")))
                (page::chip("Tasks", &kind("task").href(), filter.kind.as_deref() == Some("task")))
                span class="chips-gap" aria-hidden="true" {}
            }
            @for name in [Priority::Urgent, Priority::High, Priority::Normal, Priority::Low] {
                (page::chip(names::priority(name), &priority(name.as_str()).href(), filter.priority.as_deref() == Some(name.as_str())))
            }
            @if let Some(agent) = &filter.agent {
                (page::chip(&format!("Agent {agent}"), &Filter { agent: None, ..filter.clone() }.href(), true))
            }
            @if let Some(project) = &filter.project {
                (page::chip(&format!("Project {project}"), &Filter { project: None, ..filter.clone() }.href(), true))
            }
            @if let Some(tag) = &filter.tag {
                (page::chip(&format!("Tag {tag}"), &Filter { tag: None, ..filter.clone() }.href(), true))
            }
            @if let Some(words) = &filter.q {
                (page::chip(&format!("“{words}”"), &Filter { q: None, ..filter.clone() }.href(), true))
            }
        }
    }
}

fn toggled(now: Option<&str>, name: &str) -> Option<String> {
    (now != Some(name)).then(|| name.to_owned())
}

fn nothing(filter: &Filter) -> Markup {
    let narrowed = !filter.terms().is_empty() || filter.cursor.is_some();
    html! {
        div class="card empty" {
            @if narrowed {
                h2 { "Nothing fits" }
                p class="muted" { "No message here matches the filters." }
                p { a class="button" href=(Filter { view: filter.view, ..Filter::default() }.href()) { "Show all of them" } }
            } @else if filter.view == View::Waiting {
                h2 { "Nothing waits for you" }
                p class="muted" { "When an agent asks something, it appears here by itself." }
            } @else {
                h2 { "Nothing here yet" }
                p class="muted" { "What agents send appears here by itself." }
            }
        }
    }
}

fn row(summary: &MessageSummary, now: OffsetDateTime) -> Markup {
    let kind: MessageType = summary.r#type.parse().unwrap_or(MessageType::Notify);
    let mode = summary.mode.as_deref().and_then(|mode| mode.parse().ok());
    let priority: Priority = summary.priority.parse().unwrap_or_default();
    let open = status_of(summary) == Some(Status::Open);
    html! {
        li class="row" data-key=(summary.message_id) data-open[open] {
            (icons::kind(kind))
            div class="row-main" {
                p class="row-title" {
                    a id=(format!("row-{}", summary.message_id)) href=(format!("/inbox/{}", summary.message_id)) data-row {
                        (summary.title)
                    }
                }
                p class="row-meta" {
                    (icons::priority(priority))
                    span { (names::kind(kind, mode)) }
                    span { (summary.agent) }
                    @if let Some(project) = &summary.project { span { (project) } }
                    @for tag in summary.tags.iter().take(ROW_TAGS_MAX) { span class="tag" { (tag) } }
                }
            }
            div class="row-side" {
                @if let Some(at) = summary.accepted_at.as_ref().and_then(hub_proto::time_of) { p { (when::past(at, now)) } }
                (state(summary, kind, now))
            }
        }
    }
}

/// None only for what a later release put there.
fn status_of(summary: &MessageSummary) -> Option<Status> {
    summary.status.parse().ok()
}

fn state(summary: &MessageSummary, kind: MessageType, now: OffsetDateTime) -> Markup {
    let status = status_of(summary);
    let expires_at = summary.expires_at.as_ref().and_then(hub_proto::time_of);
    let by = summary
        .actor
        .as_deref()
        .filter(|actor| actor.starts_with("human:") || actor.starts_with("agent:"));
    html! {
        @if status == Some(Status::Open) {
            @if let Some(expires_at) = expires_at { p class="expiry" { (when::deadline(expires_at, now)) } }
        } @else if let (Some((status, sign)), true) = (status.map(names::status), kind != MessageType::Notify) {
            p class="row-status" {
                span aria-hidden="true" { (sign) " " } (status)
                @if let Some(by) = by { " by " (names::actor(by)) }
            }
        }
    }
}

fn paging(filter: &Filter, next_cursor: Option<&str>) -> Markup {
    html! {
        @if filter.cursor.is_some() || next_cursor.is_some() {
            nav class="paging" aria-label="Pages" {
                @if filter.cursor.is_some() { a class="button" href=(filter.href()) { "Newest" } }
                @if let Some(cursor) = next_cursor { a class="button" rel="next" href=(filter.href_from(cursor)) { "Older" } }
            }
        }
    }
}
