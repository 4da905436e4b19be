//! An object with the fields the agent asked for.

use ma2h::envelope::Ask;
use maud::{Markup, html};
use serde_json::Value;

use super::super::fields::Fields;
use super::form::{self, Field};
use super::{Complaints, Entry};

pub(super) fn draw(fields: &[Field], entry: &Entry<'_>) -> Markup {
    html! {
        (form::draw(fields, entry))
        @if fields.iter().any(|field| field.sensitive) {
            p class="hint" { "What is hidden while you type goes to the agent, and is not shown here again." }
        }
    }
}

pub(super) fn read(ask: &Ask, fields: &[Field], posted: &Fields) -> Result<Value, Complaints> {
    form::answer(fields, ask.schema.as_ref().unwrap_or(&Value::Null), posted)
}
