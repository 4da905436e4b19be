//! The end of entries whose time is over (§13.3, §14.2), and of what is kept of directives afterwards.

use std::array;
use std::sync::Arc;
use std::time::Duration;

use hub_platform::db::{self, During};
use hub_platform::shutdown::Shutdown;
use tokio_postgres::types::Type;

use super::{END, Moved, OVERDUE, PURGE, PURGE_CLAIMS};
use crate::chunks::{self, Chunk};
use crate::look_back::{Look, LookBack};
use crate::pause::Pause;
use crate::statement::{Statement, TypedValues};
use crate::tier::{Tier, bigint};

impl Tier {
    /// Ends these entries of an account, as far as their time is over.
    pub(crate) async fn end_overdue(&self, account: &str, entry_ids: &[&str]) -> Result<(), db::Error> {
        let accounts = vec![account; entry_ids.len()];
        let values: TypedValues<'_> = &[(&accounts, Type::TEXT_ARRAY), (&entry_ids, Type::TEXT_ARRAY)];
        let rows = db::retry(|| END.rows_planned(&self.pool, values)).await?;
        self.announce_moved(&Moved::all(&rows).during(END.name)?);
        Ok(())
    }

    /// Looks after mailboxes until shutdown: what is overdue, what lies where nobody comes any more, what was kept long
    /// enough.
    pub(crate) async fn sweep_mailboxes(self: Arc<Self>, shutdown: Shutdown) {
        let pause = Pause::of(Duration::from_millis(self.config.lifecycle.sweep_interval_ms));
        let [
            mut overdue,
            mut closed,
            mut directives,
            mut claims,
            mut broadcasts,
        ] = array::from_fn(|_| LookBack::new(self.late()));
        while pause.unless(&shutdown).await {
            overdue.pass(|look| self.sweep_overdue(look, &shutdown)).await;
            closed.pass(|look| self.empty_closed(look, &shutdown)).await;
            directives
                .pass(|look| self.purge_directives(look, &shutdown))
                .await;
            claims.pass(|look| self.purge_claims(look, &shutdown)).await;
            broadcasts
                .pass(|look| self.purge_broadcasts(look, &shutdown))
                .await;
        }
    }

    async fn sweep_overdue(&self, look: Look, shutdown: &Shutdown) -> Result<(), db::Error> {
        let batch_max = self.config.lifecycle.sweep_batch_max;
        chunks::each(batch_max, shutdown, |chunk| {
            db::retry(move || self.end_chunk(chunk, look))
        })
        .await
    }

    /// Takes a chunk nobody else has in hand and ends it; how many it had.
    async fn end_chunk(&self, chunk: Chunk, look: Look) -> Result<i64, db::Error> {
        let mut client = OVERDUE.connection(&self.pool).await?;
        let transaction = client.transaction().await.during(OVERDUE.name)?;
        let values: TypedValues<'_> = &[
            (&chunk.rows, Type::INT8),
            (&look.back_ms(), Type::INT8),
            (&chunk.skipped, Type::INT8),
        ];
        let overdue = transaction
            .query_typed(OVERDUE.sql, values)
            .await
            .during(OVERDUE.name)?;
        let (mut accounts, mut entry_ids) = (Vec::new(), Vec::new());
        for row in &overdue {
            accounts.push(row.try_get::<_, &str>("account").during(OVERDUE.name)?);
            entry_ids.push(row.try_get::<_, &str>("entry_id").during(OVERDUE.name)?);
        }
        if overdue.is_empty() {
            return Ok(0);
        }
        let values: TypedValues<'_> = &[(&accounts, Type::TEXT_ARRAY), (&entry_ids, Type::TEXT_ARRAY)];
        let rows = transaction.query_typed(END.sql, values).await.during(END.name)?;
        transaction.commit().await.during(END.name)?;
        self.announce_moved(&Moved::all(&rows).during(END.name)?);
        Ok(i64::try_from(overdue.len()).unwrap_or(i64::MAX))
    }

    async fn purge_directives(&self, look: Look, shutdown: &Shutdown) -> Result<(), db::Error> {
        let batch_max = self.config.lifecycle.sweep_batch_max;
        chunks::each(batch_max, shutdown, |chunk| self.purge_chunk(chunk, look)).await
    }

    async fn purge_chunk(&self, chunk: Chunk, look: Look) -> Result<i64, db::Error> {
        let kept_seconds = bigint(self.config.inbound.retention_seconds);
        let values: TypedValues<'_> = &[
            (&chunk.rows, Type::INT8),
            (&kept_seconds, Type::INT8),
            (&look.back_ms(), Type::INT8),
            (&chunk.skipped, Type::INT8),
        ];
        self.purge(&PURGE, values).await
    }

    /// Forgets claims that nobody can ask for any more.
    async fn purge_claims(&self, look: Look, shutdown: &Shutdown) -> Result<(), db::Error> {
        let batch_max = self.config.lifecycle.sweep_batch_max;
        chunks::each(batch_max, shutdown, |chunk| self.purge_claims_chunk(chunk, look)).await
    }

    async fn purge_claims_chunk(&self, chunk: Chunk, look: Look) -> Result<i64, db::Error> {
        let values: TypedValues<'_> = &[
            (&chunk.rows, Type::INT8),
            (&look.back_ms(), Type::INT8),
            (&chunk.skipped, Type::INT8),
        ];
        self.purge(&PURGE_CLAIMS, values).await
    }

    /// Runs a statement that drops rows; how many it took.
    async fn purge(&self, statement: &Statement, values: TypedValues<'_>) -> Result<i64, db::Error> {
        let rows = db::retry(|| statement.rows_planned(&self.pool, values)).await?;
        rows.first()
            .map_or(Ok(0), |row| row.try_get("taken"))
            .during(statement.name)
    }
}
