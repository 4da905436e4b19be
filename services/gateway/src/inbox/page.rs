//! The frame around every page, and the pages that say why there is no other.

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use ma2h::error::{ErrorCode, Problem};
use maud::{DOCTYPE, Markup, html};

use super::assets::{MARK, SCRIPT, STYLE};
use super::session::Session;

/// The parts that a person moves between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// What agents sent.
    Inbox,
    /// What people told agents.
    Directives,
    /// Who there is.
    Agents,
}

impl Place {
    const ALL: [Self; 3] = [Self::Inbox, Self::Directives, Self::Agents];

    fn title(self) -> &'static str {
        match self {
            Self::Inbox => "Inbox",
            Self::Directives => "Directives",
            Self::Agents => "Agents",
        }
    }

    fn address(self) -> &'static str {
        match self {
            Self::Inbox => "/inbox",
            Self::Directives => "/inbox/directives",
            Self::Agents => "/inbox/agents",
        }
    }
}

/// Draws a whole page around `main`, which brings its own `<main id="main">`.
pub(super) fn frame(title: &str, session: Option<&Session>, place: Option<Place>, main: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="robots" content="noindex, nofollow";
                title { (title) " · Inbox" }
                link rel="stylesheet" href=(STYLE.path);
                link rel="icon" type="image/svg+xml" href=(MARK.path);
                script defer src=(SCRIPT.path) {}
            }
            body data-live[session.is_some()] {
                a class="skip" href="#main" { "Skip to content" }
                (header(session, place))
                p id="status" class="toast" role="status" aria-live="polite" {}
                (main)
                (footer(session))
            }
        }
    }
}

fn header(session: Option<&Session>, place: Option<Place>) -> Markup {
    html! {
        header class="site" {
            a class="brand" href="/inbox" {
                img src=(MARK.path) alt="" width="24" height="24";
                span class=[session.map(|_| "hidden")] { "MA2H" }
            }
            @if let Some(session) = session {
                nav class="places" aria-label="Main" {
                    @for known in Place::ALL {
                        a href=(known.address()) aria-current=[(Some(known) == place).then_some("true")] { (known.title()) }
                    }
                }
                div class="who" {
                    span class="who-name" title=(format!("account {}", session.human.account)) {
                        (session.human.id)
                        span class="who-account" { " · " (session.human.account) }
                    }
                    form method="post" action="/inbox/sign-out" {
                        (session.csrf_field())
                        button class="plain" type="submit" { "Sign out" }
                    }
                }
            }
        }
    }
}

fn footer(session: Option<&Session>) -> Markup {
    html! {
        @if session.is_some() {
            footer class="site keys" {
                kbd { "j" } " " kbd { "k" } " move · " kbd { "Enter" } " open · " kbd { "u" } " back to the list · "
                kbd { "/" } " search"
            }
        }
    }
}

/// A link that switches a filter on, or off where it is on.
pub(super) fn chip(text: &str, to: &str, on: bool) -> Markup {
    html! {
        a class="chip" href=(to) aria-current=[on.then_some("true")] {
            (text)
            @if on { span class="chip-off" aria-hidden="true" { " ×" } span class="hidden" { ", remove this filter" } }
        }
    }
}

/// A page in place of what was asked for.
pub(super) fn problem(problem: &Problem, session: Option<&Session>) -> Response {
    let (title, hint) = words(problem.code);
    let status =
        StatusCode::from_u16(problem.code.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let main = html! {
        main id="main" class="narrow" tabindex="-1" {
            div class="card empty" {
                p class="empty-code" { (status.as_u16()) }
                h1 { (title) }
                p { (hint) }
                @if speaks_to_people(problem.code) {
                    p class="muted" { (problem.message) }
                }
                p { a class="button" href="/inbox" { "Go to the inbox" } }
            }
        }
    };
    (status, frame(title, session, None, &main)).into_response()
}

/// Whether the text of a problem says more than the page does by itself.
fn speaks_to_people(code: ErrorCode) -> bool {
    !matches!(
        code,
        ErrorCode::NotFound | ErrorCode::Gone | ErrorCode::Internal | ErrorCode::Unavailable
    )
}

fn words(code: ErrorCode) -> (&'static str, &'static str) {
    match code {
        ErrorCode::NotFound => (
            "Not found",
            "There is nothing at this address, or it belongs to an account that is not yours.",
        ),
        ErrorCode::Gone => (
            "No longer there",
            "The message was deleted, or kept only for a time that has passed.",
        ),
        ErrorCode::Unauthenticated => ("Not signed in", "Sign in and try again."),
        ErrorCode::NotAuthorized => ("Not allowed", "Nothing was done."),
        ErrorCode::MethodNotAllowed => (
            "Not possible here",
            "This address does not take that kind of request.",
        ),
        ErrorCode::PayloadTooLarge => (
            "Too much at once",
            "What was sent is larger than the inbox takes.",
        ),
        ErrorCode::RateLimited => ("Too fast", "Wait a moment, then try again."),
        ErrorCode::Unavailable => (
            "Not available just now",
            "Nothing is lost. Wait a moment, then load the page again.",
        ),
        ErrorCode::Internal => (
            "Something went wrong",
            "It is our fault, not yours. Trying again may help.",
        ),
        _ => ("That did not work", "The hub did not take it."),
    }
}
