//! Reads of one message (§8.2). They say no more than is known, and stamp no more than was shown.

mod attempts;
mod changed;

use hub_platform::cpu;
use hub_platform::db::{self, During};
use hub_platform::nats::WakeKind;
use hub_proto::lifecycle::{Delivery, GetMessageReply, GetMessageRequest, Message};
use ma2h::error::Problem;
use time::OffsetDateTime;
use tokio_postgres::Row;

use crate::error::Error;
use crate::principal::Caller;
use crate::retain::EXPIRED;
use crate::statement::Statement;
use crate::tier::Tier;
use crate::{acks, message_id, response};

pub(crate) const MESSAGE: Statement = Statement {
    name: "read message",
    sql: include_str!("message.sql"),
};
pub(crate) const CHANGED: Statement = Statement {
    name: "find changed messages",
    sql: include_str!("changed.sql"),
};
pub(crate) const STAMP: Statement = Statement {
    name: "stamp delivery",
    sql: include_str!("stamp.sql"),
};
pub(crate) const ATTEMPTS: Statement = Statement {
    name: "list attempts",
    sql: include_str!("attempts.sql"),
};
pub(crate) const PUSH: Statement = Statement {
    name: "read push",
    sql: include_str!("push.sql"),
};

/// What the response track says once the submitter has its Response.
pub(crate) const DELIVERED: &str = "delivered-to-agent";

/// Looks at one message. Each further one follows on a change: it was expired, or stamped by another.
const LOOKS_MAX: usize = 4;

impl Tier {
    /// Reads one message.
    pub(crate) async fn get(&self, request: GetMessageRequest) -> Result<GetMessageReply, Error> {
        message_id::check(&request.message_id)?;
        let reader = Caller::of(request.reader)?;
        let since = request.since.as_ref().map(since).transpose()?;
        // What is larger than any number here is no bound.
        let content_bytes_max = request.content_bytes_max.and_then(|max| i64::try_from(max).ok());
        for _ in 0..LOOKS_MAX {
            let values: [&(dyn tokio_postgres::types::ToSql + Sync); 5] = [
                &request.account,
                &request.message_id,
                &reader.agent(),
                &since,
                &content_bytes_max,
            ];
            let Some(row) = MESSAGE.row(&self.pool, &values).await? else {
                let (account, message_id) = (&request.account, &request.message_id);
                return Err(self.missing(account, message_id, reader.agent()).await?.into());
            };
            let flag = |name| row.try_get::<_, bool>(name).during(MESSAGE.name);
            if flag("overdue")? {
                self.expire(&request.account, &[&request.message_id]).await?;
                continue;
            }
            let track: Option<&str> = row.try_get("delivery_state").during(MESSAGE.name)?;
            if reader.agent().is_some() && track == Some(EXPIRED) {
                // The track says that the submitter never got the Response; so it shall not (§14.2).
                return Err(Problem::gone().into());
            }
            if flag("not_modified")? {
                return Ok(GetMessageReply {
                    not_modified: true,
                    message: None,
                });
            }
            let mut message = compose(row, &request.message_id).await?;
            let is_first_sight = !message.response.is_empty() && message.delivery.is_none();
            if let (Some(agent), true) = (reader.agent(), is_first_sight) {
                let Some(delivery) = self.stamp(&request.account, &request.message_id, agent).await? else {
                    continue;
                };
                message.delivery = Some(delivery);
            }
            return Ok(GetMessageReply {
                not_modified: false,
                message: Some(message),
            });
        }
        Err(Problem::unavailable("the message is changing, try again").into())
    }

    /// Stamps that the submitter gets its Response; none where another stamp came first.
    async fn stamp(&self, account: &str, message_id: &str, agent: &str) -> Result<Option<Delivery>, Error> {
        let stamped =
            db::retry(async || STAMP.row(&self.pool, &[&account, &message_id, &agent]).await).await?;
        let Some(row) = stamped else {
            return Ok(None);
        };
        self.announcer
            .wake(account, WakeKind::DeliveryUpdated, message_id, DELIVERED);
        Ok(delivery(&row).during(STAMP.name)?)
    }
}

fn since(timestamp: &hub_proto::Timestamp) -> Result<OffsetDateTime, Problem> {
    hub_proto::time_of(timestamp).ok_or_else(|| Problem::validation("since: out of range"))
}

async fn compose(row: Row, message_id: &str) -> Result<Message, db::Error> {
    let envelope: Option<&str> = row.try_get("envelope").during(MESSAGE.name)?;
    let bytes = envelope.map_or(0, str::len);
    let message_id = message_id.to_owned();
    cpu::run(bytes, move || read(&row, &message_id)).await
}

fn read(row: &Row, message_id: &str) -> Result<Message, db::Error> {
    let envelope: Option<String> = row.try_get("envelope").during(MESSAGE.name)?;
    let resolution_id: Option<&str> = row.try_get("resolution_id").during(MESSAGE.name)?;
    let response = match (resolution_id, &envelope) {
        (Some(_), Some(envelope)) => response::of(row, message_id, envelope)?,
        _ => String::new(),
    };
    let content_bytes: i64 = row.try_get("content_bytes").during(MESSAGE.name)?;
    let message = || {
        let accepted_at: OffsetDateTime = row.try_get("accepted_at")?;
        let terminal_at: Option<OffsetDateTime> = row.try_get("terminal_at")?;
        let expires_at: Option<OffsetDateTime> = row.try_get("expires_at")?;
        let ack = acks::joined(row)?;
        Ok::<_, tokio_postgres::Error>(Message {
            message_id: message_id.to_owned(),
            status: row.try_get("status")?,
            envelope: envelope.unwrap_or_default(),
            response,
            accepted_at: Some(hub_proto::stamp(accepted_at)),
            changed_at: Some(hub_proto::stamp(terminal_at.unwrap_or(accepted_at))),
            expires_at: expires_at.map(hub_proto::stamp),
            delivery: delivery(row)?.map(|delivery| Delivery { ack, ..delivery }),
            actor: row.try_get("actor")?,
            content_bytes: u64::try_from(content_bytes).unwrap_or_default(),
        })
    };
    message().during(MESSAGE.name)
}

/// The response track, once it has begun.
pub(crate) fn delivery(row: &Row) -> Result<Option<Delivery>, tokio_postgres::Error> {
    let state: Option<String> = row.try_get("delivery_state")?;
    let delivered_at: Option<OffsetDateTime> = row.try_get("delivered_at")?;
    Ok(state.map(|state| Delivery {
        state,
        delivered_at: delivered_at.map(hub_proto::stamp),
        ack: None,
    }))
}
