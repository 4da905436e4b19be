//! The agents of an account.

use std::collections::BTreeMap;

use hub_platform::db::Pool;
use ma2h::error::Problem;
use serde_json::{Map, Value, json};
use time::OffsetDateTime;
use tokio_postgres::Row;

use super::{
    Author, Params, Statement, column, existed, json as parsed, made, page, row, rows, taken, transaction,
};
use crate::edge::page::Page;

const CREATE: Statement = ("create agent", include_str!("agents/create.sql"));
const LIST: Statement = ("list agents", include_str!("agents/list.sql"));
const FIND: Statement = ("find agent", include_str!("agents/find.sql"));
const KNOWN: Statement = ("find agents", include_str!("agents/known.sql"));
const LABELLED: Statement = ("list labelled agents", include_str!("agents/labelled.sql"));
const LABELS: Statement = ("count labels of agents", include_str!("agents/labels.sql"));
const NOTE: Statement = ("note a change of an agent", include_str!("agents/note.sql"));
const LOCK: Statement = ("lock agent", include_str!("agents/lock.sql"));
const UPDATE: Statement = ("update agent", include_str!("agents/update.sql"));
const DELETE: Statement = ("delete agent", include_str!("agents/delete.sql"));

pub(super) const STATEMENTS: &[Statement] = &[
    CREATE, LIST, FIND, KNOWN, LABELLED, LABELS, NOTE, LOCK, UPDATE, DELETE,
];

/// Labels: text to text.
pub(crate) type Labels = Map<String, Value>;

/// An agent as it is stored.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) id: String,
    pub(crate) labels: Value,
    pub(crate) created_at: OffsetDateTime,
}

/// Adds an agent, or 404 without the account, 409 with one of its id; `forget` drops what delivery may still keep of an
/// earlier one of the same id.
pub(crate) async fn create<F, Fut>(
    pool: &Pool,
    author: &Author,
    account: &str,
    id: &str,
    labels: Labels,
    forget: F,
) -> Result<Agent, Problem>
where
    F: Fn() -> Fut,
    Fut: Future<Output = Result<(), Problem>>,
{
    let (labels, event) = (Value::Object(labels).to_string(), Author::event());
    let params: Params<'_> = &[&account, &id, &labels, &event, &author.actor];
    let created = |row: Option<&Row>| read(made(row, "agent")?.ok_or_else(|| taken("an agent"))?);
    transaction::row_then(pool, CREATE, params, created, forget).await
}

/// A page of the account's agents, one more than the page where others follow.
pub(crate) async fn list(pool: &Pool, account: &str, wanted: &Page) -> Result<Vec<Agent>, Problem> {
    let found = rows(pool, LIST, &[&account, &wanted.after, &wanted.rows()]).await?;
    page(&found, "agent", read)
}

/// One agent, or 404 where the account has none of that id.
pub(crate) async fn find(pool: &Pool, account: &str, id: &str) -> Result<Agent, Problem> {
    let found = row(pool, FIND, &[&account, &id]).await?;
    read(&found.ok_or_else(Problem::not_found)?)
}

/// Those of these ids that agents of the account have, in the order of their ids.
pub(crate) async fn known(pool: &Pool, account: &str, ids: &[String]) -> Result<Vec<Agent>, Problem> {
    // No text of PostgreSQL holds it.
    let ids: Vec<_> = ids.iter().filter(|id| !id.contains('\0')).collect();
    let found = rows(pool, KNOWN, &[&account, &ids]).await?;
    found.iter().map(read).collect()
}

/// Agents of the account that carry all of these labels and can be written to, at most `count`, in the order of their ids.
pub(crate) async fn labelled(
    pool: &Pool,
    account: &str,
    labels: &BTreeMap<String, String>,
    count: u32,
) -> Result<Vec<String>, Problem> {
    // As above.
    if labels
        .iter()
        .any(|(name, value)| name.contains('\0') || value.contains('\0'))
    {
        return Ok(Vec::new());
    }
    let labels = json!(labels).to_string();
    let found = rows(pool, LABELLED, &[&account, &labels, &i64::from(count)]).await?;
    found.iter().map(|row| column(row, "agent")).collect()
}

/// A label, and how many agents carry it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LabelCount {
    pub(crate) name: String,
    pub(crate) value: String,
    pub(crate) agents: i64,
}

/// The commonest labels of the account's first `looked` agents that can be written to, at most `count`.
pub(crate) async fn labels(
    pool: &Pool,
    account: &str,
    looked: u32,
    count: u32,
) -> Result<Vec<LabelCount>, Problem> {
    let (looked, count) = (i64::from(looked), i64::from(count));
    let found = rows(pool, LABELS, &[&account, &looked, &count]).await?;
    let counts = found.iter().map(|row| {
        Ok(LabelCount {
            name: column(row, "name")?,
            value: column(row, "value")?,
            agents: column(row, "agents")?,
        })
    });
    counts.collect()
}

/// 404 where the account has no such agent.
pub(crate) async fn require(pool: &Pool, account: &str, id: &str) -> Result<(), Problem> {
    find(pool, account, id).await.map(drop)
}

/// Writes down what is about to be done to an agent's secrets, keys, hosts or webhook, or 404.
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
    existed(noted.as_ref())
}

/// Changes the labels to what `patch` makes of the stored ones, or 404.
pub(crate) async fn update(
    pool: &Pool,
    author: &Author,
    account: &str,
    id: &str,
    patch: impl Fn(Labels) -> Result<Labels, Problem>,
) -> Result<Agent, Problem> {
    let event = Author::event();
    let updated = transaction::patch(
        pool,
        (LOCK, &[&account, &id]),
        (UPDATE, &[&account, &id, &event, &author.actor]),
        |locked| {
            let stored = parsed(column(locked, "labels")?)?;
            let stored = stored.as_object().cloned().unwrap_or_default();
            Ok(Value::Object(patch(stored)?).to_string())
        },
    )
    .await?;
    read(&updated)
}

/// Removes an agent and ends its tokens, or 404. What other tiers keep of it is to be forgotten then.
pub(crate) async fn delete(pool: &Pool, author: &Author, account: &str, id: &str) -> Result<(), Problem> {
    let event = Author::event();
    let gone = row(pool, DELETE, &[&account, &id, &event, &author.actor]).await?;
    existed(gone.as_ref())
}

fn read(row: &Row) -> Result<Agent, Problem> {
    Ok(Agent {
        id: column(row, "agent")?,
        labels: parsed(column(row, "labels")?)?,
        created_at: column(row, "created_at")?,
    })
}
