//! `/inbox/broadcasts/{id}`: one broadcast, and where each of its agents stands.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::{IntoResponse, Response};
use hub_platform::cpu;
use hub_proto::lifecycle::{GetBroadcastReply, Recipient};
use ma2h::envelope::Priority;
use ma2h::error::Problem;
use ma2h::timestamp;
use maud::{Markup, html};
use serde::Deserialize;
use time::OffsetDateTime;

use crate::app::App;
use crate::broadcasts::{self, STATES, Wanted};
use crate::edge::page::PageParams;

use super::super::links::encode;
use super::super::page::{self, Place};
use super::super::presence::{self, Presence};
use super::super::segment::Segment;
use super::super::session::Session;
use super::super::writing::{self, Content};
use super::super::{icons, names, when};
use super::LIST;
use super::list::Heading;
use super::progress::{self, Progress};
use super::recipients;

/// Agents on one page.
const PAGE_ROWS: u32 = 50;

/// The query of its address.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default)]
pub(in super::super) struct Narrowed {
    /// A group of states.
    state: Option<String>,
    cursor: Option<String>,
}

/// What each directive says, beside what its page draws of any.
#[derive(Deserialize)]
struct Written {
    priority: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
    expires_at: Option<String>,
    #[serde(default)]
    sensitive: bool,
}

/// A broadcast as its page shows it.
struct Shown {
    heading: Heading,
    written: Written,
    content: Content,
    progress: Progress,
    /// A page of its agents, and whether each listens.
    recipients: Vec<(Recipient, Presence)>,
    next_cursor: Option<String>,
}

/// `GET /inbox/broadcasts/{id}`.
pub(in super::super) async fn show(
    State(app): State<Arc<App>>,
    session: Session,
    Segment(id): Segment,
    narrowed: Result<Query<Narrowed>, QueryRejection>,
) -> Response {
    let narrowed = narrowed
        .map(|Query(narrowed)| narrowed)
        .unwrap_or_default()
        .cleaned();
    match load(&app, &session, id, &narrowed).await {
        Ok(shown) => {
            let main = draw(&shown, &narrowed, OffsetDateTime::now_utc());
            page::frame(
                &shown.heading.title,
                Some(&session),
                Some(Place::Directives),
                &main,
            )
            .into_response()
        }
        Err(problem) => page::problem(&problem, Some(&session)),
    }
}

impl Narrowed {
    fn cleaned(self) -> Self {
        Self {
            state: self.state.filter(|state| progress::states(state).is_some()),
            cursor: self.cursor.filter(|cursor| !cursor.is_empty()),
        }
    }

    fn wanted(&self) -> Result<Wanted, Problem> {
        let listed = self
            .state
            .as_deref()
            .and_then(progress::states)
            .unwrap_or(&STATES);
        Ok(Wanted {
            listed: listed.iter().map(|state| (*state).to_owned()).collect(),
            page: PageParams::of(self.cursor.clone(), PAGE_ROWS).page()?,
        })
    }
}

/// The address of a page of it.
fn href(id: &str, state: Option<&str>, cursor: Option<&str>) -> String {
    let terms = [("state", state), ("cursor", cursor)];
    let terms = terms.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let query: Vec<String> = terms
        .map(|(name, value)| format!("{name}={}", encode(value)))
        .collect();
    if query.is_empty() {
        format!("{LIST}/{id}")
    } else {
        format!("{LIST}/{id}?{}", query.join("&"))
    }
}

async fn load(app: &App, session: &Session, id: String, narrowed: &Narrowed) -> Result<Shown, Problem> {
    let wanted = narrowed.wanted()?;
    let (mut reply, next_cursor) = broadcasts::get(app, &session.principal(), id, &wanted).await?;
    let recipients = std::mem::take(&mut reply.recipients);
    let ids = recipients
        .iter()
        .map(|recipient| recipient.agent.clone())
        .collect();
    let presences = presence::of(app, session, ids).await;
    let recipients = recipients.into_iter().zip(presences).collect();
    cpu::run(reply.content.len(), move || read(&reply, recipients, next_cursor)).await
}

fn read(
    reply: &GetBroadcastReply,
    recipients: Vec<(Recipient, Presence)>,
    next_cursor: Option<String>,
) -> Result<Shown, Problem> {
    let broadcast = reply.broadcast.as_ref().ok_or_else(Problem::internal)?;
    Ok(Shown {
        heading: Heading::read(broadcast)?,
        written: serde_json::from_str(&reply.content).map_err(|_| Problem::internal())?,
        content: Content::read(&reply.content)?,
        progress: Progress::of(&reply.states),
        recipients,
        next_cursor,
    })
}

fn draw(shown: &Shown, narrowed: &Narrowed, now: OffsetDateTime) -> Markup {
    let id = &shown.heading.id;
    let status = if shown.progress.is_over() { "over" } else { "open" };
    html! {
        main id="main" class="wide" tabindex="-1" data-page="broadcast" data-status=(status)
            data-news=[shown.progress.is_over().then(|| shown.progress.words())] {
            p class="back" { a href=(LIST) data-back { "← Broadcasts" } }
            article class="message" {
                (head(shown, now))
                div class="message-main" { (shown.content.draw("Broadcast")) }
                div class="message-side" {
                    section class="particulars" aria-label="Particulars" {
                        dl { dt { "Broadcast" } dd { (id) } }
                        (writing::tags(&shown.written.tags))
                    }
                }
                section class="message-rest" aria-labelledby="reach-title" {
                    h2 id="reach-title" class="section-title" { "How far it got" }
                    (shown.progress.draw(narrowed.state.as_deref(), |state| href(id, state, None)))
                    (listed(shown, narrowed, now))
                }
            }
        }
    }
}

