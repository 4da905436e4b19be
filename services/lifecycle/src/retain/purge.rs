//! What would otherwise stay for ever: keys, tombstones, rate budgets.

use std::time::Duration;

use hub_platform::db::{self, During};
use hub_platform::shutdown::Shutdown;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::look_back::Look;
use crate::statement::{Statement, TypedValues};
use crate::tier::{Tier, bigint};

pub(crate) const PURGE_KEYS: Statement = Statement {
    name: "purge keys",
    sql: include_str!("purge_keys.sql"),
};
pub(crate) const PURGE_TOMBSTONES: Statement = Statement {
    name: "purge tombstones",
    sql: include_str!("purge_tombstones.sql"),
};
pub(crate) const PURGE_BUDGETS: Statement = Statement {
    name: "purge budgets",
    sql: include_str!("purge_budgets.sql"),
};

/// How long a key whose message is open is not looked at again.
const KEY_POSTPONED: Duration = Duration::from_hours(1);
/// How long after its minute a rate budget goes that nothing was charged to since.
const BUDGET_KEPT: Duration = Duration::from_hours(1);

/// A rate budget's key; the default comes before all.
#[derive(Debug, Default)]
pub(super) struct BudgetKey {
    account: String,
    agent: String,
    scope: String,
}

impl Tier {
    /// Chunk after chunk, until one is not full.
    pub(super) async fn purge_keys(&self, look: Look, shutdown: &Shutdown) -> Result<(), db::Error> {
        let batch_max = i64::from(self.config.lifecycle.sweep_batch_max);
        let postponed_ms = i64::try_from(KEY_POSTPONED.as_millis()).unwrap_or(i64::MAX);
        while !shutdown.is_triggered() {
            let values: TypedValues<'_> = &[
                (&batch_max, Type::INT8),
                (&postponed_ms, Type::INT8),
                (&look.back_ms(), Type::INT8),
            ];
            let rows = db::retry(|| PURGE_KEYS.rows_planned(&self.pool, values)).await?;
            let Some(row) = rows.first() else {
                break;
            };
            let (taken, purged): (i64, i64) =
                (|| Ok::<_, tokio_postgres::Error>((row.try_get("taken")?, row.try_get("purged")?)))()
                    .during(PURGE_KEYS.name)?;
            metrics::counter!("hub_lifecycle_keys_purged_total")
                .increment(u64::try_from(purged).unwrap_or_default());
            if taken < batch_max {
                break;
            }
        }
        Ok(())
    }

    /// Chunk after chunk, until one is not full.
    pub(super) async fn purge_tombstones(&self, look: Look, shutdown: &Shutdown) -> Result<(), db::Error> {
        let config = &self.config.lifecycle;
        let batch_max = i64::from(config.sweep_batch_max);
        while !shutdown.is_triggered() {
            let values: TypedValues<'_> = &[
                (&batch_max, Type::INT8),
                (&bigint(config.tombstone_seconds), Type::INT8),
                (&look.back_ms(), Type::INT8),
            ];
            let rows = db::retry(|| PURGE_TOMBSTONES.rows_planned(&self.pool, values)).await?;
            let taken: i64 = rows
                .first()
                .map_or(Ok(0), |row| row.try_get("taken"))
                .during(PURGE_TOMBSTONES.name)?;
            metrics::counter!("hub_lifecycle_tombstones_purged_total")
                .increment(u64::try_from(taken).unwrap_or_default());
            if taken < batch_max {
                break;
            }
        }
        Ok(())
    }

    /// One chunk; the next call goes on from there, and in the end from the beginning.
    pub(super) async fn purge_budgets(&self, from: &mut BudgetKey) -> Result<(), db::Error> {
        let batch_max = i64::from(self.config.lifecycle.sweep_batch_max);
        let kept_ms = i64::try_from(BUDGET_KEPT.as_millis()).unwrap_or(i64::MAX);
        let values: TypedValues<'_> = &[
            (&batch_max, Type::INT8),
            (&from.account, Type::TEXT),
            (&from.agent, Type::TEXT),
            (&from.scope, Type::TEXT),
            (&kept_ms, Type::INT8),
        ];
        let rows = db::retry(|| PURGE_BUDGETS.rows_planned(&self.pool, values)).await?;
        let Some(row) = rows.first() else {
            *from = BudgetKey::default();
            return Ok(());
        };
        let (last, purged) = walked(row).during(PURGE_BUDGETS.name)?;
        metrics::counter!("hub_lifecycle_budgets_purged_total")
            .increment(u64::try_from(purged).unwrap_or_default());
        *from = last;
        Ok(())
    }
}

/// Where a chunk of budgets ended, and how many of it were dropped.
fn walked(row: &Row) -> Result<(BudgetKey, i64), tokio_postgres::Error> {
    let last = BudgetKey {
        account: row.try_get("account")?,
        agent: row.try_get("agent")?,
        scope: row.try_get("scope")?,
    };
    Ok((last, row.try_get("purged")?))
}
