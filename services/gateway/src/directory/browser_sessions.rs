//! Browser sessions: each stands on the token it was opened with, and ends with it.

use std::time::Duration;

use ma2h::error::Problem;

use crate::{app::App, principal::Human};

/// Opens a session for a human who signed in with her token; the value for the cookie, 256 random bits.
pub(crate) async fn open(app: &App, human: &Human, lifetime: Duration) -> Result<String, Problem> {
    let _ = (app, human, lifetime);
    Err(Problem::internal())
}

/// Ends the session that a cookie names; no error if there is none.
pub(crate) async fn end(app: &App, cookie: &str) -> Result<(), Problem> {
    let _ = (app, cookie);
    Err(Problem::internal())
}
