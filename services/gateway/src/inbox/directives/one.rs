//! `/inbox/directives/{id}`: one directive.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use hub_platform::cpu;
use ma2h::error::Problem;
use maud::{Markup, html};
use time::OffsetDateTime;

use crate::app::App;
use crate::directives;

use super::super::page::{self, Place};
use super::super::presence::{self, Presence};
use super::super::segment::Segment;
use super::super::session::Session;
use super::super::writing::{self, Content};
use super::super::{icons, links, names, when};
use super::track;
use super::written::Heading;

/// `GET /inbox/directives/{id}`.
pub(in super::super) async fn show(
    State(app): State<Arc<App>>,
    session: Session,
    Segment(id): Segment,
) -> Response {
    match load(&app, &session, id).await {
        Ok((heading, content)) => {
            let presence = if heading.track.is_over() {
                Presence::Untold
            } else {
                presence::of_one(&app, &session, &heading.agent).await
            };
            let main = draw(&heading, &content, &presence, OffsetDateTime::now_utc());
            page::frame(&heading.title, Some(&session), Some(Place::Directives), &main).into_response()
        }
        Err(problem) => page::problem(&problem, Some(&session)),
    }
}

async fn load(app: &App, session: &Session, id: String) -> Result<(Heading, Content), Problem> {
    let directive = directives::get(app, &session.principal(), id).await?;
    cpu::run(directive.directive.len(), move || {
        Ok((Heading::read(&directive)?, Content::read(&directive.directive)?))
    })
    .await
}

fn draw(heading: &Heading, content: &Content, presence: &Presence, now: OffsetDateTime) -> Markup {
    let state = heading.track.state.as_str();
    html! {
        main id="main" class="wide" tabindex="-1" data-page="directive" data-shows=(heading.id) data-agent=(heading.agent)
            data-status=(state) data-news=(format!("This directive is now {}.", names::track(state).0.to_lowercase())) {
            p class="back" { a href="/inbox/directives" data-back { "← Directives" } }
            article class="message" {
                (head(heading, now))
                div class="message-main" { (content.draw("Directive")) }
                div class="message-side" {
                    (track::draw(heading, presence, now))
                    section class="particulars" aria-label="Particulars" {
                        dl { dt { "Directive" } dd { (heading.id) } }
                        (writing::tags(&heading.tags))
                    }
                }
            }
        }
    }
}

fn head(heading: &Heading, now: OffsetDateTime) -> Markup {
    let (state, sign) = names::track(&heading.track.state);
    html! {
        header class="message-head" {
            p class="eyebrow" {
                (icons::directive())
                "Directive"
                (icons::priority(heading.priority))
                span class="pill" data-status=[(!heading.track.is_over()).then_some("open")] {
                    span aria-hidden="true" { (sign) " " } (state)
                }
                @if heading.sensitive { span class="pill" { "Sensitive" } }
            }
            h1 { (heading.title) }
            p class="byline" {
                span { "to " a href=(links::to_agent(&heading.agent)) { (heading.agent) } }
                span { "by " (names::actor(&heading.author)) }
                @if let Some(created_at) = heading.created_at { span { (when::past(created_at, now)) } }
            }
        }
    }
}
