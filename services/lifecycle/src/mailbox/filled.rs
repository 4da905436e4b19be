//! One look for all who wait for their mailboxes at a gateway (design rule 6).

use hub_platform::db::During;
use hub_proto::lifecycle::{FilledMailbox, FindFilledReply, FindFilledRequest};
use ma2h::error::Problem;
use tokio_postgres::types::Type;

use super::FILLED;
use crate::error::Error;
use crate::statement::TypedValues;
use crate::tier::Tier;

/// Mailboxes of one question.
const MAILBOXES_MAX: usize = 1000;

impl Tier {
    /// Of these mailboxes, those that somebody who waits for them has to drain, and when.
    pub(crate) async fn find_filled(&self, request: FindFilledRequest) -> Result<FindFilledReply, Error> {
        if request.mailboxes.len() > MAILBOXES_MAX {
            return Err(Problem::validation(format!("mailboxes: more than {MAILBOXES_MAX}")).into());
        }
        let mailboxes = &request.mailboxes;
        let accounts: Vec<_> = mailboxes.iter().map(|name| name.account.as_str()).collect();
        let agents: Vec<_> = mailboxes.iter().map(|name| name.agent.as_str()).collect();
        let sessions: Vec<_> = mailboxes.iter().map(|name| name.session.as_deref()).collect();
        let values: TypedValues<'_> = &[
            (&accounts, Type::TEXT_ARRAY),
            (&agents, Type::TEXT_ARRAY),
            (&sessions, Type::TEXT_ARRAY),
        ];
        let rows = FILLED.rows_planned(&self.pool, values).await?;
        let filled = rows.iter().map(|row| {
            let visible_in_ms: i64 = row.try_get("visible_in_ms")?;
            Ok::<_, tokio_postgres::Error>(FilledMailbox {
                account: row.try_get("account")?,
                agent: row.try_get("agent")?,
                session: row.try_get("session")?,
                visible_in_ms: u64::try_from(visible_in_ms).unwrap_or_default(),
            })
        });
        Ok(FindFilledReply {
            filled: filled.collect::<Result<_, _>>().during(FILLED.name)?,
        })
    }
}
