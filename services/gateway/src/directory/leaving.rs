//! What was deleted, and is still to be forgotten by the other tiers.

use hub_platform::db::Pool;
use ma2h::error::Problem;
use time::OffsetDateTime;
use tokio_postgres::Row;

use super::{Statement, column, rows};

const TAKE: Statement = ("take what is leaving", include_str!("leaving/take.sql"));
const DONE: Statement = ("drop what has left", include_str!("leaving/done.sql"));

pub(super) const STATEMENTS: &[Statement] = &[TAKE, DONE];

/// An agent, or an account, that was deleted.
#[derive(Debug)]
pub(crate) struct Leaving {
    pub(crate) account: String,
    /// None: the account, with all its agents.
    pub(crate) agent: Option<String>,
    due_at: OffsetDateTime,
}

/// Takes at most this many of those that are due.
pub(crate) async fn take(pool: &Pool, most: i64) -> Result<Vec<Leaving>, Problem> {
    let taken = rows(pool, TAKE, &[&most]).await?;
    let read = |row: &Row| {
        let agent: String = column(row, "agent")?;
        Ok(Leaving {
            account: column(row, "account")?,
            agent: Some(agent).filter(|agent| !agent.is_empty()),
            due_at: column(row, "due_at")?,
        })
    };
    taken.iter().map(read).collect()
}

/// Nothing is kept of it any more.
pub(crate) async fn done(pool: &Pool, leaving: &Leaving) -> Result<(), Problem> {
    let agent = leaving.agent.as_deref().unwrap_or_default();
    rows(pool, DONE, &[&leaving.account, &agent, &leaving.due_at])
        .await
        .map(drop)
}
