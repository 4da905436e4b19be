//! `/inbox/agents/{id}`: one agent.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use ma2h::error::Problem;
use maud::{Markup, html};
use time::OffsetDateTime;

use crate::app::App;

use super::super::directives::{self, Listed};
use super::super::filter::Filter;
use super::super::icons;
use super::super::page::{self, Place};
use super::super::segment::Segment;
use super::super::session::Session;
use super::super::writing;
use super::{Known, find, is_addressable, waiting, why_not};

/// Its newest directives that are shown.
const NEWEST_ROWS: u32 = 10;

/// `GET /inbox/agents/{id}`.
pub(in super::super) async fn show(
    State(app): State<Arc<App>>,
    session: Session,
    Segment(id): Segment,
) -> Response {
    page_of(&app, &session, &id).await
}

/// The page of an agent, by whatever address.
pub(super) async fn page_of(app: &App, session: &Session, id: &str) -> Response {
    match read(app, session, id).await {
        Ok((known, newest)) => {
            let main = draw(session, &known, &newest, OffsetDateTime::now_utc());
            page::frame(id, Some(session), Some(Place::Agents), &main).into_response()
        }
        Err(problem) => page::problem(&problem, Some(session)),
    }
}

async fn read(app: &App, session: &Session, id: &str) -> Result<(Known, Vec<Listed>), Problem> {
    let known = find(app, session, id).await?;
    let newest = directives::newest_to(app, session, id, NEWEST_ROWS).await?;
    Ok((known, newest))
}

fn draw(session: &Session, agent: &Known, newest: &[Listed], now: OffsetDateTime) -> Markup {
    html! {
        main id="main" class="wide" tabindex="-1" data-page="agent" data-agent=(agent.id) {
            p class="back" { a href="/inbox/agents" data-back { "← Agents" } }
            article class="message" {
                header class="message-head" {
                    p class="eyebrow" { (icons::agent()) "Agent" }
                    h1 class="agent-id" { (agent.id) }
                    p class="byline" {
                        span { (agent.presence.badge(now)) }
                        @for (name, value) in &agent.labels { span { (name) ": " (value) } }
                    }
                }
                div class="message-main" {
                    section aria-labelledby="newest-title" {
                        h2 id="newest-title" class="section-title" { "What people told it" }
                        @if newest.is_empty() {
                            p class="muted" { "Nothing yet." }
                        } @else {
                            ol class="rows card" { @for directive in newest { (directives::row(directive, false, now)) } }
                            p class="more" { a href=(directives::all_to(&agent.id)) { "All directives to it" } }
                        }
                    }
                }
                div class="message-side" { (mailbox(session, agent)) }
            }
        }
    }
}

fn mailbox(session: &Session, agent: &Known) -> Markup {
    let nothing = agent.waiting.queued + agent.waiting.delivered == 0;
    html! {
        section class="card stack" aria-labelledby="mailbox-title" {
            h2 id="mailbox-title" { "Its mailbox" }
            p { @if nothing { "Nothing waits in it." } @else { (waiting(&agent.waiting)) "." } }
            @if writing::may_write(session) && is_addressable(&agent.id) {
                a class="button primary" href=(directives::to(&agent.id)) { "Write to it" }
            } @else {
                (writing::why_not(session))
                (why_not(&agent.id))
            }
            p { a href=(Filter::of_agent(&agent.id).href()) { "What it sent" } }
        }
    }
}
