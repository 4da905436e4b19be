//! Where each agent of a broadcast stands, in a row.

use hub_proto::lifecycle::Recipient;
use maud::{Markup, html};
use time::OffsetDateTime;

use super::super::presence::Presence;
use super::super::{directives, icons, links, names, when};

/// One row; whether the agent listens is said while it could still hear of it.
pub(super) fn row(told: &Recipient, presence: &Presence, now: OffsetDateTime) -> Markup {
    let (state, sign) = names::track(&told.state);
    let waits = matches!(told.state.as_str(), "pending" | "queued" | "delivered");
    let to = told
        .directive_id
        .as_ref()
        .map_or_else(|| links::to_agent(&told.agent), |id| directives::path(id));
    let ack = told.ack.as_ref();
    let acked_at = ack
        .and_then(|ack| ack.acked_at.as_ref())
        .and_then(hub_proto::time_of);
    html! {
        li class="row" data-key=(told.agent) data-open[waits] {
            (icons::agent())
            div class="row-main" {
                p class="row-title" { a id=(format!("row-{}", told.agent)) class="agent-id" href=(to) data-row { (told.agent) } }
                p class="row-meta" {
                    @if waits { span { (presence.badge(now)) } }
                    @if let Some(reason) = &told.reason { span { (why(reason)) } }
                    // Text of the agent: shown as that, never as markup (§14.4).
                    @if let Some(note) = ack.and_then(|ack| ack.note.as_deref()) {
                        span class="row-note" { "“" (directives::beginning(note)) "”" }
                    }
                }
            }
            div class="row-side" {
                p class="track-state" data-state=(told.state) { span aria-hidden="true" { (sign) " " } (state) }
                @if let Some(at) = acked_at { p { (when::past(at, now)) } }
            }
        }
    }
}

/// Why it could have no directive.
fn why(reason: &str) -> &str {
    match reason {
        "unknown_destination" => "it was no longer there",
        "rate_limited" => "its mailbox was full",
        // Of a later release.
        other => other,
    }
}
