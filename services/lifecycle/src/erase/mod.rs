//! Erasure: by a person, or because its time is over, a message goes with all its content; that it was there is kept.

use hub_platform::db::{self, During};
use hub_platform::ids;
use hub_proto::lifecycle::{DeleteMessageReply, DeleteMessageRequest};
use ma2h::error::{ErrorCode, Problem};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::error::Error;
use crate::message_id;
use crate::statement::{Statement, TypedValues};
use crate::tier::Tier;

pub(crate) const HOLD_PUSH: Statement = Statement {
    name: "hold push",
    sql: include_str!("hold_push.sql"),
};
pub(crate) const HOLD: Statement = Statement {
    name: "hold message",
    sql: include_str!("hold.sql"),
};
pub(crate) const ERASE: Statement = Statement {
    name: "erase messages",
    sql: include_str!("erase.sql"),
};
pub(crate) const TOMBSTONE: Statement = Statement {
    name: "read tombstone",
    sql: include_str!("tombstone.sql"),
};

/// What is left of a message that was erased.
struct Tombstone {
    agent: String,
    deletion_id: Option<String>,
}

impl Tier {
    /// Erases an ended message for the account's owner.
    pub(crate) async fn delete(&self, request: DeleteMessageRequest) -> Result<DeleteMessageReply, Error> {
        message_id::check(&request.message_id)?;
        if !ids::is_minted(&request.deletion_id, "del") {
            return Err(Problem::validation("deletion_id: malformed").into());
        }
        let (account, message_id) = (&request.account, &request.message_id);
        if let Some(tombstone) = self.tombstone(account, message_id).await? {
            // This very call was made before and its reply was lost.
            return if tombstone.deletion_id.as_ref() == Some(&request.deletion_id) {
                Ok(DeleteMessageReply {})
            } else {
                Err(Problem::gone().into())
            };
        }
        if self.standing(account, message_id).await?.is_open() {
            let message = "the message is open; it can be deleted once it has ended";
            return Err(Problem::new(ErrorCode::Conflict, message).into());
        }
        db::retry(|| self.erase_one(&request)).await?;
        metrics::counter!("hub_lifecycle_messages_deleted_total").increment(1);
        Ok(DeleteMessageReply {})
    }

    async fn erase_one(&self, request: &DeleteMessageRequest) -> Result<(), db::Error> {
        let (account, message_id) = (&request.account, &request.message_id);
        let mut client = HOLD.connection(&self.pool).await?;
        let transaction = client.transaction().await.during(HOLD.name)?;
        for statement in [&HOLD_PUSH, &HOLD] {
            let prepared = transaction
                .prepare_cached(statement.sql)
                .await
                .during(statement.name)?;
            transaction
                .query(&prepared, &[account, message_id])
                .await
                .during(statement.name)?;
        }
        let (accounts, message_ids) = ([account.clone()], [message_id.clone()]);
        erase(&transaction, &accounts, &message_ids, Some(&request.deletion_id)).await?;
        transaction.commit().await.during(ERASE.name)
    }

    /// Why a message is not there for this reader: it never was, or it was erased. An agent is told of its own only.
    pub(crate) async fn missing(
        &self,
        account: &str,
        message_id: &str,
        agent: Option<&str>,
    ) -> Result<Problem, db::Error> {
        let tombstone = self.tombstone(account, message_id).await?;
        let may_know = |tombstone: &Tombstone| agent.is_none_or(|agent| agent == tombstone.agent);
        Ok(if tombstone.as_ref().is_some_and(may_know) {
            Problem::gone()
        } else {
            Problem::not_found()
        })
    }

    async fn tombstone(&self, account: &str, message_id: &str) -> Result<Option<Tombstone>, db::Error> {
        let row = TOMBSTONE.row(&self.pool, &[&account, &message_id]).await?;
        let read = |row: Row| {
            Ok::<_, tokio_postgres::Error>(Tombstone {
                agent: row.try_get("agent")?,
                deletion_id: row.try_get("deletion_id")?,
            })
        };
        row.map(read).transpose().during(TOMBSTONE.name)
    }
}

/// Erases messages that the transaction holds.
pub(crate) async fn erase(
    transaction: &db::Transaction<'_>,
    accounts: &[String],
    message_ids: &[String],
    deletion_id: Option<&str>,
) -> Result<(), db::Error> {
    let values: TypedValues<'_> = &[
        (&accounts, Type::TEXT_ARRAY),
        (&message_ids, Type::TEXT_ARRAY),
        (&deletion_id, Type::TEXT),
    ];
    transaction
        .query_typed(ERASE.sql, values)
        .await
        .during(ERASE.name)?;
    Ok(())
}
