//! The controls a person answers with: one per verb and mode, and what they post.
//!
//! Pure: a message and what was typed → a part of a page, or the body of a resolve request (§8.8).

mod comment;
mod complaints;
mod confirm;
pub(super) mod form;
mod input;
mod select;
mod standing;
mod task;

use ma2h::envelope::{Ask, Mode};
use maud::{Markup, html};
use serde_json::{Map, Value};

pub(super) use complaints::Complaints;
pub(super) use standing::Standing;

use super::fields::Fields;
use super::session::Session;
use super::shown::Shown;

/// The name of the buttons that end a message in another way than by an answer.
const RESOLUTION: &str = "resolution";

/// What a form is filled with: on a first visit nothing, after a refusal what was typed.
pub(super) struct Entry<'a> {
    /// What was posted.
    pub(super) typed: Option<&'a Fields>,
    /// What was wrong with it.
    pub(super) complaints: &'a Complaints,
}

impl Entry<'_> {
    /// What was typed into a field.
    pub(super) fn text(&self, name: &str) -> &str {
        self.typed.and_then(|typed| typed.get(name)).unwrap_or_default()
    }
}

/// Draws the control of an open ask or task; nothing for a notice.
pub(super) fn draw(shown: &Shown, session: &Session, entry: &Entry<'_>) -> Markup {
    let standing = Standing::of(&shown.envelope, &session.human);
    let (title, control) = match (&shown.envelope.ask, &shown.envelope.task) {
        (Some(ask), _) => ("Your answer", draw_ask(ask, shown, &standing, entry)),
        (None, Some(task)) => ("Your part", task::draw(task, &standing, entry)),
        (None, None) => return html! {},
    };
    html! {
        section class="card answer" aria-labelledby="answer-title" {
            h2 id="answer-title" { (title) }
            @if let Some(reason) = standing.reason() {
                p class="notice" { (reason) }
            }
            @if let Some(complaint) = &entry.complaints.general {
                p class="error" role="alert" { (complaint) }
            } @else if !entry.complaints.is_empty() {
                p class="error" role="alert" { "Something is missing or does not fit; it is marked below." }
            }
            form id="answer" class="stack" method="post" action=(shown.path()) data-draft data-kept[entry.typed.is_some()] {
                (session.csrf_field())
                fieldset class="bare stack" disabled[!standing.may()] {
                    legend class="hidden" { (title) }
                    (control)
                }
            }
        }
    }
}

fn draw_ask(ask: &Ask, shown: &Shown, standing: &Standing, entry: &Entry<'_>) -> Markup {
    let expires = shown.envelope.expires_at.is_some();
    html! {
        @if ask.allow_respond {
            @match ask.mode {
                Mode::Select => { (select::draw(ask, entry)) }
                Mode::Confirm => { (confirm::draw(ask, entry)) }
                Mode::Input => { (input::draw(&shown.fields, entry)) }
            }
        } @else if ask.allow_ignore {
            p { "The agent takes no answer to this; you can only decline." }
        } @else {
            p { "The agent takes neither an answer nor a refusal; it waits for this to expire, or withdraws it." }
        }
        @if expires { p class="hint" { (in_silence(ask)) } }
        @if standing.may() && (ask.allow_respond || ask.allow_ignore) { (comment::draw(entry)) }
        div class="actions" {
            @if ask.allow_respond && ask.mode != Mode::Confirm {
                button class="button primary" type="submit" name=(RESOLUTION) value="answered" { "Send answer" }
            }
            @if ask.allow_ignore {
                button class="button" type="submit" name=(RESOLUTION) value="declined" formnovalidate { "Decline" }
            }
        }
    }
}

/// What comes of an ask that nobody answers in time.
fn in_silence(ask: &Ask) -> String {
    let default = ask.default_on_expire.as_ref();
    let option = |value: &Value| {
        ask.options
            .iter()
            .find(|option| Some(option.value.as_str()) == value.as_str())
    };
    match (default, default.and_then(option)) {
        (_, Some(option)) => format!(
            "If nobody answers in time, the agent goes by “{}”.",
            select::label(option)
        ),
        (Some(_), None) => "If nobody answers in time, the agent goes by a default of its own.".to_owned(),
        (None, _) => "If nobody answers in time, it ends without an answer.".to_owned(),
    }
}

/// The body of the resolve request that a posted form stands for.
pub(super) fn read(shown: &Shown, posted: &Fields) -> Result<Value, Complaints> {
    let mut body = match (&shown.envelope.ask, &shown.envelope.task) {
        (Some(ask), _) => read_ask(ask, shown, posted)?,
        (None, Some(task)) => task::read(task, posted)?,
        (None, None) => return Err(Complaints::general("A notice takes no answer.")),
    };
    if let Some(comment) = comment::read(posted) {
        body.insert("comment".to_owned(), comment.into());
    }
    Ok(Value::Object(body))
}

fn read_ask(ask: &Ask, shown: &Shown, posted: &Fields) -> Result<Map<String, Value>, Complaints> {
    if posted.get(RESOLUTION) == Some("declined") {
        return Ok(resolution("declined"));
    }
    let value = match ask.mode {
        Mode::Select => Value::String(select::read(ask, posted)?),
        Mode::Confirm => Value::String(confirm::read(ask, posted)?),
        Mode::Input => input::read(ask, &shown.fields, posted)?,
    };
    let mut body = resolution("answered");
    body.insert("value".to_owned(), value);
    Ok(body)
}

fn resolution(name: &str) -> Map<String, Value> {
    Map::from_iter([(RESOLUTION.to_owned(), name.into())])
}

#[cfg(test)]
mod tests;
