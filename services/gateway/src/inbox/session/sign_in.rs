//! The page where a person signs in, and the way out.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, Request, State};
use axum::response::{IntoResponse, Redirect, Response};
use http::header::SET_COOKIE;
use http::{HeaderMap, StatusCode};
use ma2h::error::{ErrorCode, Problem};
use maud::html;
use serde::Deserialize;

use crate::app::App;
use crate::auth;
use crate::directory::browser_sessions;
use crate::principal::{Human, Principal};

use super::super::fields::Fields;
use super::super::links::encode;
use super::super::page;
use super::{Posted, cookie, find, origin, posted_fields};

/// The largest sign-in: a token, an address, and room for percent-encoding.
const FORM_BYTES_MAX: usize = 4 * 1024;
/// Longest address that is kept over a sign-in.
const NEXT_BYTES_MAX: usize = 1024;

/// Where a person is sent who must sign in first.
pub(super) fn address(next: &str) -> String {
    match safe_next(Some(next)) {
        "/inbox" => "/inbox/sign-in".to_owned(),
        next => format!("/inbox/sign-in?next={}", encode(next)),
    }
}

/// Only pages of the inbox are gone back to: an address of anywhere else would make this page a trampoline.
fn safe_next(next: Option<&str>) -> &str {
    let inside = |next: &&str| {
        let rest = next.strip_prefix("/inbox");
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']))
            && next.len() <= NEXT_BYTES_MAX
            && next.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
            && !next.contains("..")
            && !next.to_ascii_lowercase().contains("%2e")
            && !next.starts_with("/inbox/sign-")
    };
    next.filter(inside).unwrap_or("/inbox")
}

#[derive(Deserialize)]
pub(in super::super) struct Asked {
    next: Option<String>,
}

/// `GET /inbox/sign-in`.
pub(in super::super) async fn form(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    asked: Result<Query<Asked>, QueryRejection>,
) -> Response {
    let asked = asked.ok().and_then(|Query(asked)| asked.next);
    let next = safe_next(asked.as_deref());
    match find(&app, &headers).await {
        Ok(Some(_)) => Redirect::to(next).into_response(),
        Ok(None) => draw(StatusCode::OK, next, None),
        Err(problem) => page::problem(&problem, None),
    }
}

/// `POST /inbox/sign-in`.
pub(in super::super) async fn sign_in(State(app): State<Arc<App>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    if let Err(problem) = origin::check(&parts) {
        return page::problem(&problem, None);
    }
    let fields = match posted_fields(&app, Request::from_parts(parts, body), FORM_BYTES_MAX).await {
        Ok(fields) => fields,
        Err(problem) => return page::problem(&problem, None),
    };
    let next = safe_next(fields.get("next"));
    match open(&app, &fields).await {
        Ok(secret) => {
            let cookie = cookie::set(&secret, lifetime(&app));
            ([(SET_COOKIE, cookie)], Redirect::to(next)).into_response()
        }
        Err(Refused::NoHuman) => draw(
            StatusCode::FORBIDDEN,
            next,
            Some("That is not a person's token. Use one that starts with ma2h_human_."),
        ),
        Err(Refused::Problem(problem)) if problem.code == ErrorCode::Unauthenticated => draw(
            StatusCode::UNAUTHORIZED,
            next,
            Some("This token is not known, or no longer valid."),
        ),
        Err(Refused::Problem(problem)) => page::problem(&problem, None),
    }
}

enum Refused {
    /// A valid token, but of an agent or of the deployment.
    NoHuman,
    Problem(Problem),
}

async fn open(app: &App, fields: &Fields) -> Result<String, Refused> {
    let token = fields.get("token").map(str::trim).unwrap_or_default();
    let human = human_of(app, token).await?;
    browser_sessions::open(app, &human, lifetime(app))
        .await
        .map_err(Refused::Problem)
}

/// After this long a browser signs in again, whatever it did in between.
fn lifetime(app: &App) -> Duration {
    Duration::from_secs(app.config.gateway.browser_session_seconds)
}

async fn human_of(app: &App, token: &str) -> Result<Human, Refused> {
    match auth::authenticate_token(app, token, Duration::MAX)
        .await
        .map_err(Refused::Problem)?
        .principal
    {
        Principal::Human(human) => Ok(human),
        Principal::Admin | Principal::Agent(_) => Err(Refused::NoHuman),
    }
}

/// `POST /inbox/sign-out`.
pub(in super::super) async fn sign_out(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    posted: Posted,
) -> Response {
    let secret = cookie::read(&headers).unwrap_or_default();
    match browser_sessions::end(&app, secret).await {
        Ok(()) => ([(SET_COOKIE, cookie::clear())], Redirect::to("/inbox/sign-in")).into_response(),
        // Told, because the session is still open then.
        Err(problem) => page::problem(&problem, Some(&posted.session)),
    }
}

fn draw(status: StatusCode, next: &str, complaint: Option<&str>) -> Response {
    let main = html! {
        main id="main" class="narrow" tabindex="-1" {
            div class="card sign-in" {
                h1 { "Sign in" }
                p class="muted" { "Agents leave questions, tasks and notices here for you." }
                form class="stack" method="post" action="/inbox/sign-in" {
                    input type="hidden" name="next" value=(next);
                    div class="field" {
                        label for="token" { "Your token" }
                        input id="token" name="token" type="password" required autofocus spellcheck="false"
                            autocomplete="current-password" autocapitalize="none"
                            aria-describedby=(if complaint.is_some() { "token-hint token-error" } else { "token-hint" })
                            aria-invalid[complaint.is_some()];
                        p id="token-hint" class="hint" {
                            "It starts with " code { "ma2h_human_" } " and was shown once, when it was made."
                        }
                        @if let Some(complaint) = complaint {
                            p id="token-error" class="error" role="alert" { (complaint) }
                        }
                    }
                    button class="button primary wide" type="submit" { "Sign in" }
                }
            }
        }
    };
    (status, page::frame("Sign in", None, None, &main)).into_response()
}

#[cfg(test)]
mod tests {
    use super::{address, safe_next};

    #[test]
    fn goes_back_to_the_inbox_only() {
        let kept = [
            "/inbox",
            "/inbox/",
            "/inbox/msg_1",
            "/inbox?view=all&q=a%20b",
            "/inbox/msg_1?x=1",
        ];
        for next in kept {
            assert_eq!(safe_next(Some(next)), next);
        }
        let refused = [
            "",
            "/",
            "inbox",
            "/inboxes",
            "//evil.example",
            "/\\evil.example",
            "/inbox\\..\\x",
            "/inbox//..//x",
            "/inbox/../admin",
            "/inbox/%2e%2e/admin",
            "https://evil.example/inbox",
            "javascript:alert(1)",
            "/inbox\r\nSet-Cookie: a=b",
            "/inbox/ä",
            "/inbox@evil.example",
            "/inbox/sign-out",
            "/inbox/sign-in",
        ];
        for next in refused {
            assert_eq!(safe_next(Some(next)), "/inbox", "{next}");
        }
        assert_eq!(safe_next(Some(&format!("/inbox/{}", "x".repeat(5000)))), "/inbox");
        assert_eq!(safe_next(None), "/inbox");
    }

    #[test]
    fn keeps_the_page_over_a_sign_in() {
        assert_eq!(address("/inbox"), "/inbox/sign-in");
        assert_eq!(
            address("/inbox/msg_1?a=b&c=d"),
            "/inbox/sign-in?next=/inbox/msg_1%3Fa%3Db%26c%3Dd"
        );
    }
}
