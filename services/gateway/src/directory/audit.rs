//! Who did what.

use hub_platform::db::Pool;
use ma2h::error::Problem;
use serde_json::Value;
use time::OffsetDateTime;
use tokio_postgres::Row;

use super::{Author, Statement, column, json, page, row, rows};
use crate::edge::page::Page;

const LIST: Statement = ("list audit", include_str!("audit/list.sql"));

const NOTE: Statement = ("note a change of messages", include_str!("audit/note.sql"));

const NOTE_MADE: Statement = ("note what was made", include_str!("audit/note_made.sql"));

pub(super) const PURGE: Statement = ("purge audit", include_str!("audit/purge.sql"));

pub(super) const STATEMENTS: &[Statement] = &[LIST, NOTE, NOTE_MADE, PURGE];

/// One change.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) id: String,
    pub(crate) at: OffsetDateTime,
    pub(crate) actor: String,
    pub(crate) action: String,
    pub(crate) target: String,
    pub(crate) detail: Option<Value>,
}

/// A page of an account's events, newest first, one more than the page where others follow.
pub(crate) async fn list(pool: &Pool, account: &str, wanted: &Page) -> Result<Vec<Event>, Problem> {
    let found = rows(pool, LIST, &[&account, &wanted.after, &wanted.rows()]).await?;
    page(&found, "event", read)
}

/// Writes down what is about to be done to an account's messages.
pub(crate) async fn note(
    pool: &Pool,
    author: &Author,
    account: &str,
    action: &str,
    target: &str,
    detail: Option<&Value>,
) -> Result<(), Problem> {
    let (event, detail) = (Author::event(), detail.map(Value::to_string));
    let noted = row(
        pool,
        NOTE,
        &[&account, &event, &author.actor, &action, &target, &detail],
    )
    .await?;
    noted.map(drop).ok_or_else(Problem::not_found)
}

/// Writes down what was made, once: a call that is made again finds it written. `made` is its id, which was minted.
pub(crate) async fn note_made(
    pool: &Pool,
    author: &Author,
    account: &str,
    action: &str,
    made: &str,
    detail: &Value,
) -> Result<(), Problem> {
    let (event, detail) = (Author::event_of(made), detail.to_string());
    row(
        pool,
        NOTE_MADE,
        &[&account, &event, &author.actor, &action, &made, &detail],
    )
    .await?;
    Ok(())
}

fn read(row: &Row) -> Result<Event, Problem> {
    Ok(Event {
        id: column(row, "event")?,
        at: column(row, "at")?,
        actor: column(row, "actor")?,
        action: column(row, "action")?,
        target: column(row, "target")?,
        detail: column::<Option<&str>>(row, "detail")?.map(json).transpose()?,
    })
}
