//! What became of an ask or a task: what, who, when, and whether the agent knows; and the form that has it sent again.

use hub_proto::lifecycle::{Attempt, ListAttemptsReply};
use ma2h::envelope::Mode;
use maud::{Markup, html};
use serde_json::Value;
use serde_json::value::RawValue;
use time::OffsetDateTime;

use crate::principal::Role;

use super::json_text::laid_out;
use super::session::Session;
use super::shown::{Answer, Delivery, Shown};
use super::{names, when};

/// The attempt that the form was drawn after: it counts only until there is another.
pub(super) const AFTER: &str = "after";

/// Whether nothing is sent any more.
pub(super) fn is_given_up(pushes: &ListAttemptsReply) -> bool {
    matches!(pushes.state.as_str(), "refused" | "exhausted")
}

/// The last attempt, as a form names it.
pub(super) fn after(pushes: &ListAttemptsReply) -> String {
    let last = pushes.attempts.last();
    last.map_or_else(String::new, |last| format!("{}.{}", last.generation, last.number))
}

/// Draws it; `pushes` where the agent wanted it pushed.
pub(super) fn draw(
    shown: &Shown,
    session: &Session,
    pushes: Option<&ListAttemptsReply>,
    now: OffsetDateTime,
) -> Markup {
    let (status, sign) = names::status(shown.status);
    let answer = shown
        .response
        .as_ref()
        .and_then(|response| response.response.as_ref());
    html! {
        section class="card outcome" aria-labelledby="outcome-title" {
            h2 id="outcome-title" { span class="sign" aria-hidden="true" { (sign) } " " (status) }
            p class="muted" { (headline(shown)) @if let Some(at) = shown.changed_at { ", " (when::past(at, now)) } }
            @if let Some(answer) = answer { (details(shown, answer)) }
            (on_its_way(shown.delivery.as_ref(), pushes, now))
            @if let Some(pushes) = pushes { (once_more(shown, session, pushes)) }
        }
    }
}

fn headline(shown: &Shown) -> String {
    let defaulted = shown.response.as_ref().is_some_and(|response| response.defaulted);
    let by = shown.actor.as_deref().map(names::actor);
    match (shown.status.as_str(), by) {
        ("expired", _) if defaulted => {
            "Nobody answered in time, so the agent’s own default applies".to_owned()
        }
        ("expired", _) => "Nobody answered in time, and the agent gave no default".to_owned(),
        ("cancelled", _) if shown.actor.as_deref() == Some("system:undeliverable") => {
            "It could not be delivered".to_owned()
        }
        ("cancelled", _) => "The agent no longer needs an answer".to_owned(),
        (_, Some(by)) => format!("By {by}"),
        (_, None) => "Decided".to_owned(),
    }
}

fn details(shown: &Shown, answer: &Answer) -> Markup {
    html! {
        @if let Some(given) = &answer.value { (value(shown, given, answer.edited)) }
        @if !answer.checklist.is_empty() {
            ul class="steps" {
                @for step in &answer.checklist {
                    li {
                        span aria-hidden="true" { (if step.done { "☑ " } else { "☐ " }) }
                        span class="hidden" { (if step.done { "done: " } else { "not done: " }) }
                        (step.text)
                    }
                }
            }
        }
        @if let Some(comment) = &answer.comment {
            h3 { "Comment" }
            p class="plain-text said" { (comment) }
        }
    }
}

fn value(shown: &Shown, given: &RawValue, edited: bool) -> Markup {
    let ask = shown.envelope.ask.as_ref();
    if ask.is_some_and(|ask| ask.mode == Mode::Input) {
        return filled_in(shown, given);
    }
    let Ok(Value::String(text)) = serde_json::from_str(given.get()) else {
        return html! {};
    };
    let option = ask.and_then(|ask| ask.options.iter().find(|option| option.value == text));
    html! {
        @match option {
            Some(option) => {
                p class="decision" { (option.label) }
                @if let Some(description) = &option.description { p class="hint" { (description) } }
            }
            None if shown.envelope.sensitive => p class="decision" { (hidden_value()) },
            // Text of a person: shown as that, never as markup (§9.6).
            None => p class="plain-text said" { (text) },
        }
        @if edited { p { span class="pill" { "Outside the list" } } }
    }
}

