//! Marks that do not need colour to be told apart.

use ma2h::envelope::{MessageType, Priority};
use maud::{Markup, html};

/// The shape for a kind of message; the word stands beside it.
pub(super) fn kind(kind: MessageType) -> Markup {
    html! {
        svg class="icon" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true" focusable="false" {
            @match kind {
                MessageType::Ask => {
                    path d="M5 5h14a1.5 1.5 0 0 1 1.5 1.5v9A1.5 1.5 0 0 1 19 17h-6l-4.5 3.5V17H5a1.5 1.5 0 0 1-1.5-1.5v-9A1.5 1.5 0 0 1 5 5Z" {}
                    path d="M10 9.2a2 2 0 1 1 2.7 1.9c-.5.2-.7.6-.7 1.1M12 14.3v.1" {}
                }
                MessageType::Task => {
                    rect x="4" y="4" width="16" height="16" rx="2.5" {}
                    path d="m8 12.3 2.8 2.8L16.2 9.5" {}
                }
                MessageType::Notify => {
                    path d="M5.5 4h13A1.5 1.5 0 0 1 20 5.5v13a1.5 1.5 0 0 1-1.5 1.5h-13A1.5 1.5 0 0 1 4 18.5v-13A1.5 1.5 0 0 1 5.5 4Z" {}
                    path d="M8 9h8M8 12.5h8M8 16h4.5" {}
                }
            }
        }
    }
}

/// Beside an agent's id.
pub(super) fn agent() -> Markup {
    html! {
        svg class="icon" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true" focusable="false" {
            rect x="4.5" y="8" width="15" height="11" rx="2.5" {}
            path d="M12 8V4.5M9 13v.6M15 13v.6M2.5 12.500v3M21.500 12.500v3" {}
        }
    }
}

/// Beside what a person told an agent.
pub(super) fn directive() -> Markup {
    html! {
        svg class="icon" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true" focusable="false" {
            path d="M20.500 3.500 3.500 10l6.500 3.500L14 20.500l6.500-17ZM10 13.500l4.500-4.500" {}
        }
    }
}

/// Beside what a person told many agents.
pub(super) fn broadcast() -> Markup {
    html! {
        svg class="icon" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true" focusable="false" {
            path d="M4 10v4l9 4V6L4 10ZM7 15.500V19h3v-2.200M16.500 9.500a3.500 3.500 0 0 1 0 5M19 7a7 7 0 0 1 0 10" {}
        }
    }
}

/// A word with a sign where it is not the usual priority.
pub(super) fn priority(priority: Priority) -> Markup {
    let (word, sign) = match priority {
        Priority::Normal => return html! {},
        Priority::Low => ("Low", "↓"),
        Priority::High => ("High", "!"),
        Priority::Urgent => ("Urgent", "!!"),
    };
    html! {
        span class="priority" data-priority=(priority.as_str()) {
            span aria-hidden="true" { (sign) } " " (word) span class="hidden" { " priority" }
        }
    }
}
