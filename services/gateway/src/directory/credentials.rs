//! Whose a credential is.

use std::time::Duration;

use hub_platform::db::{self, Pool};
use ma2h::error::Problem;
use tokio_postgres::Row;

use super::{Statement, column, humans, rows};
use crate::principal::{Agent, Credential, Human, Principal};

const FIND: Statement = ("find credentials", include_str!("credentials/find.sql"));

pub(super) const STATEMENTS: &[Statement] = &[FIND];

/// Whose a credential is, and for how long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) principal: Principal,
    /// What is left until it ends by itself, by PostgreSQL's clock and never too much; none where it does not.
    pub(crate) left: Option<Duration>,
}

/// Whose these credentials are; those that have ended, or never were, are missing.
pub(crate) async fn find_all(pool: &Pool, credentials: &[Credential]) -> Result<Vec<Found>, Problem> {
    let mut tokens: Vec<&[u8]> = Vec::new();
    let mut sessions: Vec<&[u8]> = Vec::new();
    for credential in credentials {
        match credential {
            Credential::Token(hash) => tokens.push(hash),
            Credential::Session(hash) => sessions.push(hash),
        }
    }
    rows(pool, FIND, &[&tokens, &sessions])
        .await?
        .iter()
        .map(read)
        .collect()
}

fn read(row: &Row) -> Result<Found, Problem> {
    let left_ms: Option<i64> = column(row, "left_ms")?;
    Ok(Found {
        principal: principal(row)?,
        left: left_ms.map(|left| Duration::from_millis(u64::try_from(left).unwrap_or_default())),
    })
}

fn principal(row: &Row) -> Result<Principal, Problem> {
    let corrupt = |what: &str| db::report(&db::Error::corrupt(what));
    let hash: &[u8] = column(row, "hash")?;
    let hash = hash
        .try_into()
        .map_err(|_| corrupt("a credential's hash is not 32 bytes"))?;
    let credential = if column(row, "is_session")? {
        Credential::Session(hash)
    } else {
        Credential::Token(hash)
    };
    let account = column(row, "account")?;
    if let Some(id) = column(row, "agent")? {
        return Ok(Principal::Agent(Agent {
            account,
            id,
            credential,
        }));
    }
    let id =
        column::<Option<String>>(row, "human")?.ok_or_else(|| corrupt("a credential without a subject"))?;
    let role = humans::role(column(row, "role")?)?;
    Ok(Principal::Human(Human {
        account,
        id,
        role,
        credential,
    }))
}
