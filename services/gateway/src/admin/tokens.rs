//! Tokens of humans and agents.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use hub_platform::ids::is_minted;
use ma2h::error::Problem;
use ma2h::timestamp;
use serde_json::{Value, json};
use time::OffsetDateTime;

use super::Manager;
use crate::app::App;
use crate::auth::{self, secret};
use crate::directory::tokens::{self, Subject};
use crate::directory::{clock, ids};
use crate::edge::answer;
use crate::edge::body::Object;
use crate::edge::errors::Refusal;
use crate::edge::page::PageParams;
use crate::edge::params::{Ids, Params};

/// `POST …/tokens`: the only time that the token is shown.
pub(super) async fn create(
    State(app): State<Arc<App>>,
    manager: Manager,
    Object(mut fields): Object,
) -> Result<Response, Refusal> {
    let subject = subject(&fields.string("subject")?)?;
    let expires_at = fields
        .optional_string("expires_at")?
        .map(|text| answer::parse_time("expires_at", &text))
        .transpose()?;
    fields.finish()?;
    if let Some(expires_at) = expires_at {
        check_ahead(expires_at, clock::now(&app.pool).await?)?;
    }
    let token = secret::mint(match subject {
        Subject::Human(_) => secret::HUMAN_PREFIX,
        Subject::Agent(_) => secret::AGENT_PREFIX,
    });
    let hash = secret::digest(&token);
    let made = tokens::create(
        &app.pool,
        &manager.author,
        &manager.account,
        &subject,
        hash,
        expires_at,
    )
    .await?;
    let made =
        made.ok_or_else(|| Problem::invalid_field("subject: the account has no such human or agent"))?;
    let mut body = body(&made);
    body["token"] = Value::String(token);
    Ok(answer::json(StatusCode::CREATED, &body))
}

/// `GET …/tokens`
pub(super) async fn list(
    State(app): State<Arc<App>>,
    manager: Manager,
    Params(params): Params<PageParams>,
) -> Result<Response, Refusal> {
    let page = params.page()?;
    let found = tokens::list(&app.pool, &manager.account, &page).await?;
    Ok(page.answer("tokens", found, |token| &token.id, body))
}

/// `DELETE …/tokens/{token}`
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    manager: Manager,
    Ids((_, token)): Ids<(String, String)>,
) -> Result<Response, Refusal> {
    let id = ids::of_path(token, |id| is_minted(id, "tok"))?;
    tokens::delete(&app.pool, &manager.author, &manager.account, &id).await?;
    auth::revoked(&app, &manager.account, &id).await;
    Ok(answer::empty(StatusCode::NO_CONTENT))
}

/// `human:alice` or `agent:deploybot/dev-team`.
fn subject(text: &str) -> Result<Subject, Problem> {
    match text.split_once(':') {
        Some(("human", id)) if ids::is_name(id) => Ok(Subject::Human(id.to_owned())),
        Some(("agent", id)) if ids::is_agent(id) => Ok(Subject::Agent(id.to_owned())),
        _ => Err(Problem::invalid_field(
            "subject: expected human:<id> or agent:<id>",
        )),
    }
}

/// Only a courtesy to the caller: whether a token has expired is asked each time that it is shown.
fn check_ahead(expires_at: OffsetDateTime, now: OffsetDateTime) -> Result<(), Problem> {
    if expires_at > now {
        return Ok(());
    }
    Err(Problem::invalid_field(
        "expires_at: expected a time in the future",
    ))
}

fn body(token: &tokens::Token) -> Value {
    let mut body = json!({
        "id": token.id,
        "subject": token.subject,
        "created_at": timestamp::format(token.created_at),
    });
    if let Some(expires_at) = token.expires_at {
        body["expires_at"] = Value::String(timestamp::format(expires_at));
    }
    body
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::{Subject, check_ahead, subject};

    #[test]
    fn subjects() {
        assert_eq!(
            subject("human:alice").ok(),
            Some(Subject::Human("alice".to_owned()))
        );
        assert_eq!(
            subject("agent:a:b/c").ok(),
            Some(Subject::Agent("a:b/c".to_owned()))
        );
        for text in ["alice", "human:", "human:Alice", "agent:", "system:admin", ""] {
            assert!(subject(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_token_expires_in_the_future() {
        let now = datetime!(2026-06-04 18:00 UTC);
        assert!(check_ahead(datetime!(2026-06-04 18:00:01 UTC), now).is_ok());
        assert!(check_ahead(now, now).is_err());
    }
}
