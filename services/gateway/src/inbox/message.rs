//! `/inbox/{id}`: a message, and the form that answers it.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use http::StatusCode;
use hub_platform::cpu;
use ma2h::envelope::Resolution;
use ma2h::error::{ErrorCode, Problem};
use ma2h::status::Status;
use maud::{Markup, PreEscaped, html};
use time::OffsetDateTime;

use crate::app::App;
use crate::messages;

use super::controls::{self, Complaints, Entry};
use super::filter::Filter;
use super::page::{self, Place};
use super::presence::{self, Presence};
use super::segment::Segment;
use super::session::{Posted, Session};
use super::shown::Shown;
use super::{context, icons, links, names, outcome, when};

/// `GET /inbox/{id}`.
pub(super) async fn show(State(app): State<Arc<App>>, session: Session, Segment(id): Segment) -> Response {
    match load(&app, &session, &id).await {
        Ok(shown) => {
            let nothing = Entry {
                typed: None,
                complaints: &Complaints::default(),
            };
            draw(&app, &session, &shown, &Turn::plain(nothing)).await
        }
        Err(problem) => page::problem(&problem, Some(&session)),
    }
}

/// `POST /inbox/{id}`. What was taken is shown by the page that the browser is sent to; what was not, at once.
pub(super) async fn answer(State(app): State<Arc<App>>, Segment(id): Segment, posted: Posted) -> Response {
    let Posted { session, fields } = posted;
    let shown = match load(&app, &session, &id).await {
        Ok(shown) => shown,
        Err(problem) => return page::problem(&problem, Some(&session)),
    };
    if !shown.is_open() {
        return too_late(&app, &session, &shown).await;
    }
    let complaints = match controls::read(&shown, &fields) {
        Ok(body) => match messages::resolve(&app, &session.principal(), &id, body.to_string(), None).await {
            Ok(outcome) if outcome.applied => return Redirect::to(&shown.path()).into_response(),
            Ok(_) => return reload_too_late(&app, &session, &id).await,
            Err(problem) if is_about_the_answer(problem.code) => Complaints::general(problem.message),
            Err(problem) => return page::problem(&problem, Some(&session)),
        },
        Err(complaints) => complaints,
    };
    let entry = Entry {
        typed: Some(&fields),
        complaints: &complaints,
    };
    let turn = Turn {
        status: StatusCode::UNPROCESSABLE_ENTITY,
        notice: None,
        entry,
    };
    draw(&app, &session, &shown, &turn).await
}

/// `POST /inbox/{id}/redeliver`: has an answer sent to its agent again, unless it has been on its way since the form was drawn.
pub(super) async fn redeliver(State(app): State<Arc<App>>, Segment(id): Segment, posted: Posted) -> Response {
    let Posted { session, fields } = posted;
    let redelivered = async {
        let principal = session.principal();
        let shown = load(&app, &session, &id).await?;
        let pushes = messages::attempts(&app, &principal, &shown.id).await?;
        let after = fields.get(outcome::AFTER).unwrap_or_default();
        if outcome::is_given_up(&pushes) && after == outcome::after(&pushes) {
            messages::redeliver_after(&app, &principal, &shown.id, after).await?;
        }
        Ok(shown.path())
    };
    match redelivered.await {
        Ok(path) => Redirect::to(&path).into_response(),
        Err(problem) => page::problem(&problem, Some(&session)),
    }
}

/// `GET /inbox/{id}/redeliver`: whoever had to sign in first is back at the page of the form.
pub(super) async fn after_redeliver(
    State(app): State<Arc<App>>,
    session: Session,
    Segment(id): Segment,
) -> Response {
    match load(&app, &session, &id).await {
        Ok(shown) => Redirect::to(&shown.path()).into_response(),
        Err(problem) => page::problem(&problem, Some(&session)),
    }
}

fn is_about_the_answer(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::InvalidField | ErrorCode::ValidationError)
}

async fn load(app: &App, session: &Session, id: &str) -> Result<Shown, Problem> {
    let message = messages::get(app, &session.principal(), id).await?;
    cpu::run(message.envelope.len(), move || Shown::read(message)).await
}

async fn reload_too_late(app: &App, session: &Session, id: &str) -> Response {
    match load(app, session, id).await {
        Ok(shown) => too_late(app, session, &shown).await,
        Err(problem) => page::problem(&problem, Some(session)),
    }
}

/// First terminal wins (§7): the person is told plainly that it was another's.
async fn too_late(app: &App, session: &Session, shown: &Shown) -> Response {
    let own = format!("human:{}", session.human.id);
    let notice = match (shown.status, shown.actor.as_deref()) {
        (_, Some(actor)) if actor == own => {
            "You had already answered this. What you sent now was not used.".to_owned()
        }
        (Status::Ended(Resolution::Expired), _) => {
            "This expired before your answer came. What you sent was not used.".to_owned()
        }
        (Status::Ended(Resolution::Cancelled), _) => {
            "The agent withdrew this before your answer came. What you sent was not used.".to_owned()
        }
        (_, Some(actor)) => format!("{} was faster. What you sent was not used.", names::actor(actor)),
        (_, None) => "Somebody else was faster. What you sent was not used.".to_owned(),
    };
    let entry = Entry {
        typed: None,
        complaints: &Complaints::default(),
    };
    draw(
        app,
        session,
        shown,
        &Turn {
            status: StatusCode::CONFLICT,
            notice: Some(notice),
            entry,
        },
    )
    .await
}

