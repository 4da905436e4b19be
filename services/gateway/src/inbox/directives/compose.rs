//! `/inbox/directives/new`: whom to write to, and the form.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::{IntoResponse, Redirect, Response};
use http::StatusCode;
use ma2h::error::{ErrorCode, Problem};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;
use time::OffsetDateTime;

use crate::app::App;
use crate::directives;
use crate::directory::clock;
use crate::principal::Role;

use super::super::agents::{self, Known};
use super::super::controls::{Complaints, Entry};
use super::super::links;
use super::super::page::{self, Place};
use super::super::session::{Posted, Session};
use super::super::writing::{self, Form, KEY, TO, may_write, new_key, why_not};
use super::{path, to};

/// The query of the form's address.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in super::super) struct Asked {
    /// The addressed agent.id.
    to: Option<String>,
    cursor: Option<String>,
}

impl Asked {
    fn of(query: Result<Query<Self>, QueryRejection>) -> Self {
        query.map(|Query(asked)| asked).unwrap_or_default()
    }

    fn agent(&self) -> Option<&str> {
        self.to.as_deref().filter(|agent| !agent.is_empty())
    }
}

/// `GET /inbox/directives/new`: the form, or the agents to choose from.
pub(in super::super) async fn compose(
    State(app): State<Arc<App>>,
    session: Session,
    asked: Result<Query<Asked>, QueryRejection>,
) -> Response {
    let asked = Asked::of(asked);
    let Some(agent) = asked.agent() else {
        return agents::choose(&app, &session, asked.cursor).await;
    };
    let nothing = Entry {
        typed: None,
        complaints: &Complaints::default(),
    };
    draw(&app, &session, agent, StatusCode::OK, &nothing, &new_key()).await
}

/// `POST /inbox/directives/new`. What was sent has a page of its own, to which the browser is led; what was not comes back
/// with all that was typed.
pub(in super::super) async fn send(
    State(app): State<Arc<App>>,
    asked: Result<Query<Asked>, QueryRejection>,
    Posted { session, fields }: Posted,
) -> Response {
    let asked = Asked::of(asked);
    let author = session.principal();
    let agent = match (asked.agent(), author.human(Role::Operator)) {
        (Some(agent), Ok(_)) => agent,
        (None, Ok(_)) => return page::problem(&Problem::not_found(), Some(&session)),
        (_, Err(problem)) => return page::problem(&problem, Some(&session)),
    };
    if !agents::is_addressable(agent) {
        // Its address would be another agent's.
        let problem = Problem::new(ErrorCode::UnknownDestination, "to: an address has no # in its id");
        return page::problem(&problem, Some(&session));
    }
    let key = fields.filled(KEY).map_or_else(new_key, str::to_owned);
    // What is typed is a time from now, by the clock that ends it.
    let now = clock::now(&app.pool).await;
    let (status, complaints, key) = match now.map(|now| writing::content(&fields, now)) {
        Err(problem) => writing::refused(&problem, key, objections),
        Ok(Err(complaints)) => (StatusCode::UNPROCESSABLE_ENTITY, complaints, key),
        Ok(Ok(mut directive)) => {
            directive.insert("to".to_owned(), format!("agent:{agent}").into());
            let directive = Value::Object(directive).to_string();
            match directives::submit(&app, &author, directive, Some(key.clone())).await {
                Ok(sent) => {
                    return Redirect::to(&path(&sent.directive_id)).into_response();
                }
                Err(problem) => writing::refused(&problem, key, objections),
            }
        }
    };
    let entry = Entry {
        typed: Some(&fields),
        complaints: &complaints,
    };
    draw(&app, &session, agent, status, &entry, &key).await
}

/// What the hub says against one to this agent.
fn objections(problem: &Problem) -> Complaints {
    match problem.code {
        ErrorCode::RateLimited => Complaints::about(
            TO,
            "Its mailbox is full. Try again when it has acknowledged some of what is in it.",
        ),
        ErrorCode::UnknownDestination => Complaints::about(TO, "There is no such agent any more."),
        _ => writing::objections(problem),
    }
}

async fn draw(
    app: &App,
    session: &Session,
    agent: &str,
    status: StatusCode,
    entry: &Entry<'_>,
    key: &str,
) -> Response {
    let known = match agents::find(app, session, agent).await {
        // Deleted while it was written to: what was typed is still shown.
        Err(problem) if problem.code == ErrorCode::NotFound && entry.typed.is_some() => None,
        Err(problem) => return page::problem(&problem, Some(session)),
        Ok(known) => Some(known),
    };
    let form = Form {
        action: to(agent),
        entry,
        key,
        kept_seconds: app.config.inbound.retention_seconds,
        send: "Send".to_owned(),
    };
    let now = OffsetDateTime::now_utc();
    let main = html! {
        main id="main" class="compose" tabindex="-1" data-page="compose" data-agent=(agent) {
            p class="back" { a href="/inbox/directives" data-back { "← Directives" } }
            h1 { "Write to an agent" }
            (addressee(agent, known.as_ref(), now))
            @if may_write(session) && agents::is_addressable(agent) {
                (form.draw(session))
            } @else {
                (why_not(session))
                (agents::why_not(agent))
            }
        }
    };
    let title = writing::title(agent, entry);
    (
        status,
        page::frame(&title, Some(session), Some(Place::Directives), &main),
    )
        .into_response()
}

/// Whether it listens is said before anything is sent (§15.4).
fn addressee(agent: &str, known: Option<&Known>, now: OffsetDateTime) -> Markup {
    html! {
        div class="card addressee" data-part="addressee" {
            p { span class="muted" { "To " } a class="agent-id" href=(links::to_agent(agent)) { (agent) } }
            @if let Some(known) = known {
                p { (known.presence.badge(now)) }
                p class="hint" { (known.presence.before_sending()) }
            }
        }
    }
}
