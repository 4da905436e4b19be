//! From a credential to a principal. A refusal is always the same 401: never whether a token is unknown, expired or
//! revoked.

pub(crate) mod cache;
pub(crate) mod checks;
pub(crate) mod extract;
pub(crate) mod held;
pub(crate) mod secret;
mod turns;

use std::time::{Duration, Instant};

use hub_platform::db::Pool;
use hub_platform::shutdown::Shutdown;
use ma2h::error::{ErrorCode, Problem};
use subtle::ConstantTimeEq;

use cache::Known;
pub(crate) use extract::Caller;

use crate::app::App;
use crate::batches::{Batches, Manner};
use crate::directory::credentials::{self, Found};
use crate::principal::{Credential, Principal};

/// How credentials are looked up: all that come at once by few statements, so that neither many callers nor a flood of one
/// of them keeps the connections from anybody else.
const LOOK_UPS: Manner = Manner {
    about: "credentials",
    keys_max: 1000,
    batches_max: 2,
    waiting_max: 20_000,
};

/// How old what is known of a caller may be whose call may be held: it has to be read again before that is too old.
const READ_WITHIN_FOR_HELD: Duration = Duration::from_secs(1);

/// A caller, and when what is known of it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Authenticated {
    pub(crate) principal: Principal,
    pub(crate) read_at: Instant,
}

/// Look-ups of credentials: what was found, and when it was at the earliest.
pub(crate) type LookUps = Batches<Credential, (Found, Instant)>;

/// Look-ups in this database.
pub(crate) fn look_ups(pool: Pool, shutdown: &Shutdown) -> LookUps {
    Batches::new(LOOK_UPS, shutdown, move |keys: Vec<Credential>| {
        let pool = pool.clone();
        async move {
            let read_at = Instant::now();
            let found = credentials::find_all(&pool, &keys).await?;
            let by_credential = found
                .into_iter()
                .filter_map(|found| Some((found.principal.credential()?, (found, read_at))));
            Ok(by_credential.collect())
        }
    })
}

/// Whose token this is, as was read so short a time ago.
pub(crate) async fn authenticate_token(
    app: &App,
    token: &str,
    within: Duration,
) -> Result<Authenticated, Problem> {
    if token.starts_with(secret::ADMIN_PREFIX) {
        let admin = Authenticated {
            principal: Principal::Admin,
            read_at: Instant::now(),
        };
        return is_admin(app, token).then_some(admin).ok_or_else(unauthenticated);
    }
    let prefixes = [secret::HUMAN_PREFIX, secret::AGENT_PREFIX];
    if !prefixes.iter().any(|prefix| secret::is_minted(token, prefix)) {
        return Err(unauthenticated());
    }
    let caller = look_up(app, Credential::Token(secret::digest(token)), within).await?;
    if token.starts_with(prefix_of(&caller.principal)) {
        Ok(caller)
    } else {
        Err(unauthenticated())
    }
}

/// Whose browser session this cookie names; always `Principal::Human`.
pub(crate) async fn authenticate_session(app: &App, cookie: &str) -> Result<Authenticated, Problem> {
    if !secret::is_minted(cookie, "") {
        return Err(unauthenticated());
    }
    look_up(
        app,
        Credential::Session(secret::digest(cookie)),
        READ_WITHIN_FOR_HELD,
    )
    .await
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

async fn look_up(app: &App, credential: Credential, within: Duration) -> Result<Authenticated, Problem> {
    match app.principals.get(credential) {
        Some(Known::Caller(caller)) if caller.read_at.elapsed() <= within => return Ok(caller),
        Some(Known::Nobody) => return Err(unauthenticated()),
        Some(Known::Caller(_)) | None => {}
    }
    // The statement begins after it: what was revoked before is found to be.
    let ticket = app.principals.ticket();
    let found = app.look_ups.ask(credential).await?;
    app.principals
        .put(ticket, credential, found.as_ref().map(|(found, _)| found));
    let (found, read_at) = found.ok_or_else(unauthenticated)?;
    Ok(Authenticated {
        principal: found.principal,
        read_at,
    })
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
