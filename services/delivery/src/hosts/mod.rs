//! The hosts that may be called back for an agent (§9.4).

mod challenge;
mod name;
mod verify;

use hub_platform::db::{self, Client, During as _, Pool};
use ma2h::callback::Verification;
use ma2h::error::Problem;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

pub(crate) use name::HostName;
pub(crate) use verify::Verifier;

use crate::error::CallError;

const PUT: &str = include_str!("put.sql");
const LIST: &str = include_str!("list.sql");
const DELETE: &str = include_str!("delete.sql");

/// The statements of this module, by name.
pub(crate) const STATEMENTS: &[(&str, &str)] = &[
    ("hosts/put", PUT),
    ("hosts/list", LIST),
    ("hosts/delete", DELETE),
    ("hosts/begin_verification", verify::BEGIN),
    ("hosts/confirm", verify::CONFIRM),
];

/// Hosts one agent, or an account for itself, may have.
const HOSTS_PER_OWNER_MAX: i64 = 256;

const PENDING: &str = "pending";
const VERIFIED: &str = "verified";

/// A host as it is registered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct CallbackHost {
    /// Host and, where it is not 443, port.
    pub(crate) host: String,
    /// How it is verified.
    pub(crate) method: String,
    /// `pending` or `verified`.
    pub(crate) status: String,
    /// What the agent has to show there, unless an operator vouches for it.
    pub(crate) challenge: Option<String>,
    /// Verified before, by another method; its challenge is yet to be found.
    is_rechallenged: bool,
}

impl CallbackHost {
    /// Whether there is a challenge to look for.
    fn awaits_challenge(&self) -> bool {
        self.status == PENDING || self.is_rechallenged
    }
}

/// Keeps the hosts.
#[derive(Clone)]
pub(crate) struct Hosts {
    pool: Pool,
}

impl Hosts {
    /// Over this database.
    pub(crate) fn new(pool: Pool) -> Self {
        Self { pool }
    }

    /// Registers a host. An operator who does is the approval; by any other method it has a challenge, and is pending unless it
    /// was verified before.
    pub(crate) async fn put(
        &self,
        account: &str,
        agent: &str,
        host: &HostName,
        method: Verification,
    ) -> Result<CallbackHost, CallError> {
        if method == Verification::DnsTxt && host.domain().is_none() {
            return Err(
                Problem::invalid_field("method: dns-txt needs a host with a name, not an address").into(),
            );
        }
        let (status, challenge) = match method {
            Verification::Operator => (VERIFIED, None),
            Verification::DnsTxt | Verification::WellKnown => (PENDING, Some(challenge::mint()?)),
        };
        let columns: [&(dyn ToSql + Sync); 7] = [
            &account,
            &agent,
            &host.as_str(),
            &method.as_str(),
            &status,
            &challenge,
            &HOSTS_PER_OWNER_MAX,
        ];
        let put = || async {
            let client = self.client().await?;
            let statement = client.prepare_cached(PUT).await.during("prepare to put a host")?;
            let row = client
                .query_opt(&statement, &columns)
                .await
                .during("put a host")?;
            Ok::<_, CallError>(row)
        };
        let Some(row) = db::retry(put).await? else {
            let message = format!("host: at most {HOSTS_PER_OWNER_MAX} callback hosts");
            return Err(Problem::invalid_field(message).into());
        };
        Ok(host_of_row(&row).during("read the host put")?)
    }

    /// The hosts of an agent, or of the account itself.
    pub(crate) async fn list(&self, account: &str, agent: &str) -> Result<Vec<CallbackHost>, CallError> {
        let client = self.client().await?;
        let statement = client
            .prepare_cached(LIST)
            .await
            .during("prepare to list hosts")?;
        let rows = client
            .query(&statement, &[&account, &agent])
            .await
            .during("list hosts")?;
        Ok(rows
            .iter()
            .map(host_of_row)
            .collect::<Result<_, _>>()
            .during("read hosts")?)
    }

    /// Takes a host back, and with it the webhook there, whether they are there or not: a call whose answer was lost can be
    /// repeated.
    pub(crate) async fn delete(&self, account: &str, agent: &str, host: &HostName) -> Result<(), CallError> {
        let delete = || async {
            let client = self.client().await?;
            let statement = client
                .prepare_cached(DELETE)
                .await
                .during("prepare to delete a host")?;
            let key: [&(dyn ToSql + Sync); 3] = [&account, &agent, &host.as_str()];
            Ok::<_, CallError>(client.execute(&statement, &key).await.during("delete a host")?)
        };
        db::retry(delete).await?;
        Ok(())
    }

    async fn client(&self) -> Result<Client, CallError> {
        Ok(self.pool.get().await.during("connect for hosts")?)
    }
}

fn host_of_row(row: &Row) -> Result<CallbackHost, tokio_postgres::Error> {
    Ok(CallbackHost {
        host: row.try_get("host")?,
        method: row.try_get("method")?,
        status: row.try_get("status")?,
        challenge: row.try_get("challenge")?,
        is_rechallenged: row.try_get("is_rechallenged")?,
    })
}
