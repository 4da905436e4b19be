//! Something to do in the world: what is done of it, and whether it is done.

use ma2h::envelope::Task;
use maud::{Markup, html};
use serde_json::{Map, Value, json};

use super::super::fields::Fields;
use super::{Complaints, Entry, RESOLUTION, Standing, comment, resolution};

pub(super) fn draw(task: &Task, standing: &Standing, entry: &Entry<'_>) -> Markup {
    html! {
        @if !task.checklist.is_empty() {
            fieldset class="options" {
                legend { "Checklist" }
                @for (at, item) in task.checklist.iter().enumerate() {
                    @let name = element(at);
                    @let done = entry.typed.map_or(item.done, |typed| typed.has(&name));
                    label class="option" for=(name) {
                        input id=(name) type="checkbox" name=(name) value="yes" checked[done];
                        span class="option-text" { (item.text) }
                    }
                }
            }
        }
        @if standing.may() { (comment::draw(entry)) }
        div class="actions" {
            button class="button primary" type="submit" name=(RESOLUTION) value="completed" { "Mark as done" }
            button class="button" type="submit" name=(RESOLUTION) value="dismissed" { "Dismiss" }
        }
    }
}

fn element(at: usize) -> String {
    format!("done.{at}")
}

/// The final state of the list goes along with either end, as far as there is a list.
pub(super) fn read(task: &Task, posted: &Fields) -> Result<Map<String, Value>, Complaints> {
    let mut body = match posted.get(RESOLUTION) {
        Some("completed") => resolution("completed"),
        Some("dismissed") => resolution("dismissed"),
        _ => return Err(Complaints::general("Mark it as done, or dismiss it.")),
    };
    if !task.checklist.is_empty() {
        let items = task.checklist.iter().enumerate();
        let items = items.map(|(at, item)| json!({"text": item.text, "done": posted.has(&element(at))}));
        body.insert("checklist".to_owned(), items.collect());
    }
    Ok(body)
}
