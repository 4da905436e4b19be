//! From a credential to a principal. A refusal is always the same 401: never whether a token is unknown, expired or
//! revoked.

pub(crate) mod cache;

use ma2h::error::Problem;

use crate::{app::App, principal::Principal};

/// Whose token this is.
pub(crate) async fn authenticate_token(app: &App, token: &str) -> Result<Principal, Problem> {
    let _ = (app, token);
    Err(Problem::internal())
}

/// Whose browser session this cookie names; always `Principal::Human`.
pub(crate) async fn authenticate_session(app: &App, cookie: &str) -> Result<Principal, Problem> {
    let _ = (app, cookie);
    Err(Problem::internal())
}
