//! The end of a mailbox with its agent: what lies in it is undeliverable, and says so.

use hub_platform::db::{self, During};
use hub_platform::shutdown::Shutdown;
use hub_proto::lifecycle::{CloseMailboxesReply, CloseMailboxesRequest};

use super::{CLOSE, EMPTY, Moved};
use crate::chunks::{self, Chunk};
use crate::error::Error;
use crate::tier::Tier;

impl Tier {
    /// Closes the mailbox of an agent, or those of an account; the pass ends what lies there.
    pub(crate) async fn close_mailboxes(
        &self,
        request: CloseMailboxesRequest,
    ) -> Result<CloseMailboxesReply, Error> {
        let (account, agent) = (&request.account, &request.agent);
        db::retry(async || CLOSE.rows(&self.pool, &[account, agent]).await).await?;
        Ok(CloseMailboxesReply {})
    }

    /// Ends what lies in closed mailboxes.
    pub(super) async fn empty_closed(&self, look_back_ms: i64, shutdown: &Shutdown) -> Result<(), db::Error> {
        let batch_max = self.config.lifecycle.sweep_batch_max;
        chunks::each(batch_max, shutdown, |chunk| self.empty_chunk(chunk, look_back_ms)).await
    }

    async fn empty_chunk(&self, chunk: Chunk, look_back_ms: i64) -> Result<i64, db::Error> {
        let Chunk { rows, skipped } = chunk;
        let bounced =
            db::retry(async || EMPTY.rows(&self.pool, &[&rows, &look_back_ms, &skipped]).await).await?;
        let bounced = Moved::all(&bounced).during(EMPTY.name)?;
        self.announce_moved(&bounced);
        Ok(i64::try_from(bounced.len()).unwrap_or(i64::MAX))
    }
}
