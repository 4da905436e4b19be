//! The end of what is kept of broadcasts.

use hub_platform::db::{self, During};
use hub_platform::shutdown::Shutdown;

use super::PURGE;
use crate::tier::Tier;

impl Tier {
    /// Chunk after chunk, until there is none.
    pub(crate) async fn purge_broadcasts(&self, shutdown: &Shutdown) -> Result<(), db::Error> {
        let batch_max = i64::from(self.config.lifecycle.sweep_batch_max);
        while !shutdown.is_triggered() {
            let row = db::retry(async || PURGE.row(&self.pool, &[&batch_max]).await).await?;
            let dropped: i64 = row
                .map_or(Ok(0), |row| row.try_get("dropped"))
                .during(PURGE.name)?;
            if dropped == 0 {
                break;
            }
        }
        Ok(())
    }
}
