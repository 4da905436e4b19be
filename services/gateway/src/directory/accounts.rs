//! Accounts: the tenants.

use hub_platform::db::Pool;
use ma2h::error::{ErrorCode, Problem};
use serde_json::Value;
use time::OffsetDateTime;
use tokio_postgres::Row;

use super::{Author, Statement, column, existed, row, rows, transaction};
use crate::edge::page::Page;

const CREATE: Statement = ("create account", include_str!("accounts/create.sql"));
const GET: Statement = ("get account", include_str!("accounts/get.sql"));
const LIST: Statement = ("list accounts", include_str!("accounts/list.sql"));
const NOTE: Statement = ("note a change of an account", include_str!("accounts/note.sql"));
const LOCK: Statement = ("lock account", include_str!("accounts/lock.sql"));
const UPDATE: Statement = ("update account", include_str!("accounts/update.sql"));
const DELETE: Statement = ("delete account", include_str!("accounts/delete.sql"));

pub(super) const STATEMENTS: &[Statement] = &[CREATE, GET, LIST, NOTE, LOCK, UPDATE, DELETE];

/// An account as it is stored.
#[derive(Debug)]
pub(crate) struct Account {
    pub(crate) id: String,
    pub(crate) name: String,
    /// What was set, without the defaults.
    pub(crate) policy: Value,
    pub(crate) created_at: OffsetDateTime,
}

/// Makes an account, or 409.
pub(crate) async fn create(pool: &Pool, author: &Author, id: &str, name: &str) -> Result<Account, Problem> {
    let made = row(pool, CREATE, &[&id, &name, &Author::event(), &author.actor]).await?;
    let taken = || Problem::new(ErrorCode::Conflict, "id: taken, or once was");
    read(&made.ok_or_else(taken)?)
}

/// One account, or 404.
pub(crate) async fn get(pool: &Pool, id: &str) -> Result<Account, Problem> {
    let found = row(pool, GET, &[&id]).await?;
    read(&found.ok_or_else(Problem::not_found)?)
}

/// A page of all accounts, one more than the page where others follow.
pub(crate) async fn list(pool: &Pool, wanted: &Page) -> Result<Vec<Account>, Problem> {
    rows(pool, LIST, &[&wanted.after, &wanted.rows()])
        .await?
        .iter()
        .map(read)
        .collect()
}

/// 404 where there is no such account.
pub(crate) async fn require(pool: &Pool, id: &str) -> Result<(), Problem> {
    existed(row(pool, GET, &[&id]).await?.as_ref())
}

/// Writes down what is about to be done to an account's own secrets, hosts or webhook, or 404.
pub(crate) async fn note(
    pool: &Pool,
    author: &Author,
    id: &str,
    action: &str,
    detail: &Value,
) -> Result<(), Problem> {
    let (event, detail) = (Author::event(), detail.to_string());
    let noted = row(pool, NOTE, &[&id, &event, &author.actor, &action, &detail]).await?;
    existed(noted.as_ref())
}

/// Changes the name where one is given, and the policy to what `patch` makes of the stored one; `changes` goes into the
/// audit.
pub(crate) async fn update(
    pool: &Pool,
    author: &Author,
    id: &str,
    name: Option<&str>,
    patch: impl Fn(Value) -> Result<Value, Problem>,
    changes: &Value,
) -> Result<Account, Problem> {
    let (event, changes) = (Author::event(), changes.to_string());
    let updated = transaction::patch(
        pool,
        (LOCK, &[&id]),
        (UPDATE, &[&id, &name, &event, &author.actor, &changes]),
        |locked| Ok(patch(policy(locked)?)?.to_string()),
    )
    .await?;
    read(&updated)
}

/// Ends an account and all its credentials, or 404. What other tiers keep of it is to be forgotten then.
pub(crate) async fn delete(pool: &Pool, author: &Author, id: &str) -> Result<(), Problem> {
    let event = Author::event();
    let gone = row(pool, DELETE, &[&id, &event, &author.actor]).await?;
    existed(gone.as_ref())
}

fn read(row: &Row) -> Result<Account, Problem> {
    Ok(Account {
        id: column(row, "account")?,
        name: column(row, "name")?,
        policy: policy(row)?,
        created_at: column(row, "created_at")?,
    })
}

fn policy(row: &Row) -> Result<Value, Problem> {
    super::json(column(row, "policy")?)
}
