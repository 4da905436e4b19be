//! Expiry (§7): by the sweep, and by whoever meets an overdue message first. One statement moves it, whoever comes.

use std::sync::Arc;
use std::time::Duration;

use hub_platform::db::{self, During};
use hub_platform::ids;
use hub_platform::nats::WakeKind;
use hub_platform::shutdown::Shutdown;
use hub_platform::telemetry;
use ma2h::envelope::Resolution;
use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};

use crate::look_back::{Look, LookBack};
use crate::pause::Pause;
use crate::statement::Statement;
use crate::tier::Tier;

pub(crate) const EXPIRE: Statement = Statement {
    name: "expire messages",
    sql: include_str!("expire.sql"),
};
pub(crate) const OVERDUE: Statement = Statement {
    name: "take overdue messages",
    sql: include_str!("overdue.sql"),
};
pub(crate) const OF_ACCOUNT: Statement = Statement {
    name: "find overdue messages of an account",
    sql: include_str!("of_account.sql"),
};

/// Messages, each with the id its resolution gets if it is overdue.
#[derive(Debug, Default)]
struct Chunk {
    accounts: Vec<String>,
    message_ids: Vec<String>,
    resolution_ids: Vec<String>,
}

impl Chunk {
    fn add(&mut self, account: String, message_id: String) {
        self.accounts.push(account);
        self.message_ids.push(message_id);
        self.resolution_ids.push(ids::mint("res"));
    }

    fn of(rows: &[Row]) -> Result<Self, tokio_postgres::Error> {
        let mut chunk = Self::default();
        for row in rows {
            chunk.add(row.try_get("account")?, row.try_get("message_id")?);
        }
        Ok(chunk)
    }

    fn values<'a>(
        &'a self,
        republish_after_ms: &'a i64,
        traceparent: &'a (dyn ToSql + Sync),
    ) -> [(&'a (dyn ToSql + Sync), Type); 5] {
        [
            (&self.accounts, Type::TEXT_ARRAY),
            (&self.message_ids, Type::TEXT_ARRAY),
            (&self.resolution_ids, Type::TEXT_ARRAY),
            (republish_after_ms, Type::INT8),
            (traceparent, Type::TEXT),
        ]
    }
}

/// A message that this process expired.
struct Expired {
    account: String,
    message_id: String,
    kind: String,
    push_owed: bool,
}

impl Tier {
    /// Expires these messages of an account, as far as they are overdue.
    pub(crate) async fn expire(&self, account: &str, message_ids: &[&str]) -> Result<(), db::Error> {
        let mut chunk = Chunk::default();
        for message_id in message_ids {
            chunk.add(account.to_owned(), (*message_id).to_owned());
        }
        let traceparent = telemetry::traceparent().unwrap_or_default();
        let republish_after_ms = self.republish_after_ms();
        let values = &chunk.values(&republish_after_ms, &traceparent);
        let rows = db::retry(|| EXPIRE.rows_planned(&self.pool, values));
        let expired = read(&rows.await?).during(EXPIRE.name)?;
        self.announce_expired(&expired);
        Ok(())
    }

    /// Expires what of an account is overdue and not swept yet, at most a batch of it.
    pub(crate) async fn expire_overdue_of(&self, account: &str) -> Result<(), db::Error> {
        let batch_max = i64::from(self.config.lifecycle.sweep_batch_max);
        let rows = OF_ACCOUNT.rows(&self.pool, &[&account, &batch_max]).await?;
        let message_ids = rows.iter().map(|row| row.try_get("message_id"));
        let message_ids: Vec<&str> = message_ids.collect::<Result<_, _>>().during(OF_ACCOUNT.name)?;
        if message_ids.is_empty() {
            return Ok(());
        }
        self.expire(account, &message_ids).await
    }

