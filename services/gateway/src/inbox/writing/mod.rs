//! What a person writes, to one agent or to many: the same form, the same content (§13.1).

mod content;
mod draft;
mod field;
mod form;

use http::StatusCode;
use hub_platform::ids;
use ma2h::error::{ErrorCode, Problem};
use maud::{Markup, html};

use crate::principal::Role;

use super::broadcasts;
use super::controls::{Complaints, Entry};
use super::directives;
use super::session::Session;

pub(super) use content::{Content, tags};
pub(super) use draft::{KEY, TO, content, objections};
pub(super) use form::Form;

/// To whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// One agent.
    One,
    /// Agents that are named.
    Several,
    /// All agents that carry labels.
    Labels,
}

impl Way {
    const ALL: [Self; 3] = [Self::One, Self::Several, Self::Labels];

    fn title(self) -> &'static str {
        match self {
            Self::One => "One agent",
            Self::Several => "Several",
            Self::Labels => "By label",
        }
    }

    /// Where they are chosen.
    fn address(self) -> &'static str {
        match self {
            Self::One => directives::NEW,
            Self::Several => broadcasts::AGENTS,
            Self::Labels => broadcasts::LABELS,
        }
    }
}

/// The ways, and which one this is.
pub(super) fn ways(way: Way) -> Markup {
    html! {
        nav class="tabs" aria-label="To whom" {
            @for known in Way::ALL {
                a href=(known.address()) aria-current=[(known == way).then_some("page")] { (known.title()) }
            }
        }
    }
}

/// The title of the page with the form: who cannot see it hears at once that it came back.
pub(super) fn title(whom: &str, entry: &Entry<'_>) -> String {
    if entry.complaints.is_empty() {
        format!("Write to {whom}")
    } else {
        format!("Not sent: write to {whom}")
    }
}

/// Whether the person may write anything.
pub(super) fn may_write(session: &Session) -> bool {
    session.human.role >= Role::Operator
}

/// Tells a person who may not, why.
pub(super) fn why_not(session: &Session) -> Markup {
    html! {
        @if !may_write(session) {
            p class="notice" { "You are signed in as a viewer: you can read directives, but not write them." }
        }
    }
}

/// Names a sending that is new.
pub(super) fn new_key() -> String {
    ids::mint("form")
}

/// What the form says of a refusal, by what the hub objected to, and the key it goes on with.
pub(super) fn refused(
    problem: &Problem,
    key: String,
    objections: impl Fn(&Problem) -> Complaints,
) -> (StatusCode, Complaints, String) {
    let status = StatusCode::from_u16(problem.code.http_status());
    let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    if problem.code != ErrorCode::IdempotencyConflict {
        return (status, objections(problem), key);
    }
    let told = "You sent this form before, and it is on its way as it was then. Send it again only if you want both.";
    (status, Complaints::general(told), new_key())
}

#[cfg(test)]
mod tests {
    use ma2h::error::{ErrorCode, Problem};

    use super::{objections, refused};

    #[test]
    fn a_form_that_was_sent_goes_on_under_another_key() {
        let conflict = Problem::new(
            ErrorCode::IdempotencyConflict,
            "idempotency-key: was used for another body",
        );
        let (status, complaints, key) = refused(&conflict, "form_1".to_owned(), objections);
        assert_eq!(status, 409);
        assert!(key != "form_1" && complaints.general.is_some());
        let away = Problem::unavailable("away");
        let (status, complaints, key) = refused(&away, "form_1".to_owned(), objections);
        assert_eq!((status.as_u16(), key.as_str()), (503, "form_1"));
        assert!(complaints.general.is_some());
    }
}
