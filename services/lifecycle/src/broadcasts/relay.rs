//! The relay of broadcasts: publishes the jobs of those of which nothing was heard (design rule 5).

use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hub_platform::db::{self, During};
use hub_platform::nats::Jobs;
use hub_platform::shutdown::Shutdown;
use hub_proto::lifecycle::FanOutJob;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::{BACKLOG, RELAY};
use crate::announce::publish;
use crate::look_back::{Look, LookBack};
use crate::pause::Pause;
use crate::statement::{TypedValues, Values};
use crate::tier::{Tier, bigint};

/// How often the backlog is counted.
const BACKLOG_INTERVAL: Duration = Duration::from_secs(5);
/// How far it is counted.
const BACKLOG_MAX: i64 = 10_000;

impl Tier {
    /// Publishes what is due until shutdown.
    pub(crate) async fn relay_broadcasts(self: Arc<Self>, jobs: Jobs, shutdown: Shutdown) {
        let pause = Pause::of(Duration::from_millis(self.config.lifecycle.relay_interval_ms));
        let (mut look_back, mut count_back) = (LookBack::new(self.late()), LookBack::of_a_count(self.late()));
        let (mut counted_at, mut is_left): (Option<Instant>, bool) = (None, false);
        while pause.unless(&shutdown).await {
            let look = look_back.next();
            match self.relay_broadcasts_once(&jobs, look).await {
                Ok(true) => {}
                Ok(false) => {
                    look_back.keep(look);
                    is_left = true;
                }
                Err(error) => {
                    look_back.failed(look, &error);
                    is_left = true;
                    db::report(&error);
                    continue;
                }
            }
            if counted_at.is_none_or(|at| at.elapsed() >= BACKLOG_INTERVAL) {
                counted_at = Some(Instant::now());
                let look = count_back.next();
                match self.count_broadcasts(look).await {
                    // What was left grows old meanwhile.
                    Ok(()) if mem::take(&mut is_left) => count_back.keep(look),
                    Ok(()) => {}
                    Err(error) => {
                        count_back.failed(look, &error);
                        db::report(&error);
                    }
                }
            }
        }
    }

    /// Publishes one chunk; says whether that was all. While NATS is away no row is touched, and what is in a queue that is
    /// merely slow is not published a second time.
    async fn relay_broadcasts_once(&self, jobs: &Jobs, look: Look) -> Result<bool, db::Error> {
        let lifecycle = &self.config.lifecycle;
        let Some(waiting) = jobs.waiting().await else {
            return Ok(false);
        };
        let room = u64::from(lifecycle.relay_queue_max).saturating_sub(waiting);
        let count_max = bigint(room.min(u64::from(lifecycle.relay_batch_max)));
        if count_max == 0 {
            return Ok(false);
        }
        let republish_after_ms = self.republish_after_ms();
        let values: TypedValues<'_> = &[
            (&count_max, Type::INT8),
            (&republish_after_ms, Type::INT8),
            (&look.back_ms(), Type::INT8),
        ];
        let rows = db::retry(|| RELAY.rows_planned(&self.pool, values)).await?;
        let owed: Vec<_> = rows
            .iter()
            .map(job)
            .collect::<Result<_, _>>()
            .during(RELAY.name)?;
        let count = u64::try_from(owed.len()).unwrap_or(u64::MAX);
        metrics::counter!("hub_lifecycle_broadcasts_relayed_total").increment(count);
        // What is not taken is due again soon.
        publish(jobs, &owed).await;
        Ok(bigint(count) < count_max)
    }

    async fn count_broadcasts(&self, look: Look) -> Result<(), db::Error> {
        let values: Values<'_> = &[&BACKLOG_MAX, &look.back_ms()];
        let Some(row) = BACKLOG.row(&self.pool, values).await? else {
            return Ok(());
        };
        let owed: i64 = row.try_get("owed").during(BACKLOG.name)?;
        metrics::gauge!("hub_lifecycle_broadcasts_backlog").set(u32::try_from(owed).unwrap_or(u32::MAX));
        Ok(())
    }
}

fn job(row: &Row) -> Result<FanOutJob, tokio_postgres::Error> {
    Ok(FanOutJob {
        account: row.try_get("account")?,
        broadcast_id: row.try_get("broadcast_id")?,
    })
}
