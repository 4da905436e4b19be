//! The relay: publishes the jobs of pushes whose time has come. All that is owed is found by looking (design rule 5).

use std::sync::Arc;
use std::time::{Duration, Instant};

use hub_platform::db::{self, During};
use hub_platform::nats::Jobs;
use hub_platform::shutdown::Shutdown;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::{BACKLOG, RELAY};
use crate::announce::{PushJob, publish};
use crate::pause::Pause;
use crate::statement::TypedValues;
use crate::tier::Tier;

/// How often the backlog is counted.
const BACKLOG_INTERVAL: Duration = Duration::from_secs(5);
/// How far it is counted.
const BACKLOG_MAX: i64 = 10_000;

impl Tier {
    /// Publishes what is due until shutdown.
    pub(crate) async fn relay(self: Arc<Self>, jobs: Jobs, shutdown: Shutdown) {
        let pause = Pause::of(Duration::from_millis(self.config.lifecycle.relay_interval_ms));
        let mut counted_at: Option<Instant> = None;
        while pause.unless(&shutdown).await {
            if let Err(error) = self.relay_once(&jobs, &shutdown).await {
                db::report(&error);
                continue;
            }
            if counted_at.is_none_or(|at| at.elapsed() >= BACKLOG_INTERVAL) {
                counted_at = Some(Instant::now());
                if let Err(error) = self.count_backlog().await {
                    db::report(&error);
                }
            }
        }
    }

    /// Publishes chunk after chunk, until one is not full. A chunk that NATS does not take is due again later.
    async fn relay_once(&self, jobs: &Jobs, shutdown: &Shutdown) -> Result<(), db::Error> {
        let batch_max = i64::from(self.config.lifecycle.relay_batch_max);
        let republish_after_ms = self.republish_after_ms();
        while !shutdown.is_triggered() {
            let values: TypedValues<'_> = &[(&batch_max, Type::INT8), (&republish_after_ms, Type::INT8)];
            let rows = db::retry(|| RELAY.rows_planned(&self.pool, values)).await?;
            let owed = rows
                .iter()
                .map(read)
                .collect::<Result<Vec<_>, _>>()
                .during(RELAY.name)?;
            publish(jobs, &owed).await;
            let count = u64::try_from(owed.len()).unwrap_or_default();
            metrics::counter!("hub_lifecycle_pushes_relayed_total").increment(count);
            if i64::try_from(owed.len()).unwrap_or(i64::MAX) < batch_max {
                break;
            }
        }
        Ok(())
    }

    async fn count_backlog(&self) -> Result<(), db::Error> {
        let Some(row) = BACKLOG.row(&self.pool, &[&BACKLOG_MAX]).await? else {
            return Ok(());
        };
        for name in ["owed", "late"] {
            let count: i64 = row.try_get(name).during(BACKLOG.name)?;
            let count = u32::try_from(count).unwrap_or(u32::MAX);
            metrics::gauge!("hub_lifecycle_pushes_backlog", "state" => name).set(count);
        }
        Ok(())
    }
}

fn read(row: &Row) -> Result<PushJob, tokio_postgres::Error> {
    Ok(PushJob {
        account: row.try_get("account")?,
        message_id: row.try_get("message_id")?,
    })
}
