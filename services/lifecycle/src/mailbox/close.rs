//! The end of a mailbox with its agent: what lies in it is undeliverable, and says so.

use hub_platform::db::{self, During};
use hub_platform::shutdown::Shutdown;
use hub_proto::lifecycle::{CloseMailboxesReply, CloseMailboxesRequest};

use super::{CLOSE, EMPTY, Moved};
use crate::chunks::{self, Chunk};
use crate::error::Error;
use crate::look_back::Look;
use crate::tier::Tier;

/// How much longer than a mark stands the pass looks back for it, in milliseconds: what an attempt had in hand is left alone at
/// first.
const MARKED_MS: i64 = 120_000;

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
    pub(super) async fn empty_closed(&self, look: Look, shutdown: &Shutdown) -> Result<(), db::Error> {
        let batch_max = self.config.lifecycle.sweep_batch_max;
        chunks::each(batch_max, shutdown, |chunk| self.empty_chunk(chunk, look)).await
    }

    async fn empty_chunk(&self, chunk: Chunk, look: Look) -> Result<i64, db::Error> {
        let Chunk { rows, skipped } = chunk;
        let back_ms = look.back_ms().saturating_add(MARKED_MS);
        let bounced = db::retry(async || EMPTY.rows(&self.pool, &[&rows, &back_ms, &skipped]).await).await?;
        let bounced = Moved::all(&bounced).during(EMPTY.name)?;
        self.announce_moved(&bounced);
        Ok(i64::try_from(bounced.len()).unwrap_or(i64::MAX))
    }
}
