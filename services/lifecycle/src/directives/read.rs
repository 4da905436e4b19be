//! Reads of one directive, with its track.

use hub_platform::db::During;
use hub_platform::ids;
use hub_proto::lifecycle::{Directive, GetDirectiveRequest, MailboxTrack};
use ma2h::error::Problem;
use time::OffsetDateTime;
use tokio_postgres::Row;

use super::{PREFIX, READ};
use crate::acks;
use crate::error::Error;
use crate::tier::Tier;

/// Looks at one directive. Each further one follows on its having been overdue.
const LOOKS_MAX: usize = 3;

impl Tier {
    /// Reads one directive. What is overdue is ended before anyone is told of it (design rule 2).
    pub(crate) async fn directive(&self, request: GetDirectiveRequest) -> Result<Directive, Error> {
        let (account, directive_id) = (&request.account, &request.directive_id);
        if !ids::is_minted(directive_id, PREFIX) {
            return Err(Problem::not_found().into());
        }
        for _ in 0..LOOKS_MAX {
            let row = READ.row(&self.pool, &[account, directive_id]).await?;
            let row = row.ok_or_else(Problem::not_found)?;
            if !row.try_get("overdue").during(READ.name)? {
                return Ok(directive(&row).during(READ.name)?);
            }
            self.end_overdue(account, &[directive_id]).await?;
        }
        Err(Problem::unavailable("the directive is being ended, try again").into())
    }
}

/// A directive of a row.
pub(super) fn directive(row: &Row) -> Result<Directive, tokio_postgres::Error> {
    let delivered_at: Option<OffsetDateTime> = row.try_get("delivered_at")?;
    let ended_at: Option<OffsetDateTime> = row.try_get("ended_at")?;
    Ok(Directive {
        directive_id: row.try_get("directive_id")?,
        agent: row.try_get("agent")?,
        directive: row.try_get("directive")?,
        track: Some(MailboxTrack {
            state: row.try_get("state")?,
            delivered_at: delivered_at.map(hub_proto::stamp),
            prior: row.try_get("prior")?,
            ack: acks::joined(row)?,
            ended_at: ended_at.map(hub_proto::stamp),
        }),
    })
}
