//! Reads of broadcasts: as they were taken, and how far each got.

use hub_platform::db::{self, During};
use hub_platform::ids;
use hub_proto::lifecycle::{
    Broadcast, GetBroadcastReply, GetBroadcastRequest, ListBroadcastsReply, ListBroadcastsRequest, Recipient,
    RecipientCount,
};
use ma2h::error::Problem;
use time::OffsetDateTime;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::{COUNT, PAGE, PREFIX, READ, RECIPIENTS};
use crate::acks;
use crate::error::Error;
use crate::statement::TypedValues;
use crate::tier::Tier;

/// Entries of a page.
const LIMIT_MAX: u32 = 1000;
/// Looks at one broadcast. Each further one follows on directives of it that were overdue and are ended now.
const LOOKS_MAX: usize = 3;

/// Where the agents of a broadcast stand.
struct Reach {
    states: Vec<RecipientCount>,
    recipients: Vec<Recipient>,
    /// Directives to be ended before anyone is told of them.
    overdue: Vec<String>,
}

impl Tier {
    /// Reads one broadcast, with how far it got.
    pub(crate) async fn broadcast(&self, request: GetBroadcastRequest) -> Result<GetBroadcastReply, Error> {
        let (account, broadcast_id) = (&request.account, &request.broadcast_id);
        check(request.limit)?;
        if !ids::is_minted(broadcast_id, PREFIX) {
            return Err(Problem::not_found().into());
        }
        let row = READ.row(&self.pool, &[account, broadcast_id]).await?;
        let row = row.ok_or_else(Problem::not_found)?;
        for _ in 0..LOOKS_MAX {
            let reach = self.reach(&request).await?;
            if reach.overdue.is_empty() {
                return Ok(GetBroadcastReply {
                    broadcast: Some(broadcast(&row).during(READ.name)?),
                    content: row.try_get("content").during(READ.name)?,
                    states: reach.states,
                    recipients: reach.recipients,
                });
            }
            let overdue: Vec<_> = reach.overdue.iter().map(String::as_str).collect();
            self.end_overdue(account, &overdue).await?;
        }
        Err(Problem::unavailable("directives of this broadcast are being ended, try again").into())
    }

    async fn reach(&self, request: &GetBroadcastRequest) -> Result<Reach, db::Error> {
        let values: TypedValues<'_> = &[
            (&request.account, Type::TEXT),
            (&request.broadcast_id, Type::TEXT),
            (&request.after, Type::TEXT),
            (&i64::from(request.limit), Type::INT8),
            (&request.listed, Type::TEXT_ARRAY),
        ];
        let counted = COUNT.rows_planned(&self.pool, &values[..2]).await?;
        let listed = RECIPIENTS.rows_planned(&self.pool, values).await?;
        let mut reach = Reach {
            states: Vec::new(),
            recipients: Vec::new(),
            overdue: Vec::new(),
        };
        for row in &counted {
            reach.count(row).during(COUNT.name)?;
        }
        for row in &listed {
            reach.list(row).during(RECIPIENTS.name)?;
        }
        Ok(reach)
    }

    /// Lists broadcasts.
    pub(crate) async fn broadcasts(
        &self,
        request: ListBroadcastsRequest,
    ) -> Result<ListBroadcastsReply, Error> {
        check(request.limit)?;
        if request
            .before
            .as_ref()
            .is_some_and(|before| !ids::is_minted(before, PREFIX))
        {
            return Err(Problem::validation("cursor: expected the next_cursor of a page").into());
        }
        let values: TypedValues<'_> = &[
            (&request.account, Type::TEXT),
            (&request.before, Type::TEXT),
            (&i64::from(request.limit), Type::INT8),
        ];
        let rows = PAGE.rows_planned(&self.pool, values).await?;
        let broadcasts = rows.iter().map(broadcast).collect::<Result<_, _>>();
        Ok(ListBroadcastsReply {
            broadcasts: broadcasts.during(PAGE.name)?,
        })
    }
}

impl Reach {
    fn count(&mut self, row: &Row) -> Result<(), tokio_postgres::Error> {
        let overdue: Option<Vec<String>> = row.try_get("overdue")?;
        self.overdue.extend(overdue.unwrap_or_default());
        self.states.push(RecipientCount {
            state: row.try_get("state")?,
            recipients: u32::try_from(row.try_get::<_, i64>("recipients")?).unwrap_or(u32::MAX),
        });
        Ok(())
    }

    fn list(&mut self, row: &Row) -> Result<(), tokio_postgres::Error> {
        let directive_id: Option<String> = row.try_get("directive_id")?;
        if row.try_get("overdue")? {
            self.overdue.extend(directive_id.clone());
        }
        self.recipients.push(Recipient {
            agent: row.try_get("agent")?,
            state: row.try_get("state")?,
            directive_id,
            reason: row.try_get("reason")?,
            ack: acks::joined(row)?,
        });
        Ok(())
    }
}

/// A broadcast of a row.
pub(super) fn broadcast(row: &Row) -> Result<Broadcast, tokio_postgres::Error> {
    let accepted_at: OffsetDateTime = row.try_get("accepted_at")?;
    Ok(Broadcast {
        broadcast_id: row.try_get("broadcast_id")?,
        author: row.try_get("author")?,
        title: row.try_get("title")?,
        labels: row.try_get("labels")?,
        recipients: u32::try_from(row.try_get::<_, i32>("recipients")?).unwrap_or_default(),
        accepted_at: Some(hub_proto::stamp(accepted_at)),
    })
}

fn check(limit: u32) -> Result<(), Problem> {
    if (1..=LIMIT_MAX).contains(&limit) {
        return Ok(());
    }
    Err(Problem::invalid_field(format!(
        "limit: expected 1 to {LIMIT_MAX}"
    )))
}
