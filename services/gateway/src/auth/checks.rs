//! Whether the callers of held calls still may: their credentials are read again and again. A revocation is promised to end
//! them within 3 s, whether or not NATS told of it. They are read on a thread and by a connection apart, so that a gateway
//! with a burst of calls to take lets go of none that it holds.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use hub_platform::db::Pool;
use tokio::runtime;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::held::Held;
use crate::app::App;
use crate::directory::credentials;
use crate::principal::{Credential, Principal};

/// How often every held credential is read again; revocations are promised within 3 s.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// How long one reading may take; what it found is as of its beginning.
const CHECK_TIMEOUT: Duration = Duration::from_secs(2);
/// How often those are looked for of which nothing was read for too long.
const UNCHECKED_INTERVAL: Duration = Duration::from_millis(200);
/// Credentials of one statement.
const CHECK_BATCH_MAX: usize = 1000;

/// Ends the calls whose credentials have ended, or are not known to hold, until the hub stops.
pub(crate) async fn watch(app: Arc<App>) {
    let over = CancellationToken::new();
    let _ends_with_this = over.clone().drop_guard();
    let held = app.held.clone();
    let pool = app.checks_pool.clone();
    let checking = std::thread::Builder::new().name("credential-checks".to_owned());
    if let Err(error) = checking.spawn(move || check_apart(&held, &pool, &over)) {
        tracing::error!(%error, "held credentials are not checked, so that nothing is held for long");
    }
    tokio::select! {
        () = app.shutdown.requested() => {}
        () = end_unchecked(&app.held) => {}
    }
}

/// Until it is over.
fn check_apart(held: &Held, pool: &Pool, over: &CancellationToken) {
    let runtime = match runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            tracing::error!(%error, "held credentials are not checked, so that nothing is held for long");
            return;
        }
    };
    runtime.block_on(async {
        tokio::select! {
            () = over.cancelled() => {}
            () = check_all(held, pool) => {}
        }
    });
}

/// Reads the held credentials again and again.
async fn check_all(held: &Held, pool: &Pool) {
    loop {
        tokio::select! {
            () = held.check_asked() => {}
            () = sleep(CHECK_INTERVAL) => {}
        }
        for credentials in held.credentials().chunks(CHECK_BATCH_MAX) {
            check(held, pool, credentials).await;
        }
    }
}

/// However long a reading takes.
async fn end_unchecked(held: &Held) {
    loop {
        sleep(UNCHECKED_INTERVAL).await;
        held.end_unchecked();
    }
}

/// That the database does not answer here says nothing of what another gateway has revoked.
async fn check(held: &Held, pool: &Pool, credentials: &[Credential]) {
    let read_at = Instant::now();
    let reading = credentials::find_all(pool, credentials);
    let Ok(Ok(valid)) = timeout(CHECK_TIMEOUT, reading).await else {
        metrics::counter!("hub_gateway_credential_checks_failed_total").increment(1);
        return;
    };
    let valid: HashMap<Credential, Principal> = valid
        .into_iter()
        .filter_map(|found| Some((found.principal.credential()?, found.principal)))
        .collect();
    let read = credentials.iter().copied().collect();
    held.found(&read, &valid, read_at);
}
