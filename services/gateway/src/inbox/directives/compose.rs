//! `/inbox/directives/new`: whom to write to, and the form.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::{IntoResponse, Redirect, Response};
use http::StatusCode;
use hub_platform::ids;
use ma2h::envelope::Priority;
use ma2h::error::{ErrorCode, Problem};
use maud::{Markup, html};
use serde::Deserialize;
use time::OffsetDateTime;

use crate::app::App;
use crate::directives;
use crate::directory::clock;
use crate::principal::Role;

use super::super::agents::{self, Known};
use super::super::controls::{Complaints, Entry};
use super::super::page::{self, Place};
use super::super::session::{Posted, Session};
use super::super::{links, names};
use super::draft::{self, BODY, EXPIRES_IN, EXPIRES_UNIT, KEY, PRIORITY, TITLE, TO, UNITS};
use super::{may_write, to, why_not};

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
    let (status, complaints, key) = match now.map(|now| draft::read(agent, &fields, now)) {
        Err(problem) => refused(&problem, key),
        Ok(Err(complaints)) => (StatusCode::UNPROCESSABLE_ENTITY, complaints, key),
        Ok(Ok(directive)) => {
            match directives::submit(&app, &author, directive.to_string(), Some(key.clone())).await {
                Ok(sent) => {
                    let path = format!("/inbox/directives/{}", sent.directive_id);
                    return Redirect::to(&path).into_response();
                }
                Err(problem) => refused(&problem, key),
            }
        }
    };
    let entry = Entry {
        typed: Some(&fields),
        complaints: &complaints,
    };
    draw(&app, &session, agent, status, &entry, &key).await
}

/// What the form says of a refusal, and the key it goes on with.
fn refused(problem: &Problem, key: String) -> (StatusCode, Complaints, String) {
    let status = StatusCode::from_u16(problem.code.http_status());
    let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    if problem.code != ErrorCode::IdempotencyConflict {
        return (status, draft::objections(problem), key);
    }
    let told = "You sent this form before, and it is on its way as it was then. Send it again only if you want both.";
    (status, Complaints::general(told), new_key())
}

fn new_key() -> String {
    ids::mint("form")
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
    let days = app.config.inbound.retention_seconds / 86400;
    let form = Form {
        agent,
        entry,
        key,
        days,
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
    let title = format!("Write to {agent}");
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

/// What the form is drawn from.
struct Form<'a> {
    agent: &'a str,
    entry: &'a Entry<'a>,
    key: &'a str,
    /// For how long a directive is kept that says nothing of it.
    days: u64,
}

impl Form<'_> {
    fn draw(&self, session: &Session) -> Markup {
        let complaints = self.entry.complaints;
        html! {
            form id="compose" class="card stack" method="post" action=(to(self.agent)) data-draft
                data-kept[self.entry.typed.is_some()] {
                (session.csrf_field())
                input type="hidden" name=(KEY) value=(self.key);
                @if let Some(complaint) = complaints.general.as_deref().or(complaints.of(TO)) {
                    p class="error" role="alert" { (complaint) }
                } @else if !complaints.is_empty() {
                    p class="error" role="alert" { "Something is missing or does not fit; it is marked below." }
                }
                (self.title())
                (self.body())
                (self.priority())
                (self.expiry())
                div class="actions" { button class="button primary" type="submit" { "Send" } }
            }
        }
    }

    fn title(&self) -> Markup {
        let field = self.field(TITLE, "Title", None);
        // On a first visit the person begins here.
        let begins = self.entry.typed.is_none() || field.is_invalid();
        field.draw(&html! {
            input id=(TITLE) name=(TITLE) type="text" required autocomplete="off" value=(self.entry.text(TITLE))
                aria-describedby=[field.described_by()] aria-invalid=[field.invalid()] autofocus[begins];
        })
    }

    fn body(&self) -> Markup {
        let field = self.field(
            BODY,
            "Text",
            Some("Markdown. The agent decides what it makes of it."),
        );
        field.draw(&html! {
            textarea id=(BODY) name=(BODY) rows="7" aria-describedby=[field.described_by()] aria-invalid=[field.invalid()]
                autofocus[field.is_invalid()] { "\n" (self.entry.text(BODY)) }
        })
    }

    fn priority(&self) -> Markup {
        let field = self.field(PRIORITY, "Priority", None);
        let picked: Priority = self.entry.text(PRIORITY).parse().unwrap_or_default();
        field.draw(&html! {
            select id=(PRIORITY) name=(PRIORITY) aria-describedby=[field.described_by()] aria-invalid=[field.invalid()] {
                @for priority in [Priority::Low, Priority::Normal, Priority::High, Priority::Urgent] {
                    option value=(priority.as_str()) selected[priority == picked] { (names::priority(priority)) }
                }
            }
        })
    }

    fn expiry(&self) -> Markup {
        let hint = format!("Empty: it is kept for {} days.", self.days.max(1));
        let field = self.field(
            EXPIRES_IN,
            "Drop it if the agent did not get it within",
            Some(&hint),
        );
        let unit = match self.entry.text(EXPIRES_UNIT) {
            "" => "hours",
            unit => unit,
        };
        field.draw(&html! {
            div class="count" {
                input id=(EXPIRES_IN) name=(EXPIRES_IN) type="text" inputmode="numeric" autocomplete="off"
                    value=(self.entry.text(EXPIRES_IN)) aria-describedby=[field.described_by()]
                    aria-invalid=[field.invalid()] autofocus[field.is_invalid()];
                select name=(EXPIRES_UNIT) aria-label="counted in" {
                    @for (name, _) in UNITS { option value=(name) selected[name == unit] { (name) } }
                }
            }
        })
    }

    fn field<'a>(&'a self, id: &'static str, label: &'static str, hint: Option<&'a str>) -> Field<'a> {
        Field {
            id,
            label,
            hint,
            complaint: self.entry.complaints.of(id),
        }
    }
}

