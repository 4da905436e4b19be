//! A few words beside any answer.

use maud::{Markup, html};

use super::super::fields::Fields;
use super::Entry;

const COMMENT: &str = "comment";

pub(super) fn draw(entry: &Entry<'_>) -> Markup {
    let typed = entry.text(COMMENT);
    html! {
        details id="comment-box" class="comment" open[!typed.is_empty()] {
            summary { "Add a comment" }
            div class="field" {
                label class="hidden" for="comment" { "Comment" }
                textarea id="comment" name=(COMMENT) rows="3" aria-describedby="comment-hint" { "\n" (typed) }
                p id="comment-hint" class="hint" { "Goes to the agent together with what you decide." }
            }
        }
    }
}

pub(super) fn read(posted: &Fields) -> Option<String> {
    posted
        .filled(COMMENT)
        .map(|comment| comment.trim_end().to_owned())
}
