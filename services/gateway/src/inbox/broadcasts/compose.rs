//! `/inbox/broadcasts/new`: the form, once it is known whom it is for.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::{IntoResponse, Redirect, Response};
use http::StatusCode;
use ma2h::error::{ErrorCode, Problem};
use maud::html;
use time::OffsetDateTime;

use crate::app::App;
use crate::broadcasts;
use crate::directory::clock;
use crate::principal::Role;

use super::super::controls::{Complaints, Entry};
use super::super::page::{self, Place};
use super::super::session::{Posted, Session};
use super::super::writing::{self, Form, KEY, Way, may_write, new_key};
use super::audience::{Asked, Audience};
use super::{LIST, by_labels, choose, reach};

/// `GET /inbox/broadcasts/new`: the form; or, where the choice does not stand, the page on which it was made.
pub(in super::super) async fn compose(
    State(app): State<Arc<App>>,
    session: Session,
    asked: Result<Query<Vec<(String, String)>>, QueryRejection>,
) -> Response {
    let asked = Asked::of(asked);
    let audience = match asked.audience() {
        Ok(audience) => audience,
        Err(complaint) => return choose_again(&app, &session, &asked, &complaint).await,
    };
    let nothing = Entry {
        typed: None,
        complaints: &Complaints::default(),
    };
    let turn = Turn {
        status: StatusCode::OK,
        entry: &nothing,
        key: &new_key(),
    };
    draw(&app, &session, (&asked, &audience), &turn).await
}

/// `POST /inbox/broadcasts/new`. What was sent has a page of its own, to which the browser is led; what was not comes back
/// with all that was typed.
pub(in super::super) async fn send(
    State(app): State<Arc<App>>,
    asked: Result<Query<Vec<(String, String)>>, QueryRejection>,
    Posted { session, fields }: Posted,
) -> Response {
    let asked = Asked::of(asked);
    let author = session.principal();
    if let Err(problem) = author.human(Role::Operator) {
        return page::problem(&problem, Some(&session));
    }
    let Ok(audience) = asked.audience() else {
        return page::problem(&Problem::not_found(), Some(&session));
    };
    let key = fields.filled(KEY).map_or_else(new_key, str::to_owned);
    // What is typed is a time from now, by the clock that ends it.
    let now = clock::now(&app.pool).await;
    let (status, complaints, key) = match now.map(|now| writing::content(&fields, now)) {
        Err(problem) => writing::refused(&problem, key, objections),
        Ok(Err(complaints)) => (StatusCode::UNPROCESSABLE_ENTITY, complaints, key),
        Ok(Ok(content)) => {
            match broadcasts::submit(&app, &author, audience.told(content), Some(key.clone())).await {
                Ok(sent) => return Redirect::to(&format!("{LIST}/{}", sent.broadcast_id)).into_response(),
                Err(problem) => writing::refused(&problem, key, objections),
            }
        }
    };
    let entry = Entry {
        typed: Some(&fields),
        complaints: &complaints,
    };
    let turn = Turn {
        status,
        entry: &entry,
        key: &key,
    };
    draw(&app, &session, (&asked, &audience), &turn).await
}

/// What the hub says against one.
fn objections(problem: &Problem) -> Complaints {
    match problem.code {
        ErrorCode::UnknownDestination => {
            Complaints::general("Not all of them are there any more: choose again whom it is for.")
        }
        _ => writing::objections(problem),
    }
}

async fn choose_again(app: &App, session: &Session, asked: &Asked, complaint: &str) -> Response {
    match asked.way() {
        Way::Labels => by_labels::draw(app, session, asked, Some(complaint)).await,
        Way::One | Way::Several => choose::draw(app, session, asked, Some(complaint)).await,
    }
}

/// What is particular about this drawing of the form.
struct Turn<'a> {
    status: StatusCode,
    entry: &'a Entry<'a>,
    key: &'a str,
}

async fn draw(
    app: &App,
    session: &Session,
    (asked, audience): (&Asked, &Audience),
    turn: &Turn<'_>,
) -> Response {
    let reach = match reach::of(app, session, audience).await {
        Ok(reach) => reach,
        Err(problem) => return page::problem(&problem, Some(session)),
    };
    let objection = reach.objection(audience);
    // What was typed is shown also where nobody is left to tell it.
    if let (Some(objection), None) = (&objection, turn.entry.typed) {
        return choose_again(app, session, asked, objection).await;
    }
    let form = Form {
        action: audience.href(),
        entry: turn.entry,
        key: turn.key,
        kept_seconds: app.config.inbound.retention_seconds,
        send: format!("Send to {}", reach.count()),
    };
    let main = html! {
        main id="main" class="compose" tabindex="-1" data-page="broadcasting" {
            p class="back" { a href=(audience.change()) data-back { "← Choose others" } }
            h1 { "Write to " (reach.count()) }
            @if let Some(objection) = objection { p class="error" { (objection) } }
            (reach.draw(audience, OffsetDateTime::now_utc()))
            @if may_write(session) { (form.draw(session)) } @else { (writing::why_not(session)) }
        }
    };
    let title = writing::title(&reach.count(), turn.entry);
    (
        turn.status,
        page::frame(&title, Some(session), Some(Place::Directives), &main),
    )
        .into_response()
}
