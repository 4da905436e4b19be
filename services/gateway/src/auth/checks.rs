//! Whether the callers of held calls still may: their credentials are read again and again. A revocation is promised to end
//! them within 3 s, whether or not NATS told of it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::{Instant, sleep, timeout};

use super::held::Held;
use crate::app::App;
use crate::directory::credentials;
use crate::principal::{Credential, Principal};

/// How often every held credential is read again; revocations are promised within 3 s.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// How long one reading may take.
const CHECK_TIMEOUT: Duration = Duration::from_secs(1);
/// How often those are looked for of which nothing was read for too long.
const UNCHECKED_INTERVAL: Duration = Duration::from_millis(200);
/// Credentials of one statement, and statements at a time.
const CHECK_BATCH_MAX: usize = 1000;
const CHECKS_MAX: usize = 4;

/// Ends the calls whose credentials have ended, or are not known to hold, until the hub stops.
pub(crate) async fn watch(app: Arc<App>) {
    tokio::select! {
        () = app.shutdown.requested() => {}
        () = check_all(&app) => {}
        () = end_unchecked(&app.held) => {}
    }
}

/// Reads the held credentials again and again.
async fn check_all(app: &App) {
    loop {
        tokio::select! {
            () = app.held.check_asked() => {}
            () = sleep(CHECK_INTERVAL) => {}
        }
        for credentials in app.held.credentials().chunks(CHECK_BATCH_MAX * CHECKS_MAX) {
            join_all(credentials.chunks(CHECK_BATCH_MAX).map(|batch| check(app, batch))).await;
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
async fn check(app: &App, credentials: &[Credential]) {
    let read_at = Instant::now();
    let reading = credentials::find_all(&app.pool, credentials);
    let Ok(Ok(valid)) = timeout(CHECK_TIMEOUT, reading).await else {
        metrics::counter!("hub_gateway_credential_checks_failed_total").increment(1);
        return;
    };
    let valid: HashMap<Credential, Principal> = valid
        .into_iter()
        .filter_map(|found| Some((found.principal.credential()?, found.principal)))
        .collect();
    let read = credentials.iter().copied().collect();
    app.held.found(&read, &valid, read_at);
}
