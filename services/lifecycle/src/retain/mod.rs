//! Retention (§8.2, design rule 12): what has ended is kept for its time, and in the end erased, in small batches; so are
//! idempotency keys, tombstones and rate budgets. Nothing that is open is touched.

mod purge;
mod taken;

use std::array;
use std::sync::Arc;
use std::time::Duration;

use hub_platform::db::{self, During};
use hub_platform::nats::WakeKind;
use hub_platform::shutdown::Shutdown;
use tokio_postgres::types::Type;

use crate::erase;
use crate::look_back::{Look, LookBack};
use crate::pause::Pause;
use crate::statement::{Statement, TypedValues};
use crate::tier::{Tier, bigint};

use purge::BudgetKey;
pub(crate) use purge::{PURGE_BUDGETS, PURGE_KEYS, PURGE_TOMBSTONES};
use taken::Taken;

pub(crate) const TAKE: Statement = Statement {
    name: "take ended messages",
    sql: include_str!("take.sql"),
};
pub(crate) const KEEP: Statement = Statement {
    name: "keep messages",
    sql: include_str!("keep.sql"),
};
pub(crate) const CLOSE: Statement = Statement {
    name: "close response tracks",
    sql: include_str!("close.sql"),
};

/// What comes due was committed long before, unless it is kept for no time at all.
const LATE: Duration = Duration::from_secs(2);

/// What the response track says once the Response will never reach the submitter.
pub(crate) const EXPIRED: &str = "expired";

/// Which ended messages one transaction takes.
#[derive(Clone, Copy, Debug)]
struct Chunk {
    messages: u32,
    /// Of those whose time came first, so many are passed over.
    skipped: u32,
    look: Look,
}

impl Tier {
    /// Looks for messages and keys whose time is over until shutdown.
    pub(crate) async fn retain(self: Arc<Self>, shutdown: Shutdown) {
        let pause = Pause::of(Duration::from_millis(self.config.lifecycle.sweep_interval_ms));
        let [mut messages, mut keys, mut tombstones] = array::from_fn(|_| LookBack::new(LATE));
        let mut budgets_from = BudgetKey::default();
        while pause.unless(&shutdown).await {
            messages.pass(|look| self.retain_messages(look, &shutdown)).await;
            keys.pass(|look| self.purge_keys(look, &shutdown)).await;
            tombstones
                .pass(|look| self.purge_tombstones(look, &shutdown))
                .await;
            if let Err(error) = self.purge_budgets(&mut budgets_from).await {
                db::report(&error);
            }
        }
    }

    /// Chunk after chunk, until one is not full. What another has in hand is passed over.
    async fn retain_messages(&self, look: Look, shutdown: &Shutdown) -> Result<(), db::Error> {
        let mut skipped = 0;
        while !shutdown.is_triggered() {
            let chunk = Chunk {
                messages: self.config.lifecycle.sweep_batch_max,
                skipped,
                look,
            };
            let taken = match db::retry(|| self.retain_chunk(chunk)).await {
                Ok(taken) => taken,
                Err(error) if error.is_unavailable() => return Err(error),
                Err(error) => {
                    self.retain_singly(chunk).await?;
                    return Err(error);
                }
            };
            if taken.found < chunk.messages {
                break;
            }
            skipped += taken.found.saturating_sub(taken.len());
        }
        Ok(())
    }

    /// After a chunk that failed as a whole: each message that can be dealt with is, and one that cannot is passed over and
    /// stands alone in the log (design rule 11).
    async fn retain_singly(&self, chunk: Chunk) -> Result<(), db::Error> {
        let mut skipped = chunk.skipped;
        for _ in 0..chunk.messages {
            let one = Chunk {
                messages: 1,
                skipped,
                ..chunk
            };
            match db::retry(|| self.retain_chunk(one)).await {
                Ok(taken) if taken.found == 0 => break,
                Ok(taken) if taken.len() == 0 => skipped += 1,
                Ok(_) => {}
                Err(error) if error.is_unavailable() => return Err(error),
                Err(error) => {
                    tracing::error!(%error, "an ended message cannot be dealt with");
                    skipped += 1;
                }
            }
        }
        Ok(())
    }

    /// Takes a chunk nobody else has in hand, and does with each message what its time says.
    async fn retain_chunk(&self, chunk: Chunk) -> Result<Taken, db::Error> {
        let config = &self.config.lifecycle;
        let mut client = TAKE.connection(&self.pool).await?;
        let transaction = client.transaction().await.during(TAKE.name)?;
        let values: TypedValues<'_> = &[
            (&bigint(config.retention_seconds), Type::INT8),
            (&bigint(config.retention_grace_seconds), Type::INT8),
            (&i64::from(chunk.messages), Type::INT8),
            (&chunk.look.back_ms(), Type::INT8),
            (&i64::from(chunk.skipped), Type::INT8),
        ];
        let rows = transaction
            .query_typed(TAKE.sql, values)
            .await
            .during(TAKE.name)?;
        let taken = Taken::of(&rows).during(TAKE.name)?;

        let (keep, close) = (&taken.keep, &taken.close);
        if !keep.is_empty() {
            let values: TypedValues<'_> = &[
                (&keep.accounts, Type::TEXT_ARRAY),
                (&keep.message_ids, Type::TEXT_ARRAY),
                (&taken.kept_from, Type::TIMESTAMPTZ_ARRAY),
            ];
            transaction
                .query_typed(KEEP.sql, values)
                .await
                .during(KEEP.name)?;
        }
        if !close.is_empty() {
            let values: TypedValues<'_> = &[
                (&close.accounts, Type::TEXT_ARRAY),
                (&close.message_ids, Type::TEXT_ARRAY),
            ];
            transaction
                .query_typed(CLOSE.sql, values)
                .await
                .during(CLOSE.name)?;
        }
        if !taken.erase.is_empty() {
            let (accounts, message_ids) = (&taken.erase.accounts, &taken.erase.message_ids);
            erase::erase(&transaction, accounts, message_ids, None).await?;
        }
        transaction.commit().await.during(TAKE.name)?;
        for (account, message_id) in close.names() {
            self.announcer
                .wake(account, WakeKind::DeliveryUpdated, message_id, EXPIRED);
        }
        taken.count();
        Ok(taken)
    }
}
