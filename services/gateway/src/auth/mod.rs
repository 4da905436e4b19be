//! From a credential to a principal. A refusal is always the same 401: never whether a token is unknown, expired or
//! revoked.

pub(crate) mod cache;
pub(crate) mod extract;
pub(crate) mod held;
pub(crate) mod secret;

use ma2h::error::{ErrorCode, Problem};
use subtle::ConstantTimeEq;

pub(crate) use extract::Caller;

use crate::app::App;
use crate::directory;
use crate::principal::{Credential, Principal};

/// Longest credential looked at.
const CREDENTIAL_BYTES_MAX: usize = 512;

/// Whose token this is.
pub(crate) async fn authenticate_token(app: &App, token: &str) -> Result<Principal, Problem> {
    if token.len() > CREDENTIAL_BYTES_MAX {
        return Err(unauthenticated());
    }
    if token.starts_with(secret::ADMIN_PREFIX) {
        return is_admin(app, token)
            .then_some(Principal::Admin)
            .ok_or_else(unauthenticated);
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
    if cookie.len() > CREDENTIAL_BYTES_MAX {
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
    if let Some(principal) = app.principals.get(credential) {
        return Ok(principal);
    }
    let ticket = app.principals.ticket();
    let principal = directory::credentials::find(&app.pool, credential)
        .await?
        .ok_or_else(unauthenticated)?;
    app.principals.put(ticket, credential, &principal);
    Ok(principal)
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
