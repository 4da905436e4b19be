//! Drops the keys and secrets that have outlived their overlap. What is listed and published leaves them out at their time
//! already; here they are forgotten.

use std::time::Duration;

use hub_platform::db::{During as _, Error, Pool};
use hub_platform::shutdown::Shutdown;

const SIGNING_KEYS: &str = include_str!("signing_keys.sql");
const SECRETS: &str = include_str!("secrets.sql");

/// The statements of this module, by name.
pub(crate) const STATEMENTS: &[(&str, &str)] =
    &[("sweep/signing_keys", SIGNING_KEYS), ("sweep/secrets", SECRETS)];

/// Secrets dropped by one statement.
const CHUNK_ROWS: i64 = 500;

/// Sweeps now and then until shutdown.
pub(crate) async fn run(pool: Pool, interval: Duration, shutdown: Shutdown) {
    loop {
        if let Err(error) = sweep(&pool).await {
            tracing::warn!(%error, "sweep of outlived keys failed");
        }
        tokio::select! {
            () = shutdown.requested() => return,
            () = tokio::time::sleep(interval) => {}
        }
    }
}

async fn sweep(pool: &Pool) -> Result<(), Error> {
    let doing = "drop outlived keys";
    let client = pool.get().await.during(doing)?;
    let statement = client.prepare_cached(SIGNING_KEYS).await.during(doing)?;
    let keys = client.execute(&statement, &[]).await.during(doing)?;
    let statement = client.prepare_cached(SECRETS).await.during(doing)?;
    let mut secrets = 0;
    loop {
        let dropped = client.execute(&statement, &[&CHUNK_ROWS]).await.during(doing)?;
        secrets += dropped;
        if dropped < CHUNK_ROWS.unsigned_abs() {
            break;
        }
    }
    if keys + secrets > 0 {
        tracing::info!(keys, secrets, "dropped outlived keys");
    }
    Ok(())
}
