//! The end of an agent or an account: nothing that was kept for it stays.

use hub_platform::db::{self, During as _, Pool};
use tokio_postgres::types::ToSql;

use crate::error::CallError;

const AGENT: &str = include_str!("agent.sql");
const ACCOUNT: &str = include_str!("account.sql");

/// The statements of this module, by name.
pub(crate) const STATEMENTS: &[(&str, &str)] = &[("forget/agent", AGENT), ("forget/account", ACCOUNT)];

/// Forgets. Each call is one statement, and may be repeated.
#[derive(Clone)]
pub(crate) struct Forgetting {
    pool: Pool,
}

impl Forgetting {
    /// Over this database.
    pub(crate) fn new(pool: Pool) -> Self {
        Self { pool }
    }

    /// Secrets, entry key, webhook and callback hosts of an agent.
    pub(crate) async fn agent(&self, account: &str, agent: &str) -> Result<(), CallError> {
        self.run(AGENT, &[&account, &agent]).await
    }

    /// The same of every agent of an account, and what is the account's own.
    pub(crate) async fn account(&self, account: &str) -> Result<(), CallError> {
        self.run(ACCOUNT, &[&account]).await
    }

    async fn run(&self, statement: &str, key: &[&(dyn ToSql + Sync)]) -> Result<(), CallError> {
        let forget = || async {
            let client = self.pool.get().await.during("connect to forget")?;
            let statement = client
                .prepare_cached(statement)
                .await
                .during("prepare to forget")?;
            client.execute(&statement, key).await.during("forget")
        };
        db::retry(forget).await?;
        Ok(())
    }
}
