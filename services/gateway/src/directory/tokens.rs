//! Tokens: shown once, kept as a hash.

use hub_platform::db::Pool;
use ma2h::error::Problem;
use time::OffsetDateTime;
use tokio_postgres::Row;

use super::{Author, Statement, column, existed, made, page, row, rows};
use crate::edge::page::Page;

const CREATE: Statement = ("create token", include_str!("tokens/create.sql"));
const LIST: Statement = ("list tokens", include_str!("tokens/list.sql"));
const DELETE: Statement = ("revoke token", include_str!("tokens/delete.sql"));

pub(super) const PURGE: Statement = ("purge tokens", include_str!("tokens/purge.sql"));

pub(super) const STATEMENTS: &[Statement] = &[CREATE, LIST, DELETE, PURGE];

/// Whom a token is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// A human's id.
    Human(String),
    /// An agent's id.
    Agent(String),
}

/// A token, without what would let anybody use it.
#[derive(Debug)]
pub(crate) struct Token {
    pub(crate) id: String,
    pub(crate) subject: String,
    pub(crate) created_at: OffsetDateTime,
    pub(crate) expires_at: Option<OffsetDateTime>,
}

/// Makes a token whose secret has this hash, or 404 without the account, none without the subject.
pub(crate) async fn create(
    pool: &Pool,
    author: &Author,
    account: &str,
    subject: &Subject,
    hash: [u8; 32],
    expires_at: Option<OffsetDateTime>,
) -> Result<Option<Token>, Problem> {
    let id = hub_platform::ids::mint("tok");
    let (human, agent) = match subject {
        Subject::Human(human) => (Some(human), None),
        Subject::Agent(agent) => (None, Some(agent)),
    };
    let hash = hash.as_slice();
    let event = Author::event();
    let created = row(
        pool,
        CREATE,
        &[
            &account,
            &id,
            &human,
            &agent,
            &hash,
            &expires_at,
            &event,
            &author.actor,
        ],
    )
    .await?;
    made(created.as_ref(), "token")?.map(read).transpose()
}

/// A page of the account's tokens, one more than the page where others follow.
pub(crate) async fn list(pool: &Pool, account: &str, wanted: &Page) -> Result<Vec<Token>, Problem> {
    let found = rows(pool, LIST, &[&account, &wanted.after, &wanted.rows()]).await?;
    page(&found, "token", read)
}

/// Revokes a token, or 404.
pub(crate) async fn delete(pool: &Pool, author: &Author, account: &str, id: &str) -> Result<(), Problem> {
    let gone = row(pool, DELETE, &[&account, &id, &Author::event(), &author.actor]).await?;
    existed(gone.as_ref())
}

fn read(row: &Row) -> Result<Token, Problem> {
    let human: Option<&str> = column(row, "human")?;
    let agent: Option<&str> = column(row, "agent")?;
    let subject = match human {
        Some(human) => format!("human:{human}"),
        None => format!("agent:{}", agent.unwrap_or_default()),
    };
    Ok(Token {
        id: column(row, "token")?,
        subject,
        created_at: column(row, "created_at")?,
        expires_at: column(row, "expires_at")?,
    })
}