    /// Looks for overdue messages until shutdown.
    pub(crate) async fn sweep(self: Arc<Self>, shutdown: Shutdown) {
        let pause = Pause::of(Duration::from_millis(self.config.lifecycle.sweep_interval_ms));
        let mut look_back = LookBack::new(self.late());
        while pause.unless(&shutdown).await {
            look_back.pass(|look| self.sweep_once(look, &shutdown)).await;
        }
    }

    /// Expires chunk after chunk, until one is not full or fails.
    async fn sweep_once(&self, look: Look, shutdown: &Shutdown) -> Result<(), db::Error> {
        let batch_max = self.config.lifecycle.sweep_batch_max;
        while !shutdown.is_triggered() {
            let swept = match db::retry(|| self.expire_chunk(batch_max, look)).await {
                Ok(swept) => swept,
                Err(error) => {
                    if !error.is_unavailable() {
                        self.expire_singly(batch_max, look).await;
                    }
                    return Err(error);
                }
            };
            if swept < usize::try_from(batch_max).unwrap_or(usize::MAX) {
                break;
            }
        }
        Ok(())
    }

    /// Takes a chunk nobody else has in hand and expires it.
    async fn expire_chunk(&self, batch_max: u32, look: Look) -> Result<usize, db::Error> {
        let mut client = OVERDUE.connection(&self.pool).await?;
        let overdue = client.prepare_cached(OVERDUE.sql).await.during(OVERDUE.name)?;
        let transaction = client.transaction().await.during(OVERDUE.name)?;
        let rows = transaction
            .query(&overdue, &[&i64::from(batch_max), &look.back_ms()])
            .await
            .during(OVERDUE.name)?;
        let chunk = Chunk::of(&rows).during(OVERDUE.name)?;
        let mut expired = Vec::new();
        if !rows.is_empty() {
            let republish_after_ms = self.republish_after_ms();
            let values = &chunk.values(&republish_after_ms, &"");
            let rows = transaction
                .query_typed(EXPIRE.sql, values)
                .await
                .during(EXPIRE.name)?;
            expired = read(&rows).during(EXPIRE.name)?;
        }
        transaction.commit().await.during(EXPIRE.name)?;
        self.announce_expired(&expired);
        Ok(rows.len())
    }

    /// After a chunk that failed as a whole: what can be expired is, and the row that cannot stands alone in the log.
    async fn expire_singly(&self, batch_max: u32, look: Look) {
        let chunk = match OVERDUE
            .rows(&self.pool, &[&i64::from(batch_max), &look.back_ms()])
            .await
        {
            Ok(rows) => Chunk::of(&rows).during(OVERDUE.name),
            Err(error) => Err(error),
        };
        let chunk = match chunk {
            Ok(chunk) => chunk,
            Err(error) => {
                db::report(&error);
                return;
            }
        };
        for (account, message_id) in chunk.accounts.iter().zip(&chunk.message_ids) {
            if let Err(error) = self.expire(account, &[message_id]).await {
                tracing::error!(%error, account, message_id, "message cannot be expired");
            }
        }
    }

    fn announce_expired(&self, expired: &[Expired]) {
        let status = Resolution::Expired.as_str();
        for Expired {
            account,
            message_id,
            kind,
            push_owed,
        } in expired
        {
            let kind = if kind == "ask" { "ask" } else { "task" };
            metrics::counter!("hub_lifecycle_transitions_total", "kind" => kind, "to" => status).increment(1);
            self.announcer
                .wake(account, WakeKind::MessageResolved, message_id, status);
            if *push_owed {
                self.announcer.push_owed(account, message_id);
            }
        }
    }
}

fn read(rows: &[Row]) -> Result<Vec<Expired>, tokio_postgres::Error> {
    let read = |row: &Row| {
        Ok(Expired {
            account: row.try_get("account")?,
            message_id: row.try_get("message_id")?,
            kind: row.try_get("kind")?,
            push_owed: row.try_get("push_owed")?,
        })
    };
    rows.iter().map(read).collect()
}
