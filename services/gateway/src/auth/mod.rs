//! From a credential to a principal. A refusal is always the same 401: never whether a token is unknown, expired or
//! revoked.

pub(crate) mod cache;
pub(crate) mod extract;
pub(crate) mod flights;
pub(crate) mod held;
pub(crate) mod secret;

use futures_util::FutureExt;
use ma2h::error::{ErrorCode, Problem};
use subtle::ConstantTimeEq;

use cache::Known;
pub(crate) use extract::Caller;

use crate::app::App;
use crate::directory;
use crate::principal::{Credential, Principal};

/// Whose token this is.
pub(crate) async fn authenticate_token(app: &App, token: &str) -> Result<Principal, Problem> {
    if token.starts_with(secret::ADMIN_PREFIX) {
        return is_admin(app, token)
            .then_some(Principal::Admin)
            .ok_or_else(unauthenticated);
    }
    let prefixes = [secret::HUMAN_PREFIX, secret::AGENT_PREFIX];
    if !prefixes.iter().any(|prefix| secret::is_minted(token, prefix)) {
        return Err(unauthenticated());
    }
    let principal = look_up(app, Credential::Token(secret::digest(token))).await?;
    if token.starts_with(prefix_of(&principal)) {
        Ok(principal)
    } else {
        Err(unauthenticated())
    }
}

/// Whose browser session this cookie names; always `Principal::Human`.
pub(crate) async fn authenticate_session(app: &App, cookie: &str) -> Result<Principal, Problem> {
    if !secret::is_minted(cookie, "") {
        return Err(unauthenticated());
    }
    look_up(app, Credential::Session(secret::digest(cookie))).await
}

/// Forgets what was read of an account's credentials, here now and on every other replica soon. Called after a
/// revocation is committed.
pub(crate) async fn revoked(app: &App, account: &str, id: &str) {
    forget(app, account);
    app.wakes.publish_revoked(account, id).await;
}

/// The same, as another replica said.
pub(crate) fn forget(app: &App, account: &str) {
    app.principals.forget(account);
    app.held.check_now();
}

/// 401, without the reason.
pub(crate) fn unauthenticated() -> Problem {
    Problem::new(ErrorCode::Unauthenticated, "a valid credential is needed")
}

async fn look_up(app: &App, credential: Credential) -> Result<Principal, Problem> {
    match app.principals.get(credential) {
        Some(Known::Principal(principal)) => return Ok(principal),
        Some(Known::Nobody) => return Err(unauthenticated()),
        None => {}
    }
    let ticket = app.principals.ticket();
    let pool = app.pool.clone();
    let look_up =
        || async move { Ok((ticket, directory::credentials::find(&pool, credential).await?)) }.boxed();
    let (ticket, found) = app.look_ups.join(credential, ticket, look_up).await?;
    app.principals.put(ticket, credential, found.as_ref());
    found.map(|found| found.principal).ok_or_else(unauthenticated)
}

/// Compares digests, in constant time.
fn is_admin(app: &App, token: &str) -> bool {
    let Some(expected) = &app.config.gateway.admin_token else {
        return false;
    };
    let is_usable = expected.expose().starts_with(secret::ADMIN_PREFIX);
    is_usable && bool::from(secret::digest(expected.expose()).ct_eq(&secret::digest(token)))
}

fn prefix_of(principal: &Principal) -> &'static str {
    match principal {
        Principal::Admin => secret::ADMIN_PREFIX,
        Principal::Human(_) => secret::HUMAN_PREFIX,
        Principal::Agent(_) => secret::AGENT_PREFIX,
    }
}
