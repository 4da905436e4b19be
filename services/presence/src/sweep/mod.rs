//! Forgets agents that are no longer there. Nobody is told of them meanwhile: what is read looks whether there is such an
//! agent. Here their rows go, also one that a sign of life on its way has made again.

use std::time::Duration;

use hub_platform::db::{self, During as _, Error, Pool};
use hub_platform::shutdown::Shutdown;
use metrics::{counter, describe_counter};

const GONE: &str = include_str!("gone.sql");

/// The statements of this module, by name.
pub(crate) const STATEMENTS: &[(&str, &str)] = &[("sweep/gone", GONE)];

/// Principals that one statement looks at.
const CHUNK_ROWS: i64 = 1000;

const FORGOTTEN: &str = "hub_presence_forgotten_total";

/// Looks at chunk after chunk, one each interval, and begins anew at the end, until shutdown.
pub(crate) async fn run(pool: Pool, interval: Duration, freshness_seconds: i64, shutdown: Shutdown) {
    describe_counter!(FORGOTTEN, "agents that were no longer there, and are forgotten");
    let mut after = Place::default();
    loop {
        match sweep(&pool, &after, freshness_seconds).await {
            Ok(last) => after = last.unwrap_or_default(),
            Err(error) => drop(db::report(&error)),
        }
        tokio::select! {
            () = shutdown.requested() => return,
            () = tokio::time::sleep(interval) => {}
        }
    }
}

/// Account and id of the principal that was looked at last.
type Place = (String, String);

async fn sweep(pool: &Pool, after: &Place, freshness_seconds: i64) -> Result<Option<Place>, Error> {
    let doing = "forget agents that are gone";
    let client = pool.get().await.during(doing)?;
    let statement = client.prepare_cached(GONE).await.during(doing)?;
    let (account, agent) = after;
    let row = client
        .query_opt(&statement, &[account, agent, &CHUNK_ROWS, &freshness_seconds])
        .await
        .during(doing)?;
    let Some(row) = row else {
        return Ok(None);
    };
    let forgotten: i64 = row.try_get("forgotten").during(doing)?;
    counter!(FORGOTTEN).increment(forgotten.unsigned_abs());
    let account = row.try_get("account").during(doing)?;
    Ok(Some((account, row.try_get("agent").during(doing)?)))
}
