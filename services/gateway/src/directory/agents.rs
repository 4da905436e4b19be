//! The agents of an account.

use hub_platform::db::{self, During, Pool};
use ma2h::error::Problem;
use serde_json::{Map, Value};
use time::OffsetDateTime;
use tokio_postgres::Row;

use super::{Author, Statement, column, json, made, page, row, rows, taken};
use crate::edge::page::Page;

const CREATE: Statement = ("create agent", include_str!("agents/create.sql"));
const LIST: Statement = ("list agents", include_str!("agents/list.sql"));
const EXISTS: Statement = ("find agent", include_str!("agents/exists.sql"));
const NOTE: Statement = ("note a change of an agent", include_str!("agents/note.sql"));
const LOCK: Statement = ("lock agent", include_str!("agents/lock.sql"));
const UPDATE: Statement = ("update agent", include_str!("agents/update.sql"));
const DELETE: Statement = ("delete agent", include_str!("agents/delete.sql"));

pub(super) const STATEMENTS: &[Statement] = &[CREATE, LIST, EXISTS, NOTE, LOCK, UPDATE, DELETE];

/// Labels: text to text.
pub(crate) type Labels = Map<String, Value>;

/// An agent as it is stored.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) id: String,
    pub(crate) labels: Value,
    pub(crate) created_at: OffsetDateTime,
}

/// Adds an agent, or 404 without the account, 409 with one of its id.
pub(crate) async fn create(
    pool: &Pool,
    author: &Author,
    account: &str,
    id: &str,
    labels: Labels,
) -> Result<Agent, Problem> {
    let labels = Value::Object(labels).to_string();
    let created = row(
        pool,
        CREATE,
        &[&account, &id, &labels, &Author::event(), &author.actor],
    )
    .await?;
    read(made(created.as_ref(), "agent")?.ok_or_else(|| taken("an agent"))?)
}

/// A page of the account's agents, one more than the page where others follow.
pub(crate) async fn list(pool: &Pool, account: &str, wanted: &Page) -> Result<Vec<Agent>, Problem> {
    let found = rows(pool, LIST, &[&account, &wanted.after, &wanted.rows()]).await?;
    page(&found, "agent", read)
}

/// 404 where the account has no such agent.
pub(crate) async fn require(pool: &Pool, account: &str, id: &str) -> Result<(), Problem> {
    let found = row(pool, EXISTS, &[&account, &id]).await?;
    found.map(drop).ok_or_else(Problem::not_found)
}

/// Writes down what is about to be done to an agent's secrets, keys or hosts, or 404.
pub(crate) async fn note(
    pool: &Pool,
    author: &Author,
    account: &str,
    id: &str,
    action: &str,
    detail: &Value,
) -> Result<(), Problem> {
    let detail = detail.to_string();
    let noted = row(
        pool,
        NOTE,
        &[&account, &id, &Author::event(), &author.actor, &action, &detail],
    )
    .await?;
    noted.map(drop).ok_or_else(Problem::not_found)
}

/// Changes the labels to what `patch` makes of the stored ones, or 404.
pub(crate) async fn update(
    pool: &Pool,
    author: &Author,
    account: &str,
    id: &str,
    patch: impl FnOnce(Labels) -> Result<Labels, Problem>,
) -> Result<Agent, Problem> {
    let report = |error: db::Error| db::report(&error);
    let mut client = pool.get().await.during("update agent").map_err(report)?;
    let transaction = client
        .transaction()
        .await
        .during("update agent")
        .map_err(report)?;
    let lock = transaction
        .prepare_cached(LOCK.1)
        .await
        .during(LOCK.0)
        .map_err(report)?;
    let locked = transaction
        .query_opt(&lock, &[&account, &id])
        .await
        .during(LOCK.0)
        .map_err(report)?;
    let stored = json(column(&locked.ok_or_else(Problem::not_found)?, "labels")?)?;
    let stored = stored.as_object().cloned().unwrap_or_default();
    let patched = Value::Object(patch(stored)?).to_string();
    let update = transaction
        .prepare_cached(UPDATE.1)
        .await
        .during(UPDATE.0)
        .map_err(report)?;
    let updated = transaction
        .query_one(
            &update,
            &[&account, &id, &patched, &Author::event(), &author.actor],
        )
        .await
        .during(UPDATE.0)
        .map_err(report)?;
    transaction
        .commit()
        .await
        .during("update agent")
        .map_err(report)?;
    read(&updated)
}

/// Removes an agent and ends its tokens, or 404.
pub(crate) async fn delete(pool: &Pool, author: &Author, account: &str, id: &str) -> Result<(), Problem> {
    let gone = row(pool, DELETE, &[&account, &id, &Author::event(), &author.actor]).await?;
    gone.map(drop).ok_or_else(Problem::not_found)
}

fn read(row: &Row) -> Result<Agent, Problem> {
    Ok(Agent {
        id: column(row, "agent")?,
        labels: json(column(row, "labels")?)?,
        created_at: column(row, "created_at")?,
    })
}
