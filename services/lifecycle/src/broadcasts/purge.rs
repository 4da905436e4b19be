//! The end of what is kept of broadcasts.

use hub_platform::db::{self, During};
use hub_platform::shutdown::Shutdown;
use tokio_postgres::types::Type;

use super::PURGE;
use crate::look_back::Look;
use crate::statement::TypedValues;
use crate::tier::Tier;

impl Tier {
    /// Chunk after chunk, until there is none.
    pub(crate) async fn purge_broadcasts(&self, look: Look, shutdown: &Shutdown) -> Result<(), db::Error> {
        let batch_max = i64::from(self.config.lifecycle.sweep_batch_max);
        while !shutdown.is_triggered() {
            let values: TypedValues<'_> = &[(&batch_max, Type::INT8), (&look.back_ms(), Type::INT8)];
            let rows = db::retry(|| PURGE.rows_planned(&self.pool, values)).await?;
            let dropped: i64 = rows
                .first()
                .map_or(Ok(0), |row| row.try_get("dropped"))
                .during(PURGE.name)?;
            if dropped == 0 {
                break;
            }
        }
        Ok(())
    }
}
