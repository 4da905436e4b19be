//! The end of what is written for ever: the audit, when it is old, and tokens that expired as long ago.

use std::sync::Arc;
use std::time::Duration;

use ma2h::error::Problem;

use super::{Statement, audit, rows, tokens};
use crate::app::App;

/// Rows of one statement.
const CHUNK_ROWS: usize = 500;

/// Sweeps now and then until the hub stops.
pub(crate) async fn run(app: Arc<App>) {
    let interval = Duration::from_millis(app.config.gateway.directory_sweep_interval_ms);
    loop {
        // Replicas that began together shall not go on together.
        let pause = interval.mul_f64(0.75 + rand::random::<f64>() / 2.0);
        tokio::select! {
            () = app.shutdown.requested() => return,
            () = tokio::time::sleep(pause) => {}
        }
        for (of, statement) in [("audit", audit::PURGE), ("token", tokens::PURGE)] {
            // What failed is in the log by now; the next sweep finds it again.
            let _ = purge(&app, of, statement).await;
        }
    }
}

/// Chunk after chunk, until one is not full.
async fn purge(app: &App, of: &'static str, statement: Statement) -> Result<(), Problem> {
    // Both are far below the type's limit.
    let chunk_rows = i64::try_from(CHUNK_ROWS).unwrap_or(i64::MAX);
    let kept_seconds = i64::try_from(app.config.gateway.audit_retention_seconds).unwrap_or(i64::MAX);
    while !app.shutdown.is_triggered() {
        let dropped = rows(&app.pool, statement, &[&chunk_rows, &kept_seconds])
            .await?
            .len();
        let count = u64::try_from(dropped).unwrap_or(u64::MAX);
        metrics::counter!("hub_directory_rows_purged_total", "of" => of).increment(count);
        if dropped < CHUNK_ROWS {
            break;
        }
    }
    Ok(())
}
