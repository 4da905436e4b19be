//! How the push of a message went so far.

use hub_platform::db::During;
use hub_proto::lifecycle::{Attempt, ListAttemptsReply, ListAttemptsRequest};
use time::OffsetDateTime;
use tokio_postgres::Row;

use super::{ATTEMPTS, PUSH};
use crate::error::Error;
use crate::message_id;
use crate::principal::Caller;
use crate::tier::Tier;

/// Attempts of one answer, the latest; redeliveries may have made more.
const ATTEMPTS_MAX: i64 = 1000;

impl Tier {
    /// Lists the attempts of a message's push, for whoever may see the message.
    pub(crate) async fn attempts(&self, request: ListAttemptsRequest) -> Result<ListAttemptsReply, Error> {
        message_id::check(&request.message_id)?;
        let reader = Caller::of(request.reader)?;
        let (account, message_id) = (&request.account, &request.message_id);
        let push = PUSH
            .row(&self.pool, &[account, message_id, &reader.agent()])
            .await?;
        let Some(push) = push else {
            return Err(self.missing(account, message_id, reader.agent()).await?.into());
        };
        let state: Option<String> = push.try_get("state").during(PUSH.name)?;
        let Some(state) = state else {
            return Ok(ListAttemptsReply::default());
        };
        let next_attempt_at: Option<OffsetDateTime> = push.try_get("next_attempt_at").during(PUSH.name)?;
        let rows = ATTEMPTS
            .rows(&self.pool, &[account, message_id, &ATTEMPTS_MAX])
            .await?;
        let attempts = rows
            .iter()
            .map(read)
            .collect::<Result<_, _>>()
            .during(ATTEMPTS.name)?;
        Ok(ListAttemptsReply {
            attempts,
            state,
            next_attempt_at: next_attempt_at.map(hub_proto::stamp),
        })
    }
}

fn read(row: &Row) -> Result<Attempt, tokio_postgres::Error> {
    // The table's checks keep these from being negative.
    let count = |name| {
        row.try_get::<_, i32>(name)
            .map(|count| u32::try_from(count).unwrap_or_default())
    };
    let status: Option<i32> = row.try_get("status")?;
    let next_attempt_at: Option<OffsetDateTime> = row.try_get("next_attempt_at")?;
    Ok(Attempt {
        generation: count("generation")?,
        number: count("number")?,
        at: Some(hub_proto::stamp(row.try_get("at")?)),
        url: row.try_get("callback_url")?,
        status: status.and_then(|status| u32::try_from(status).ok()),
        error: row.try_get("error")?,
        duration_ms: count("duration_ms")?,
        outcome: row.try_get("outcome")?,
        next_attempt_at: next_attempt_at.map(hub_proto::stamp),
    })
}
