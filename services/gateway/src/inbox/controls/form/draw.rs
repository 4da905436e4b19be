//! Fields as the elements of a page.

use maud::{Markup, html};
use serde_json::Value;

use super::super::Entry;
use super::{Field, Kind};

/// Draws one field per property. What was typed stays, except where it is sensitive.
pub(in super::super) fn draw(fields: &[Field], entry: &Entry<'_>) -> Markup {
    html! {
        @for (index, field) in fields.iter().enumerate() { (one(index, field, entry)) }
    }
}

/// What an element needs to know beside its field.
struct Place<'a> {
    name: String,
    described_by: Option<String>,
    /// Something is wrong with it; the first such element is where the page begins.
    invalid: bool,
    /// What the form was posted with; absent on a first visit.
    typed: Option<&'a str>,
    posted: bool,
}

fn one(index: usize, field: &Field, entry: &Entry<'_>) -> Markup {
    let name = Field::element(index);
    let complaint = entry.complaints.of(&name);
    let hint_id = format!("{name}-hint");
    let error_id = format!("{name}-error");
    let has_hint = field.hint.is_some() || field.bounds.is_some() || matches!(field.kind, Kind::Json);
    let described: Vec<&str> = [(has_hint, &hint_id), (complaint.is_some(), &error_id)]
        .into_iter()
        .filter_map(|(there, id)| there.then_some(id.as_str()))
        .collect();
    let place = Place {
        described_by: (!described.is_empty()).then(|| described.join(" ")),
        invalid: complaint.is_some(),
        typed: entry.typed.and_then(|typed| typed.get(&name)),
        posted: entry.typed.is_some(),
        name: name.clone(),
    };
    let flag = field.kind == Kind::Flag;
    html! {
        div class=(if flag { "field flag" } else { "field" }) {
            @if flag { (element(field, &place)) }
            label for=(name) {
                (field.label)
                @if field.required && !flag { " " span class="required" { "required" } }
            }
            @if has_hint { p id=(hint_id) class="hint" { (hint(field)) } }
            @if !flag { (element(field, &place)) }
            @if field.sensitive && place.posted { p class="hint" { "Not kept: please type it again." } }
            @if let Some(complaint) = complaint { p id=(error_id) class="error" { (complaint) } }
        }
    }
}

fn hint(field: &Field) -> Markup {
    html! {
        @if let Some(hint) = &field.hint { (hint) }
        @if let Some(bounds) = &field.bounds {
            @if field.hint.is_some() { " " }
            span class="bounds" { "(" (bounds) ")" }
        }
        @if field.kind == Kind::Json { " " span class="bounds" { "Written as JSON." } }
    }
}

fn element(field: &Field, place: &Place<'_>) -> Markup {
    match &field.kind {
        Kind::Line(kind) => line(field, place, kind, None),
        Kind::Integer => line(field, place, "text", Some("numeric")),
        Kind::Number => line(field, place, "text", Some("decimal")),
        Kind::Text => text(field, place, 3, None),
        Kind::Json => text(field, place, 4, Some("mono")),
        Kind::Flag => flag(field, place),
        Kind::Choice(_) => choice(field, place),
    }
}

fn line(field: &Field, place: &Place<'_>, kind: &str, keyboard: Option<&str>) -> Markup {
    let kind = if field.sensitive { "password" } else { kind };
    html! {
        input id=(place.name) name=(place.name) type=(kind) inputmode=[keyboard] value=[value(field, place)]
            required[field.required] autocomplete="off" spellcheck=[field.sensitive.then_some("false")]
            aria-describedby=[place.described_by.as_deref()] aria-invalid=[invalid(place)] autofocus[place.invalid];
    }
}

fn text(field: &Field, place: &Place<'_>, rows: u8, class: Option<&str>) -> Markup {
    let class = if field.sensitive {
        Some("mono hidden-text")
    } else {
        class
    };
    html! {
        textarea id=(place.name) name=(place.name) rows=(rows) class=[class] required[field.required]
            autocomplete="off" spellcheck=[class.map(|_| "false")]
            aria-describedby=[place.described_by.as_deref()] aria-invalid=[invalid(place)] autofocus[place.invalid] {
            // The parser drops one line end right after the tag.
            "\n" (value(field, place).unwrap_or_default())
        }
    }
}

fn flag(field: &Field, place: &Place<'_>) -> Markup {
    let checked = if place.posted {
        place.typed.is_some()
    } else {
        field.initial == Some(Value::Bool(true))
    };
    html! {
        input id=(place.name) name=(place.name) type="checkbox" value="yes" checked[checked]
            aria-describedby=[place.described_by.as_deref()] aria-invalid=[invalid(place)] autofocus[place.invalid];
    }
}

fn choice(field: &Field, place: &Place<'_>) -> Markup {
    let Kind::Choice(choices) = &field.kind else {
        return html! {};
    };
    let initial = choices
        .iter()
        .position(|choice| Some(&choice.value) == field.initial.as_ref());
    let picked = if place.posted {
        place.typed.and_then(|at| at.parse().ok())
    } else {
        initial
    };
    html! {
        select id=(place.name) name=(place.name) required[field.required]
            aria-describedby=[place.described_by.as_deref()] aria-invalid=[invalid(place)] autofocus[place.invalid] {
            option value="" selected[picked.is_none()] {
                @if field.required { "Choose…" } @else { "No answer" }
            }
            @for (at, choice) in choices.iter().enumerate() {
                option value=(at) selected[picked == Some(at)] { (choice.label) }
            }
        }
    }
}

fn invalid(place: &Place<'_>) -> Option<&'static str> {
    place.invalid.then_some("true")
}

fn value(field: &Field, place: &Place<'_>) -> Option<String> {
    if field.sensitive {
        return None;
    }
    if place.posted {
        return place.typed.map(str::to_owned);
    }
    match (&field.kind, field.initial.as_ref()?) {
        (Kind::Json, value) => serde_json::to_string_pretty(value).ok(),
        (_, Value::String(text)) => Some(text.clone()),
        (_, Value::Null) => None,
        (_, value) => Some(value.to_string()),
    }
}