fn head(shown: &Shown, now: OffsetDateTime) -> Markup {
    let Shown { heading, written, .. } = shown;
    let priority: Priority = written
        .priority
        .as_deref()
        .and_then(|name| name.parse().ok())
        .unwrap_or_default();
    let expires_at = written.expires_at.as_deref().and_then(timestamp::parse);
    html! {
        header class="message-head" {
            p class="eyebrow" {
                (icons::broadcast())
                "Broadcast"
                (icons::priority(priority))
                @if written.sensitive { span class="pill" { "Sensitive" } }
            }
            h1 { (heading.title) }
            p class="byline" {
                (heading.audience())
                span { "by " (names::actor(&heading.author)) }
                @if let Some(at) = heading.accepted_at { span { (when::past(at, now)) } }
                @if let (false, Some(at)) = (shown.progress.is_over(), expires_at) {
                    span class="expiry" { (when::deadline(at, now)) }
                }
            }
        }
    }
}

fn listed(shown: &Shown, narrowed: &Narrowed, now: OffsetDateTime) -> Markup {
    let (id, state) = (&shown.heading.id, narrowed.state.as_deref());
    html! {
        @if shown.recipients.is_empty() {
            p class="muted" { "None of them is there now." }
        } @else {
            ol class="rows card" { @for (told, presence) in &shown.recipients { (recipients::row(told, presence, now)) } }
        }
        @if narrowed.cursor.is_some() || shown.next_cursor.is_some() {
            nav class="paging" aria-label="Pages" {
                @if narrowed.cursor.is_some() { a class="button" href=(href(id, state, None)) { "First" } }
                @if let Some(cursor) = &shown.next_cursor {
                    a class="button" rel="next" href=(href(id, state, Some(cursor))) { "Next" }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use hub_proto::lifecycle::{Ack, GetBroadcastReply, Recipient, RecipientCount};
    use time::macros::datetime;

    use super::{Narrowed, Presence, draw, href, read};
    use crate::inbox::broadcasts::list::tests::broadcast;

    fn told(agent: &str, state: &str) -> Recipient {
        Recipient {
            agent: agent.to_owned(),
            state: state.to_owned(),
            directive_id: Some(format!("dir_{agent}")),
            ..Recipient::default()
        }
    }

    #[test]
    fn says_where_each_stands_and_no_more() {
        let mut gone = told("gone", "undeliverable");
        gone.directive_id = None;
        gone.reason = Some("unknown_destination".to_owned());
        let mut acked = told("acked", "acknowledged");
        acked.ack = Some(Ack {
            note: Some("<b>on it</b>".to_owned()),
            ..Ack::default()
        });
        let reply = GetBroadcastReply {
            broadcast: Some(broadcast("Stop")),
            content:
                r#"{"title":"Stop","body":"<i>now</i>","tags":["<b>"],"priority":"high","sensitive":true}"#
                    .to_owned(),
            states: ["acknowledged", "queued", "undeliverable"]
                .map(|state| RecipientCount {
                    state: state.to_owned(),
                    recipients: 1,
                })
                .into(),
            recipients: Vec::new(),
        };
        let recipients = [acked, gone, told("wait", "queued")].map(|told| (told, Presence::Unknown));
        let shown = read(&reply, recipients.into(), Some("next".to_owned())).unwrap();
        let narrowed = Narrowed::default();
        let html = draw(&shown, &narrowed, datetime!(2026-06-04 19:00 UTC)).into_string();
        assert!(!html.contains("<b>") && !html.contains("<i>"), "{html}");
        for part in [
            "1 of 3 acknowledged it.",
            "“&lt;b&gt;on it&lt;/b&gt;”",
            "it was no longer there",
            "href=\"/inbox/agents/gone\"",
            "href=\"/inbox/directives/dir_wait\"",
            "Never seen",
            "Sensitive",
            "?cursor=next",
            "data-status=\"open\"",
        ] {
            assert!(html.contains(part), "{part} in {html}");
        }
        assert_eq!(
            html.matches("Never seen").count(),
            1,
            "only who still waits: {html}"
        );
    }

    #[test]
    fn a_page_of_it_has_an_address() {
        assert_eq!(href("bro_1", None, None), "/inbox/broadcasts/bro_1");
        assert_eq!(
            href("bro_1", Some("queued"), Some("x")),
            "/inbox/broadcasts/bro_1?state=queued&cursor=x"
        );
        let odd = Narrowed {
            state: Some("lost".to_owned()),
            cursor: Some(String::new()),
        };
        assert_eq!(odd.cleaned(), Narrowed::default());
        let narrowed = Narrowed {
            state: Some("undeliverable".to_owned()),
            cursor: None,
        };
        assert_eq!(narrowed.wanted().unwrap().listed, ["bounced", "undeliverable"]);
    }
}
