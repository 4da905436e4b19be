//! The release: puts held pushes back on the queue once their host is sent to again. Which host that is, delivery says;
//! like all that is owed, they are found by looking (design rule 5).

use hub_platform::db::{self, During};
use hub_platform::nats::Jobs;
use tokio_postgres::types::Type;

use super::RELEASE;
use super::relay::job;
use crate::announce::publish;
use crate::statement::TypedValues;
use crate::tier::{Tier, bigint};

/// Hosts with held pushes that one pass looks at.
const HOSTS_MAX: i64 = 10_000;
/// Passes after which a host that had no room is taken to have some again.
const FULL_FOR_PASSES: u64 = 3;

impl Tier {
    /// Releases a chunk of each host. While NATS is away nothing is: its jobs could not be published.
    pub(super) async fn release(&self, jobs: &Jobs) -> Result<(), db::Error> {
        if !jobs.is_connected() {
            return Ok(());
        }
        let of_host_max = i64::from(self.config.lifecycle.relay_batch_max);
        let republish_after_ms = self.republish_after_ms();
        let full_for_ms = bigint(FULL_FOR_PASSES * self.config.lifecycle.relay_interval_ms);
        let of_full_host_max = i64::try_from(self.config.callback.per_host_max).unwrap_or(i64::MAX);
        let values: TypedValues<'_> = &[
            (&of_host_max, Type::INT8),
            (&republish_after_ms, Type::INT8),
            (&HOSTS_MAX, Type::INT8),
            (&full_for_ms, Type::INT8),
            (&of_full_host_max, Type::INT8),
        ];
        let rows = db::retry(|| RELEASE.rows_planned(&self.pool, values)).await?;
        let released = rows.iter().map(job).collect::<Result<Vec<_>, _>>();
        let released = released.during(RELEASE.name)?;
        let count = u64::try_from(released.len()).unwrap_or(u64::MAX);
        metrics::counter!("hub_lifecycle_pushes_released_total").increment(count);
        publish(jobs, &released).await;
        Ok(())
    }
}
