//! How much waits in mailboxes, for people who look.

use hub_platform::db::During;
use hub_proto::lifecycle::{CountWaitingReply, CountWaitingRequest, Waiting};
use ma2h::error::Problem;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::WAITING;
use crate::error::Error;
use crate::statement::TypedValues;
use crate::tier::Tier;

/// Mailboxes of one question.
const MAILBOXES_MAX: usize = 200;
/// Entries of a mailbox that are counted.
const COUNTED_MAX: i64 = 100;

impl Tier {
    /// Counts what is not ended, mailbox by mailbox, up to a bound.
    pub(crate) async fn count_waiting(
        &self,
        request: CountWaitingRequest,
    ) -> Result<CountWaitingReply, Error> {
        if request.agents.len() > MAILBOXES_MAX {
            return Err(Problem::validation(format!("agents: more than {MAILBOXES_MAX}")).into());
        }
        // One more than is counted tells whether there is more.
        let rows_max = COUNTED_MAX + 1;
        let values: TypedValues<'_> = &[
            (&request.account, Type::TEXT),
            (&request.agents, Type::TEXT_ARRAY),
            (&rows_max, Type::INT8),
        ];
        let rows = WAITING.rows_planned(&self.pool, values).await?;
        let mailboxes = rows.iter().map(waiting).collect::<Result<_, _>>();
        Ok(CountWaitingReply {
            mailboxes: mailboxes.during(WAITING.name)?,
        })
    }
}

fn waiting(row: &Row) -> Result<Waiting, tokio_postgres::Error> {
    let (queued, delivered): (i64, i64) = (row.try_get("queued")?, row.try_get("delivered")?);
    let has_more = queued + delivered > COUNTED_MAX;
    let counted = |entries: i64| u32::try_from(entries.min(COUNTED_MAX)).unwrap_or_default();
    Ok(Waiting {
        agent: row.try_get("agent")?,
        queued: counted(queued),
        delivered: counted(delivered),
        has_more,
    })
}