/// The object that answers an ask of mode `input`, field by field.
fn filled_in(shown: &Shown, given: &RawValue) -> Markup {
    let members = ma2h::json::members(given.get()).unwrap_or_default();
    html! {
        dl class="filled-in" {
            @for (name, value) in members {
                @let field = shown.fields.iter().find(|field| field.name == name);
                @let sensitive = shown.envelope.sensitive || field.is_some_and(|field| field.sensitive);
                dt { (field.map_or(name.as_str(), |field| field.label.as_str())) }
                dd { @if sensitive { (hidden_value()) } @else { (plain(value)) } }
            }
        }
    }
}

fn hidden_value() -> Markup {
    html! { span class="muted" { "Not shown, because it is sensitive" } }
}

fn plain(value: &RawValue) -> Markup {
    match serde_json::from_str(value.get()) {
        Ok(Value::String(text)) => html! { span class="plain-text" { (text) } },
        Ok(Value::Bool(true)) => html! { "Yes" },
        Ok(Value::Bool(false)) => html! { "No" },
        Ok(Value::Null) => html! { span class="muted" { "none" } },
        Ok(Value::Array(_) | Value::Object(_)) => {
            html! { pre class="code" tabindex="0" { (laid_out(value.get())) } }
        }
        // A number, with the digits it was given.
        _ => html! { (value.get()) },
    }
}

fn on_its_way(
    delivery: Option<&Delivery>,
    pushes: Option<&ListAttemptsReply>,
    now: OffsetDateTime,
) -> Markup {
    let state = delivery.map(|delivery| delivery.state.as_str());
    let (sign, words) = match state {
        Some("delivered-to-agent") => ("✓", "The agent has the answer"),
        Some("acknowledged") => ("✓", "The agent confirmed that it has the answer"),
        Some("expired") => ("✕", "The agent did not collect the answer in time"),
        _ => ("…", "The agent has not collected the answer yet"),
    };
    let ack = delivery.and_then(|delivery| delivery.ack.as_ref());
    let delivered_at = delivery.and_then(|delivery| delivery.delivered_at);
    let at = ack.map(|ack| ack.acked_at).or(delivered_at);
    html! {
        div class="delivery" {
            p {
                span class="sign" aria-hidden="true" { (sign) } " " (words)
                @if let Some(at) = at { span class="muted" { ", " (when::past(at, now)) } }
            }
            // Text of the agent: shown as that, never as markup (§14.4).
            @if let Some(note) = ack.and_then(|ack| ack.note.as_deref()) { p class="plain-text said" { (note) } }
            @if let Some(pushes) = pushes { (pushed(pushes, now)) }
        }
    }
}

fn pushed(pushes: &ListAttemptsReply, now: OffsetDateTime) -> Markup {
    let words = match pushes.state.as_str() {
        // Said by the track already.
        "delivered" | "expired" => return html! {},
        "held" => {
            "Nothing is sent to the agent’s callback host for now; it is kept, and sent once the host is back. The agent can \
             still collect it."
        }
        "refused" => {
            "The agent’s callback refused it; it is not tried again. The agent can still collect it."
        }
        "exhausted" => {
            "The agent’s callback did not take it, and is no longer tried. The agent can still collect it."
        }
        _ => "It is being sent to the agent’s callback.",
    };
    html! {
        p class="muted" {
            (words)
            @if let Some(last) = pushes.attempts.last() { " " (last_attempt(last, now)) }
            @if let Some(next) = pushes.next_attempt_at.as_ref().and_then(hub_proto::time_of) {
                " The next attempt is due " (when::soon(next, now)) "."
            }
        }
    }
}

/// For an operator, where the hub has given up.
fn once_more(shown: &Shown, session: &Session, pushes: &ListAttemptsReply) -> Markup {
    html! {
        @if is_given_up(pushes) && session.human.role >= Role::Operator {
            form method="post" action={ (shown.path()) "/redeliver" } {
                (session.csrf_field())
                input type="hidden" name=(AFTER) value=(after(pushes));
                div class="actions" { button class="button" type="submit" { "Send again" } }
            }
        }
    }
}

fn last_attempt(attempt: &Attempt, now: OffsetDateTime) -> Markup {
    html! {
        "Attempt " (attempt.number)
        @if let Some(status) = attempt.status { " got status " (status) }
        @else if let Some(error) = &attempt.error { " failed (" (error) ")" }
        @if let Some(at) = attempt.at.as_ref().and_then(hub_proto::time_of) { ", " (when::past(at, now)) }
        "."
    }
}

#[cfg(test)]
mod tests;
