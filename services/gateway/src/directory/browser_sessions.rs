//! Browser sessions: each stands on the token it was opened with, and ends with it.

use std::time::Duration;

use ma2h::error::Problem;

use super::{Author, Statement, column, row};
use crate::app::App;
use crate::auth::{self, secret};
use crate::principal::{Credential, Human};

const OPEN: Statement = ("open browser session", include_str!("browser_sessions/open.sql"));
const CLOSE: Statement = (
    "close browser session",
    include_str!("browser_sessions/close.sql"),
);

pub(super) const STATEMENTS: &[Statement] = &[OPEN, CLOSE];

/// Opens a session for a human who signed in with her token; the value for the cookie, 256 random bits.
pub(crate) async fn open(app: &App, human: &Human, lifetime: Duration) -> Result<String, Problem> {
    let Credential::Token(token_hash) = human.credential else {
        return Err(auth::unauthenticated());
    };
    let cookie = secret::mint("");
    let (token_hash, session_hash) = (token_hash.as_slice(), secret::digest(&cookie));
    let session_hash = session_hash.as_slice();
    let params: [&(dyn tokio_postgres::types::ToSql + Sync); 4] = [
        &token_hash,
        &session_hash,
        &lifetime.as_secs_f64(),
        &Author::event(),
    ];
    let opened = row(&app.pool, OPEN, &params).await?;
    opened.map(|_| cookie).ok_or_else(auth::unauthenticated)
}

/// Ends the session that a cookie names; no error if there is none.
pub(crate) async fn end(app: &App, cookie: &str) -> Result<(), Problem> {
    let session_hash = secret::digest(cookie);
    if let Some(closed) = row(&app.pool, CLOSE, &[&session_hash.as_slice()]).await? {
        auth::revoked(app, column(&closed, "account")?, "").await;
    }
    Ok(())
}