/// What is particular about this drawing of the page.
struct Turn<'a> {
    status: StatusCode,
    notice: Option<String>,
    entry: Entry<'a>,
}

impl<'a> Turn<'a> {
    fn plain(entry: Entry<'a>) -> Self {
        Self {
            status: StatusCode::OK,
            notice: None,
            entry,
        }
    }
}

async fn draw(app: &App, session: &Session, shown: &Shown, turn: &Turn<'_>) -> Response {
    let pushes = if shown.is_resolved() && shown.envelope.callback.is_some() {
        // Without it the page still says all that matters.
        messages::attempts(app, &session.principal(), &shown.id)
            .await
            .ok()
    } else {
        None
    };
    let agent = &shown.envelope.agent_id;
    let presence = if shown.is_open() {
        presence::of_one(app, session, agent).await
    } else {
        Presence::Untold
    };
    let now = OffsetDateTime::now_utc();
    let main = html! {
        main id="main" class="wide" tabindex="-1" data-page="message" data-shows=(shown.id) data-agent=(agent)
            data-status=(shown.status.as_str()) data-news="This message was just decided." {
            p class="back" { a href="/inbox" data-back { "← Inbox" } }
            @if let Some(notice) = &turn.notice { p class="notice strong" role="alert" { (notice) } }
            article class="message" {
                (heading(shown, now))
                div class="message-main" {
                    (body(shown))
                    (context::draw(&shown.context))
                }
                div class="message-side" {
                    @if shown.is_open() {
                        (presence.while_asking(shown.envelope.callback.is_some(), now))
                        (controls::draw(shown, session, &turn.entry))
                    } @else if shown.is_resolved() {
                        (outcome::draw(shown, session, pushes.as_ref(), now))
                    }
                    (particulars(shown))
                }
            }
        }
    };
    (
        turn.status,
        page::frame(&shown.envelope.title, Some(session), Some(Place::Inbox), &main),
    )
        .into_response()
}

fn heading(shown: &Shown, now: OffsetDateTime) -> Markup {
    let envelope = &shown.envelope;
    let (status, sign) = names::status(shown.status);
    html! {
        header class="message-head" {
            p class="eyebrow" {
                (icons::kind(envelope.kind))
                (names::kind(envelope.kind, envelope.ask.as_ref().map(|ask| ask.mode)))
                (icons::priority(envelope.priority))
                @if shown.is_resolved() || shown.is_open() {
                    span class="pill" data-status=(shown.status.as_str()) { span aria-hidden="true" { (sign) " " } (status) }
                }
                @if envelope.sensitive { span class="pill" { "Sensitive" } }
            }
            h1 { (envelope.title) }
            p class="byline" {
                span { "from " a href=(links::to_agent(&envelope.agent_id)) { (envelope.agent_id) } }
                @if let Some(project) = &envelope.project {
                    span { "in " a href=(Filter::of_project(project).href()) { (project) } }
                }
                @if let Some(accepted_at) = shown.accepted_at { span { (when::past(accepted_at, now)) } }
                @if let (true, Some(expires_at)) = (shown.is_open(), envelope.expires_at) {
                    span class="expiry" { (when::deadline(expires_at, now)) }
                }
            }
        }
    }
}

fn body(shown: &Shown) -> Markup {
    let body = shown.body_html.as_deref();
    html! {
        @if let Some(body) = body {
            section class="card prose" aria-label="Message" { (PreEscaped(body)) }
        }
        @if let Some(task) = &shown.envelope.task {
            section class="card" aria-labelledby="instructions-title" {
                h2 id="instructions-title" { "What to do" }
                p class="plain-text" { (task.instructions) }
                @if let Some(verification) = &task.verification {
                    h3 { "How to tell that it worked" }
                    p class="plain-text" { (verification) }
                }
            }
        }
        @if body.is_none() && shown.envelope.task.is_none() && shown.context.is_empty() {
            p class="muted" { "The agent wrote nothing beyond the title." }
        }
    }
}

/// What only sometimes matters.
fn particulars(shown: &Shown) -> Markup {
    let envelope = &shown.envelope;
    html! {
        section class="particulars" aria-label="Particulars" {
            dl {
                dt { "Run" } dd { (envelope.run_id) }
                dt { "Runs on" } dd { (envelope.runtime) }
                @for (name, value) in &envelope.labels { dt { (name) } dd { (value) } }
                dt { "Message" } dd { (shown.id) }
            }
            @if !envelope.tags.is_empty() {
                ul class="tags" aria-label="Tags" {
                    @for tag in &envelope.tags { li { a href=(Filter::of_tag(tag).href()) { (tag) } } }
                }
            }
        }
    }
}
