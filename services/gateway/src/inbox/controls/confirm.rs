//! Two options, a button each: one press answers.

use ma2h::envelope::Ask;
use maud::{Markup, html};

use super::super::fields::Fields;
use super::select::{CHOICE, FREE, OTHER, free_form, label, listed};
use super::{Complaints, Entry};

pub(super) fn draw(ask: &Ask, entry: &Entry<'_>) -> Markup {
    html! {
        div class="confirm" {
            @for (at, option) in ask.options.iter().enumerate() {
                div class="confirm-option" {
                    button class=(if at == 0 { "button primary large" } else { "button large" }) type="submit"
                        name=(CHOICE) value=(at)
                        aria-describedby=[option.description.as_ref().map(|_| format!("choice-{at}-description"))] {
                        (label(option))
                    }
                    @if let Some(description) = &option.description {
                        p id=(format!("choice-{at}-description")) class="hint" { (description) }
                    }
                }
            }
        }
        @if let Some(complaint) = entry.complaints.of(CHOICE) { p class="error" { (complaint) } }
        @if ask.allow_edit {
            details id="free-box" class="comment" open[entry.typed.is_some_and(|typed| typed.filled(FREE).is_some())
                || entry.complaints.of(FREE).is_some()] {
                summary { "Answer in your own words instead" }
                (free_form(entry, None))
                button class="button" type="submit" name=(CHOICE) value=(OTHER) { "Send my own answer" }
            }
        }
    }
}

/// The value of the pressed button, or what was typed instead.
pub(super) fn read(ask: &Ask, posted: &Fields) -> Result<String, Complaints> {
    match (posted.get(CHOICE), posted.filled(FREE)) {
        (Some(OTHER), Some(free)) if ask.allow_edit => Ok(free.to_owned()),
        (Some(OTHER), None) if ask.allow_edit => Err(Complaints::about(
            FREE,
            "Write your answer here, or press one of the buttons above.",
        )),
        (Some(_), Some(_)) if ask.allow_edit => Err(Complaints::about(
            FREE,
            "You pressed a button and wrote something else as well. Send your own answer, or clear this box.",
        )),
        (Some(at), _) => listed(ask, at),
        (None, _) => Err(Complaints::about(CHOICE, "Press one of the buttons.")),
    }
}
