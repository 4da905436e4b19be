//! The release: puts held pushes back on the queue once their host is sent to again, or their webhook has left it. Which host
//! that is, and where a webhook is, delivery says; like all that is owed, they are found by looking (design rule 5). What stays
//! held is counted with it: both step over all that was held, so that both rest together.

use std::time::{Duration, Instant};

use hub_platform::db::{self, During};
use hub_platform::nats::Jobs;
use tokio_postgres::types::Type;

use super::relay::{BACKLOG_INTERVAL, BACKLOG_MAX, job, tell};
use super::{HELD, RELEASE, RELEASE_MOVED};
use crate::announce::publish;
use crate::statement::{Statement, TypedValues};
use crate::tier::{Tier, bigint};

/// Hosts, or webhooks, with held pushes that one pass looks at.
const WALKED_MAX: i64 = 10_000;
/// Passes after which a host that had no room is taken to have some again.
const FULL_FOR_PASSES: u64 = 3;
/// How often the webhooks are looked at: there may be one for each agent, and few ever move.
const MOVED_INTERVAL: Duration = Duration::from_secs(2);
/// How long after a pass that found nothing, or failed, there is none, as a multiple of what it took: one that steps over much
/// that an old snapshot keeps comes less often.
const REST: u32 = 9;
const REST_MAX: Duration = Duration::from_secs(30);

/// The release of one process.
#[derive(Debug, Default)]
pub(super) struct Release {
    moved_at: Option<Instant>,
    counted_at: Option<Instant>,
    rests_until: Option<Instant>,
}

impl Release {
    /// Releases a chunk of each host, and now and then of each webhook that has moved. While NATS is away nothing is: its
    /// jobs could not be published.
    pub(super) async fn pass(&mut self, tier: &Tier, jobs: &Jobs) -> Result<(), db::Error> {
        let began = Instant::now();
        if !jobs.is_connected() || self.rests_until.is_some_and(|until| began < until) {
            return Ok(());
        }
        let is_due = |at: Option<Instant>, every| at.is_none_or(|at| at.elapsed() >= every);
        let hosts = tier.release_hosts(jobs).await;
        let mut moved = Ok(0);
        if is_due(self.moved_at, MOVED_INTERVAL) {
            self.moved_at = Some(Instant::now());
            moved = tier.release_moved(jobs).await;
        }
        let mut counted = Ok(());
        if is_due(self.counted_at, BACKLOG_INTERVAL) {
            self.counted_at = Some(Instant::now());
            counted = tier.count_held().await;
        }
        if !matches!((&hosts, &moved), (Ok(1..), _) | (_, Ok(1..))) {
            let rest = (began.elapsed() * REST).min(REST_MAX);
            self.rests_until = Some(Instant::now() + rest);
        }
        hosts.and(moved).and(counted)
    }
}

impl Tier {
    async fn release_hosts(&self, jobs: &Jobs) -> Result<usize, db::Error> {
        let of_host_max = i64::from(self.config.lifecycle.relay_batch_max);
        let full_for_ms = bigint(FULL_FOR_PASSES * self.config.lifecycle.relay_interval_ms);
        let of_full_host_max = i64::try_from(self.config.callback.per_host_max).unwrap_or(i64::MAX);
        let values: TypedValues<'_> = &[
            (&of_host_max, Type::INT8),
            (&self.republish_after_ms(), Type::INT8),
            (&WALKED_MAX, Type::INT8),
            (&full_for_ms, Type::INT8),
            (&of_full_host_max, Type::INT8),
        ];
        self.release(&RELEASE, values, jobs).await
    }

    async fn count_held(&self) -> Result<(), db::Error> {
        if let Some(row) = HELD.row(&self.pool, &[&BACKLOG_MAX]).await? {
            tell(&row, "held").during(HELD.name)?;
        }
        Ok(())
    }

    async fn release_moved(&self, jobs: &Jobs) -> Result<usize, db::Error> {
        let of_webhook_max = i64::from(self.config.lifecycle.relay_batch_max);
        let values: TypedValues<'_> = &[
            (&of_webhook_max, Type::INT8),
            (&self.republish_after_ms(), Type::INT8),
            (&WALKED_MAX, Type::INT8),
        ];
        self.release(&RELEASE_MOVED, values, jobs).await
    }

    /// How many were released.
    async fn release(
        &self,
        statement: &Statement,
        values: TypedValues<'_>,
        jobs: &Jobs,
    ) -> Result<usize, db::Error> {
        let rows = db::retry(|| statement.rows_planned(&self.pool, values)).await?;
        let released = rows.iter().map(job).collect::<Result<Vec<_>, _>>();
        let released = released.during(statement.name)?;
        let count = u64::try_from(released.len()).unwrap_or(u64::MAX);
        metrics::counter!("hub_lifecycle_pushes_released_total").increment(count);
        publish(jobs, &released).await;
        Ok(released.len())
    }
}
