//! The SQL statements of this tier, each in a file beside the module that runs it.

use hub_platform::db::{Client, During, Error, Pool};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::{conclude, expire, list, push, read, submit};

/// The values of a statement's parameters.
pub(crate) type Values<'a> = &'a [&'a (dyn ToSql + Sync)];

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
        let client = pool.get().await.during(self.name)?;
        self.rows_of(&client, values).await
    }

    /// Runs what gives at most one row.
    pub(crate) async fn row(&self, pool: &Pool, values: Values<'_>) -> Result<Option<Row>, Error> {
        Ok(self.rows(pool, values).await?.pop())
    }

    async fn rows_of(&self, client: &Client, values: Values<'_>) -> Result<Vec<Row>, Error> {
        let prepared = client.prepare_cached(self.sql).await.during(self.name)?;
        client.query(&prepared, values).await.during(self.name)
    }
}

/// Name and text of every statement: a test prepares each against the migrated schema.
pub fn statements() -> &'static [(&'static str, &'static str)] {
    const fn entry(statement: &Statement) -> (&'static str, &'static str) {
        (statement.name, statement.sql)
    }
    const {
        &[
            entry(&submit::INSERT),
            entry(&submit::ORIGINAL),
            entry(&submit::REPEATED),
            entry(&submit::RESERVE),
            entry(&read::MESSAGE),
            entry(&read::STAMP),
            entry(&read::ATTEMPTS),
            entry(&read::PUSH),
            entry(&list::PAGE),
            entry(&conclude::SUBJECT),
            entry(&conclude::CONCLUDE),
            entry(&conclude::OUTCOME),
            entry(&expire::EXPIRE),
            entry(&expire::OVERDUE),
            entry(&push::CLAIM),
            entry(&push::HELD),
            entry(&push::SETTLE),
            entry(&push::RELAY),
            entry(&push::BACKLOG),
        ]
    }
}
