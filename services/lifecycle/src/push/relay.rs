//! The relay: publishes the jobs of pushes whose time has come. All that is owed is found by looking (design rule 5).

use std::sync::Arc;
use std::time::{Duration, Instant};

use hub_platform::backoff::Backoff;
use hub_platform::db::{self, During};
use hub_platform::nats::Jobs;
use hub_platform::shutdown::Shutdown;
use hub_proto::lifecycle::PushJob;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::release::Release;
use super::{BACKLOG, RELAY};
use crate::announce::publish;
use crate::look_back::{Look, LookBack};
use crate::pause::Pause;
use crate::statement::TypedValues;
use crate::tier::{Tier, bigint};

/// How often the backlog is counted.
pub(super) const BACKLOG_INTERVAL: Duration = Duration::from_secs(5);
/// How far it is counted.
pub(super) const BACKLOG_MAX: i64 = 10_000;

/// What came of a pass.
enum Relayed {
    /// Nothing is due any more.
    All,
    /// There was no room for the rest, or NATS is away.
    Part,
    /// NATS did not take what it was given.
    Refused,
}

impl Tier {
    /// Publishes what is due until shutdown.
    pub(crate) async fn relay(self: Arc<Self>, jobs: Jobs, shutdown: Shutdown) {
        let lifecycle = &self.config.lifecycle;
        let pause = Pause::of(Duration::from_millis(lifecycle.relay_interval_ms));
        let mut refused = Backoff::new(
            Duration::from_millis(lifecycle.relay_interval_ms),
            Duration::from_millis(lifecycle.republish_after_ms),
        );
        let (mut look_back, mut count_back) = (LookBack::new(self.late()), LookBack::of_a_count(self.late()));
        let mut release = Release::default();
        let mut counted_at: Option<Instant> = None;
        while pause.unless(&shutdown).await {
            if let Err(error) = release.pass(&self, &jobs).await {
                db::report(&error);
            }
            let look = look_back.next();
            match self.relay_once(&jobs, look, &shutdown).await {
                Ok(Relayed::All) => refused.reset(),
                // What there was no room for grows old meanwhile.
                Ok(Relayed::Part) => {
                    look_back.keep(look);
                    refused.reset();
                }
                Ok(Relayed::Refused) => {
                    look_back.keep(look);
                    // Each chunk that is not taken was rewritten for nothing.
                    pause_for(refused.next_delay(), &shutdown).await;
                }
                Err(error) => {
                    look_back.failed(look, &error);
                    db::report(&error);
                    continue;
                }
            }
            if counted_at.is_none_or(|at| at.elapsed() >= BACKLOG_INTERVAL) {
                counted_at = Some(Instant::now());
                let look = count_back.next();
                match self.count_backlog(look).await {
                    Ok(0) => {}
                    // What stays late grows old.
                    Ok(_) => count_back.keep(look),
                    Err(error) => {
                        count_back.failed(look, &error);
                        db::report(&error);
                    }
                }
            }
        }
    }

    /// Publishes chunk after chunk, until one is not full or the queue is. While NATS is away no row is touched: nothing can be
    /// published. What is in a queue that is merely slow is not lost, and is not published a second time.
    async fn relay_once(&self, jobs: &Jobs, look: Look, shutdown: &Shutdown) -> Result<Relayed, db::Error> {
        let lifecycle = &self.config.lifecycle;
        let Some(waiting) = jobs.waiting().await else {
            return Ok(Relayed::Part);
        };
        let mut room = u64::from(lifecycle.relay_queue_max).saturating_sub(waiting);
        while room > 0 && !shutdown.is_triggered() {
            let chunk_max = room.min(u64::from(lifecycle.relay_batch_max));
            let owed = self.take_due(bigint(chunk_max), look).await?;
            let count = u64::try_from(owed.len()).unwrap_or(u64::MAX);
            metrics::counter!("hub_lifecycle_pushes_relayed_total").increment(count);
            if !publish(jobs, &owed).await {
                return Ok(Relayed::Refused);
            }
            if count < chunk_max {
                return Ok(Relayed::All);
            }
            room = room.saturating_sub(count);
        }
        Ok(Relayed::Part)
    }

    /// Takes at most so many pushes whose job shall be published now.
    async fn take_due(&self, count_max: i64, look: Look) -> Result<Vec<PushJob>, db::Error> {
        let republish_after_ms = self.republish_after_ms();
        let values: TypedValues<'_> = &[
            (&count_max, Type::INT8),
            (&republish_after_ms, Type::INT8),
            (&look.back_ms(), Type::INT8),
        ];
        let rows = db::retry(|| RELAY.rows_planned(&self.pool, values)).await?;
        rows.iter().map(job).collect::<Result<_, _>>().during(RELAY.name)
    }

    /// Counts what is owed, and how much of it is late.
    async fn count_backlog(&self, look: Look) -> Result<i64, db::Error> {
        let Some(row) = BACKLOG.row(&self.pool, &[&BACKLOG_MAX, &look.back_ms()]).await? else {
            return Ok(0);
        };
        tell(&row, "owed").during(BACKLOG.name)?;
        tell(&row, "late").during(BACKLOG.name)
    }
}

/// Tells the metrics how many pushes a count found of this state, and says it.
pub(super) fn tell(row: &Row, state: &'static str) -> Result<i64, tokio_postgres::Error> {
    let count: i64 = row.try_get(state)?;
    metrics::gauge!("hub_lifecycle_pushes_backlog", "state" => state)
        .set(u32::try_from(count).unwrap_or(u32::MAX));
    Ok(count)
}

async fn pause_for(delay: Duration, shutdown: &Shutdown) {
    tokio::select! {
        () = shutdown.requested() => {}
        () = tokio::time::sleep(delay) => {}
    }
}

/// The job of the push in a row.
pub(super) fn job(row: &Row) -> Result<PushJob, tokio_postgres::Error> {
    Ok(PushJob {
        account: row.try_get("account")?,
        message_id: row.try_get("message_id")?,
    })
}
