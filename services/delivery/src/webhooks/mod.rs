//! Webhooks: where an agent's directives are pushed to (§8.7), and the account's acknowledgements (§14.4), whose owner is no
//! agent. Lifecycle reads in a view whether there is one, and owes pushes to it.

use hub_platform::db::{self, During as _, Pool};
use ma2h::callback::{AuthScheme, Callback, host_of};
use ma2h::error::Problem;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::error::CallError;
use crate::vault::owner;

const PUT: &str = include_str!("put.sql");
const READ: &str = include_str!("read.sql");
const DELETE: &str = include_str!("delete.sql");

/// The statements of this module, by name.
pub(crate) const STATEMENTS: &[(&str, &str)] = &[
    ("webhooks/put", PUT),
    ("webhooks/read", READ),
    ("webhooks/delete", DELETE),
];

/// Keeps the webhooks.
#[derive(Clone)]
pub(crate) struct Webhooks {
    pool: Pool,
}

impl Webhooks {
    /// Over this database.
    pub(crate) fn new(pool: Pool) -> Self {
        Self { pool }
    }

    /// Pushes go there from now on; the owner must have the host verified, and the secret.
    pub(crate) async fn put(&self, account: &str, agent: &str, to: &Callback) -> Result<(), CallError> {
        let host = host_of(&to.url)?;
        let Callback {
            url,
            scheme,
            credential_ref,
        } = to;
        let put = self
            .rows(
                PUT,
                &[
                    &account,
                    &agent,
                    url,
                    &host,
                    &scheme.as_str(),
                    credential_ref,
                    &owner(agent),
                ],
            )
            .await?;
        let row = put
            .first()
            .ok_or_else(|| db::Error::corrupt("put webhook gave no row"))?;
        let flag = |name| {
            row.try_get::<_, bool>(name)
                .during("read what became of a webhook")
        };
        if !flag("host_verified")? {
            return Err(Problem::invalid_field("url: its host is not a verified callback host").into());
        }
        if !flag("secret_known")? {
            let message = format!("auth.{}: no such secret", scheme.reference_name());
            return Err(Problem::invalid_field(message).into());
        }
        Ok(())
    }

    /// Where pushes go, if anywhere.
    pub(crate) async fn get(&self, account: &str, agent: &str) -> Result<Option<Callback>, CallError> {
        let rows = self.rows(READ, &[&account, &agent]).await?;
        rows.first().map(read).transpose()
    }

    /// Takes it back, whether there is one or not: a call whose answer was lost can be repeated.
    pub(crate) async fn delete(&self, account: &str, agent: &str) -> Result<(), CallError> {
        self.rows(DELETE, &[&account, &agent]).await?;
        Ok(())
    }

    async fn rows(&self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, CallError> {
        let run = || async {
            let client = self.pool.get().await.during("connect for webhooks")?;
            let statement = client.prepare_cached(sql).await.during("prepare for webhooks")?;
            client.query(&statement, values).await.during("keep webhooks")
        };
        Ok(db::retry(run).await?)
    }
}

fn read(row: &Row) -> Result<Callback, CallError> {
    let doing = "read a webhook";
    let scheme: &str = row.try_get("scheme").during(doing)?;
    Ok(Callback {
        url: row.try_get("url").during(doing)?,
        scheme: scheme.parse::<AuthScheme>()?,
        credential_ref: row.try_get("credential_ref").during(doing)?,
    })
}
