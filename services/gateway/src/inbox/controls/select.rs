//! One of several options; where the agent allows it (`allow_edit`), something else in the person's own words.

use ma2h::envelope::{Ask, Choice};
use maud::{Markup, html};

use super::super::fields::Fields;
use super::{Complaints, Entry};

/// The name of the options' elements. Their values are positions: a browser would rewrite line ends in the real ones.
pub(super) const CHOICE: &str = "choice";
/// The value of the element that stands for an answer outside the list.
pub(super) const OTHER: &str = "other";
/// The name of the box for that answer.
pub(super) const FREE: &str = "free";

pub(super) fn draw(ask: &Ask, entry: &Entry<'_>) -> Markup {
    let picked = entry.text(CHOICE);
    let complaint = entry.complaints.of(CHOICE);
    html! {
        fieldset class="options" aria-describedby=[complaint.map(|_| "choice-error")] {
            legend { "Choose one" }
            @for (at, option) in ask.options.iter().enumerate() {
                (radio(&at.to_string(), &option_text(option), picked))
            }
            @if ask.allow_edit {
                (radio(OTHER, &html! { span class="option-label" { "Something else" } }, picked))
                (free_form(entry, Some("choice-other")))
            }
            @if let Some(complaint) = complaint { p id="choice-error" class="error" { (complaint) } }
        }
    }
}

fn radio(value: &str, text: &Markup, picked: &str) -> Markup {
    let id = format!("choice-{value}");
    html! {
        label class="option" for=(id) {
            input id=(id) type="radio" name=(CHOICE) value=(value) required checked[picked == value];
            span class="option-text" { (text) }
        }
    }
}

fn option_text(option: &Choice) -> Markup {
    html! {
        span class="option-label" { (label(option)) }
        @if let Some(description) = &option.description {
            span class="option-description" { (description) }
        }
    }
}

/// The box for an answer outside the list; `picks` is the element that typing in it chooses.
pub(super) fn free_form(entry: &Entry<'_>, picks: Option<&str>) -> Markup {
    let complaint = entry.complaints.of(FREE);
    html! {
        div class="field free" {
            label for="free" { "Your own words" }
            textarea id="free" name=(FREE) rows="2" data-picks=[picks]
                aria-describedby=(if complaint.is_some() { "free-hint free-error" } else { "free-hint" })
                aria-invalid=[complaint.map(|_| "true")] autofocus[complaint.is_some()] { "\n" (entry.text(FREE)) }
            p id="free-hint" class="hint" {
                "The agent is told that this answer is outside its list."
            }
            @if let Some(complaint) = complaint { p id="free-error" class="error" { (complaint) } }
        }
    }
}

/// What a person reads of an option.
pub(super) fn label(option: &Choice) -> &str {
    if option.label.trim().is_empty() {
        &option.value
    } else {
        &option.label
    }
}

/// The value of the chosen option, or what was typed instead.
pub(super) fn read(ask: &Ask, posted: &Fields) -> Result<String, Complaints> {
    let free = posted.filled(FREE).filter(|_| ask.allow_edit);
    match (posted.get(CHOICE), free) {
        (Some(OTHER) | None, Some(free)) => Ok(free.to_owned()),
        (Some(OTHER), None) if ask.allow_edit => Err(Complaints::about(
            FREE,
            "Write your answer here, or choose one of the options.",
        )),
        // Two answers at once: which one was meant is not ours to guess.
        (Some(_), Some(_)) => Err(Complaints::about(
            FREE,
            "You chose an option and wrote something else as well. Choose “Something else”, or clear this box.",
        )),
        (Some(at), None) => listed(ask, at),
        (None, None) => Err(Complaints::about(CHOICE, "Choose one of the options.")),
    }
}

/// The value at a position.
pub(super) fn listed(ask: &Ask, at: &str) -> Result<String, Complaints> {
    let option = at.parse::<usize>().ok().and_then(|at| ask.options.get(at));
    option
        .map(|option| option.value.clone())
        .ok_or_else(|| Complaints::about(CHOICE, "Choose one of the options."))
}
