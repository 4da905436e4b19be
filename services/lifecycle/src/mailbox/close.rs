//! The end of a mailbox with its agent: what lies in it is undeliverable, and says so.

use hub_platform::db::{self, During};
use hub_platform::shutdown::Shutdown;
use hub_proto::lifecycle::{CloseMailboxesReply, CloseMailboxesRequest};

use super::{CLOSE, EMPTY, Moved};
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

    /// Ends chunk after chunk of what lies in closed mailboxes, until there is none.
    pub(super) async fn empty_closed(&self, look_back_ms: i64, shutdown: &Shutdown) -> Result<(), db::Error> {
        let batch_max = i64::from(self.config.lifecycle.sweep_batch_max);
        while !shutdown.is_triggered() {
            let rows = db::retry(async || EMPTY.rows(&self.pool, &[&batch_max, &look_back_ms]).await).await?;
            let bounced = Moved::all(&rows).during(EMPTY.name)?;
            self.announce_moved(&bounced);
            if bounced.is_empty() {
                break;
            }
        }
        Ok(())
    }
}
