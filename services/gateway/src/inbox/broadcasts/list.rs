//! The list, newest first.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::{IntoResponse, Response};
use hub_proto::lifecycle::Broadcast;
use ma2h::error::Problem;
use maud::{Markup, html};
use serde::Deserialize;
use time::OffsetDateTime;

use crate::app::App;
use crate::broadcasts;
use crate::edge::page::PageParams;

use super::super::links::encode;
use super::super::page::{self, Place};
use super::super::session::Session;
use super::super::writing::may_write;
use super::super::{directives, icons, names, when};
use super::audience::Labels;
use super::{AGENTS, LIST};

/// Rows on one page.
const PAGE_ROWS: u32 = 30;

/// The query of the list's address.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in super::super) struct Asked {
    cursor: Option<String>,
}

/// A broadcast as it was taken.
pub(super) struct Heading {
    pub(super) id: String,
    pub(super) author: String,
    pub(super) title: String,
    /// Of those asked for by labels.
    pub(super) labels: Labels,
    pub(super) recipients: usize,
    pub(super) accepted_at: Option<OffsetDateTime>,
}

impl Heading {
    /// Reads what lifecycle tells.
    pub(super) fn read(broadcast: &Broadcast) -> Result<Self, Problem> {
        let labels = broadcast.labels.as_deref().unwrap_or("{}");
        Ok(Self {
            id: broadcast.broadcast_id.clone(),
            author: broadcast.author.clone(),
            title: serde_json::from_str(&broadcast.title).map_err(|_| Problem::internal())?,
            labels: serde_json::from_str(labels).map_err(|_| Problem::internal())?,
            recipients: usize::try_from(broadcast.recipients).unwrap_or(usize::MAX),
            accepted_at: broadcast.accepted_at.as_ref().and_then(hub_proto::time_of),
        })
    }

    /// Whom it was for, as parts of a line.
    pub(super) fn audience(&self) -> Markup {
        html! {
            span { "to " (names::agents(self.recipients)) }
            @for (name, value) in &self.labels { span class="tag" { (name) ": " (value) } }
        }
    }
}

/// `GET /inbox/broadcasts`.
pub(in super::super) async fn list(
    State(app): State<Arc<App>>,
    session: Session,
    asked: Result<Query<Asked>, QueryRejection>,
) -> Response {
    let Asked { cursor } = asked.map(|Query(asked)| asked).unwrap_or_default();
    let is_first = cursor.as_ref().is_none_or(String::is_empty);
    match read(&app, &session, cursor).await {
        Ok((listed, next_cursor)) => {
            let pages = (is_first, next_cursor.as_deref());
            let main = draw(&session, &listed, pages, OffsetDateTime::now_utc());
            page::frame("Broadcasts", Some(&session), Some(Place::Directives), &main).into_response()
        }
        Err(problem) => page::problem(&problem, Some(&session)),
    }
}

async fn read(
    app: &App,
    session: &Session,
    cursor: Option<String>,
) -> Result<(Vec<Heading>, Option<String>), Problem> {
    let wanted = PageParams::of(cursor, PAGE_ROWS).page()?;
    let (found, next_cursor) = broadcasts::list(app, &session.principal(), &wanted).await?;
    let headings = found.iter().map(Heading::read).collect::<Result<_, _>>()?;
    Ok((headings, next_cursor))
}

fn draw(
    session: &Session,
    listed: &[Heading],
    (is_first, next_cursor): (bool, Option<&str>),
    now: OffsetDateTime,
) -> Markup {
    html! {
        main id="main" class="list" tabindex="-1" data-page="broadcasts" {
            h1 class="hidden" { "Broadcasts" }
            div class="list-head" {
                (directives::sorts(true))
                @if may_write(session) { a class="button primary" href=(AGENTS) { "Write to several" } }
            }
            @if listed.is_empty() {
                (nothing(is_first))
            } @else {
                ol class="rows card" { @for broadcast in listed { (row(broadcast, now)) } }
            }
            @if !is_first || next_cursor.is_some() {
                nav class="paging" aria-label="Pages" {
                    @if !is_first { a class="button" href=(LIST) { "Newest" } }
                    @if let Some(cursor) = next_cursor {
                        a class="button" rel="next" href=(format!("{LIST}?cursor={}", encode(cursor))) { "Older" }
                    }
                }
            }
        }
    }
}

fn nothing(is_first: bool) -> Markup {
    html! {
        div class="card empty" {
            @if is_first {
                h2 { "Nothing here yet" }
                p class="muted" { "What people tell many agents at once appears here, with how far it got." }
            } @else {
                h2 { "No older ones" }
            }
        }
    }
}

fn row(broadcast: &Heading, now: OffsetDateTime) -> Markup {
    html! {
        li class="row" data-key=(broadcast.id) {
            (icons::broadcast())
            div class="row-main" {
                p class="row-title" {
                    a id=(format!("row-{}", broadcast.id)) href=(format!("{LIST}/{}", broadcast.id)) data-row { (broadcast.title) }
                }
                p class="row-meta" {
                    (broadcast.audience())
                    span { "by " (names::actor(&broadcast.author)) }
                }
            }
            div class="row-side" {
                @if let Some(at) = broadcast.accepted_at { p { (when::past(at, now)) } }
            }
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use hub_proto::Timestamp;
    use hub_proto::lifecycle::Broadcast;
    use time::macros::datetime;

    use super::{Heading, row};

    /// One to three agents with a label.
    pub(in super::super) fn broadcast(title: &str) -> Broadcast {
        Broadcast {
            broadcast_id: "bro_1".to_owned(),
            author: "human:alice".to_owned(),
            title: serde_json::to_string(title).unwrap(),
            labels: Some(r#"{"team":"<i>"}"#.to_owned()),
            recipients: 3,
            accepted_at: Some(Timestamp {
                seconds: datetime!(2026-06-04 18:00 UTC).unix_timestamp(),
                nanos: 0,
            }),
        }
    }

    #[test]
    fn a_row_is_text() {
        let heading = Heading::read(&broadcast("<img src=x>")).unwrap();
        let html = row(&heading, datetime!(2026-06-04 19:00 UTC)).into_string();
        assert!(!html.contains("<img") && !html.contains("<i>"), "{html}");
        for part in [
            "&lt;img src=x&gt;",
            "to 3 agents",
            "team: &lt;i&gt;",
            "by alice",
            "1 h ago",
        ] {
            assert!(html.contains(part), "{part} in {html}");
        }
    }
}