/// An element with what stands around it.
struct Field<'a> {
    id: &'static str,
    label: &'static str,
    hint: Option<&'a str>,
    complaint: Option<&'a str>,
}

impl Field<'_> {
    fn is_invalid(&self) -> bool {
        self.complaint.is_some()
    }

    fn invalid(&self) -> Option<&'static str> {
        self.is_invalid().then_some("true")
    }

    fn described_by(&self) -> Option<String> {
        let parts = [
            self.hint.map(|_| format!("{}-hint", self.id)),
            self.complaint.map(|_| format!("{}-error", self.id)),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(" "))
    }

    fn draw(&self, element: &Markup) -> Markup {
        html! {
            div class="field" {
                label for=(self.id) { (self.label) }
                @if let Some(hint) = self.hint { p id=(format!("{}-hint", self.id)) class="hint" { (hint) } }
                (element)
                @if let Some(complaint) = self.complaint {
                    p id=(format!("{}-error", self.id)) class="error" { (complaint) }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use ma2h::error::{ErrorCode, Problem};

    use super::{Complaints, Entry, Form, refused};
    use crate::inbox::fields::Fields;
    use crate::inbox::session::tests::session;
    use crate::principal::Role;

    fn drawn(typed: Option<&Fields>, complaints: &Complaints) -> String {
        let entry = Entry { typed, complaints };
        let form = Form {
            agent: "a/b",
            entry: &entry,
            key: "form_1",
            days: 30,
        };
        form.draw(&session("one", Role::Operator)).into_string()
    }

    #[test]
    fn what_was_typed_stays_beside_what_is_wrong_with_it() {
        let hurt = "\"><script>x</script>";
        let typed = Fields::from([
            ("title", hurt),
            ("body", hurt),
            ("priority", "urgent"),
            ("expires_in", "soon"),
            ("expires_unit", "days"),
        ]);
        let html = drawn(
            Some(&typed),
            &Complaints::about("expires_in", "Write a whole number."),
        );
        assert!(!html.contains("<script"), "{html}");
        assert_eq!(html.matches("&lt;script&gt;").count(), 2, "{html}");
        for part in [
            "<option value=\"urgent\" selected>",
            "<option value=\"days\" selected>",
            "value=\"soon\" aria-describedby=\"expires_in-hint expires_in-error\" aria-invalid=\"true\" autofocus",
            "<p id=\"expires_in-error\" class=\"error\">Write a whole number.</p>",
            "data-kept",
            "name=\"key\" value=\"form_1\"",
        ] {
            assert!(html.contains(part), "{part} in {html}");
        }
    }

    #[test]
    fn a_form_that_was_sent_goes_on_under_another_key() {
        let conflict = Problem::new(
            ErrorCode::IdempotencyConflict,
            "idempotency-key: was used for another body",
        );
        let (status, complaints, key) = refused(&conflict, "form_1".to_owned());
        assert_eq!(status, 409);
        assert!(key != "form_1" && complaints.general.is_some());
        let (status, complaints, key) = refused(&Problem::unavailable("away"), "form_1".to_owned());
        assert_eq!((status.as_u16(), key.as_str()), (503, "form_1"));
        assert!(complaints.general.is_some());
    }
}
