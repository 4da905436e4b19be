//! The SQL statements of this tier, each in a file beside the module that runs it.

use hub_platform::db::{Client, During, Error, Pool};
use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};

use crate::{
    acks, broadcasts, conclude, directives, erase, expire, human_key, list, mailbox, push, read, retain,
    sole_resolver, submit,
};

/// The values of a statement's parameters.
pub(crate) type Values<'a> = &'a [&'a (dyn ToSql + Sync)];

/// The same, each with its type.
pub(crate) type TypedValues<'a> = &'a [(&'a (dyn ToSql + Sync), Type)];

/// One statement.
#[derive(Debug)]
pub(crate) struct Statement {
    /// What it does, as an error names it.
    pub(crate) name: &'static str,
    /// Its text.
    pub(crate) sql: &'static str,
}

impl Statement {
    /// Runs it on a connection of the pool.
    pub(crate) async fn rows(&self, pool: &Pool, values: Values<'_>) -> Result<Vec<Row>, Error> {
        let client = self.connection(pool).await?;
        let prepared = client.prepare_cached(self.sql).await.during(self.name)?;
        client.query(&prepared, values).await.during(self.name)
    }

    /// Runs what gives at most one row.
    pub(crate) async fn row(&self, pool: &Pool, values: Values<'_>) -> Result<Option<Row>, Error> {
        Ok(self.rows(pool, values).await?.pop())
    }

    /// Runs it planned for these values. A prepared statement keeps a plan made for any values: fine for a row found by
    /// its key, not where the number of rows decides, as for a batch or a list.
    pub(crate) async fn rows_planned(&self, pool: &Pool, values: TypedValues<'_>) -> Result<Vec<Row>, Error> {
        let client = self.connection(pool).await?;
        client.query_typed(self.sql, values).await.during(self.name)
    }

    /// Runs it in a transaction that is rolled back. It inserts what another call may have in hand, and so waits for that.
    pub(crate) async fn reserve(&self, pool: &Pool, values: Values<'_>) -> Result<(), Error> {
        let mut client = self.connection(pool).await?;
        let prepared = client.prepare_cached(self.sql).await.during(self.name)?;
        let transaction = client.transaction().await.during(self.name)?;
        transaction.execute(&prepared, values).await.during(self.name)?;
        transaction.rollback().await.during(self.name)
    }

    /// Takes a connection of the pool for it.
    pub(crate) async fn connection(&self, pool: &Pool) -> Result<Client, Error> {
        let client = pool.get().await.during(self.name)?;
        let is_new = client.statement_cache.size() == 0;
        if is_new {
            client.batch_execute(KEEP_TO_INDEXES).await.during(self.name)?;
        }
        Ok(client)
    }
}

/// Every statement has its index. A plan made while a table was small would scan it, and would be kept while it grows.
///
/// That is not all. Of the dead rows that an old snapshot keeps, PostgreSQL knows nothing when it plans: where few rows live it
/// may read an index whole rather than look up a key. So a lookup by key does not offer it the index of a queue, whose
/// condition it recognizes (`state = (SELECT 'due')` hides it), and an `EXISTS` that is not a join has `OFFSET 0`. Tests of the
/// schema see to both.
const KEEP_TO_INDEXES: &str = "SET enable_seqscan = off";

/// Name and text of every statement: a test prepares each against the migrated schema.
pub fn statements() -> &'static [(&'static str, &'static str)] {
    const fn entry(statement: &Statement) -> (&'static str, &'static str) {
        (statement.name, statement.sql)
    }
    const {
        &[
            entry(&submit::CHARGE),
            entry(&submit::INSERT),
            entry(&submit::ORIGINAL),
            entry(&submit::REPEATED),
            entry(&submit::RESERVE),
            entry(&submit::RESERVE_ID),
            entry(&read::MESSAGE),
            entry(&read::CHANGED),
            entry(&read::STAMP),
            entry(&read::ATTEMPTS),
            entry(&read::PUSH),
            entry(&list::PAGE),
            entry(&sole_resolver::OPEN),
            entry(&conclude::SUBJECT),
            entry(&conclude::CONCLUDE),
            entry(&conclude::OUTCOME),
            entry(&expire::EXPIRE),
            entry(&expire::OVERDUE),
            entry(&expire::OF_ACCOUNT),
            entry(&retain::TAKE),
            entry(&retain::KEEP),
            entry(&retain::CLOSE),
            entry(&retain::PURGE_KEYS),
            entry(&retain::PURGE_TOMBSTONES),
            entry(&retain::PURGE_BUDGETS),
            entry(&erase::HOLD_PUSH),
            entry(&erase::HOLD),
            entry(&erase::ERASE),
            entry(&erase::TOMBSTONE),
            entry(&push::CLAIM),
            entry(&push::CLAIMED),
            entry(&push::SETTLE),
            entry(&push::RELAY),
            entry(&push::RELEASE),
            entry(&push::RELEASE_MOVED),
            entry(&push::BACKLOG),
            entry(&push::HELD),
            entry(&push::REDELIVER),
            entry(&push::EXHAUSTED),
            entry(&acks::ACK_MESSAGE),
            entry(&acks::SUBJECT),
            entry(&directives::INSERT),
            entry(&directives::RESERVE),
            entry(&human_key::ORIGINAL),
            entry(&human_key::RESERVE),
            entry(&directives::READ),
            entry(&directives::PAGE),
            entry(&broadcasts::LABELLED),
            entry(&broadcasts::UNKNOWN),
            entry(&broadcasts::INSERT),
            entry(&broadcasts::RESERVE),
            entry(&broadcasts::READ),
            entry(&broadcasts::PAGE),
            entry(&broadcasts::COUNT),
            entry(&broadcasts::RECIPIENTS),
            entry(&broadcasts::TAKE),
            entry(&broadcasts::PENDING),
            entry(&broadcasts::MARK),
            entry(&broadcasts::RELAY),
            entry(&broadcasts::BACKLOG),
            entry(&broadcasts::PURGE),
            entry(&mailbox::CLAIM),
            entry(&mailbox::END_CLAIM),
            entry(&mailbox::UNCLAIM),
            entry(&mailbox::ACK),
            entry(&mailbox::FILLED),
            entry(&mailbox::WAITING),
            entry(&mailbox::OVERDUE),
            entry(&mailbox::END),
            entry(&mailbox::CLOSE),
            entry(&mailbox::EMPTY),
            entry(&mailbox::PURGE),
            entry(&mailbox::PURGE_CLAIMS),
        ]
    }
}
