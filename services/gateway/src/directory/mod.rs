//! Schema `directory`: who there is, what they authenticate with, and what was done about it. One module for each noun,
//! its statements in the folder of its name. Every administrative change and its audit row are one statement or one
//! transaction.

pub(crate) mod accounts;
pub(crate) mod agents;
pub(crate) mod audit;
pub(crate) mod browser_sessions;
pub(crate) mod clock;
pub(crate) mod credentials;
pub(crate) mod humans;
pub(crate) mod ids;
pub(crate) mod leaving;
pub(crate) mod policy;
pub(crate) mod sweep;
pub(crate) mod tokens;
mod transaction;

use hub_platform::db::{self, During, Pool};
use ma2h::error::{ErrorCode, Problem};
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, ToSql};

/// A statement: what it is called in logs, and its text.
pub(crate) type Statement = (&'static str, &'static str);

/// The values of a statement's parameters.
type Params<'a> = &'a [&'a (dyn ToSql + Sync)];

/// Every statement, for the test that prepares them.
pub(crate) fn statements() -> Vec<Statement> {
    [
        accounts::STATEMENTS,
        agents::STATEMENTS,
        audit::STATEMENTS,
        browser_sessions::STATEMENTS,
        clock::STATEMENTS,
        credentials::STATEMENTS,
        humans::STATEMENTS,
        leaving::STATEMENTS,
        tokens::STATEMENTS,
    ]
    .concat()
}

/// Who makes a change, for the audit.
#[derive(Clone, Debug)]
pub(crate) struct Author {
    /// `human:alice` or `system:admin`.
    pub(crate) actor: String,
}

impl Author {
    /// The id of the audit row of one change.
    pub(crate) fn event() -> String {
        hub_platform::ids::mint("evt")
    }

    /// The id of the audit row of what was made under a minted id: always the same.
    fn event_of(made: &str) -> String {
        let (_, ulid) = made.split_once('_').unwrap_or(("", made));
        format!("evt_{ulid}")
    }
}

/// Runs a statement that is prepared once for each connection, again where it lost a race (rule 11).
async fn rows(pool: &Pool, (name, sql): Statement, params: Params<'_>) -> Result<Vec<Row>, Problem> {
    let run = || async {
        let client = pool.get().await.during(name)?;
        let prepared = client.prepare_cached(sql).await.during(name)?;
        client.query(&prepared, params).await.during(name)
    };
    db::retry(run)
        .await
        .map_err(|error: db::Error| db::report(&error))
}

/// The same for a statement that gives one row or none.
async fn row(pool: &Pool, statement: Statement, params: Params<'_>) -> Result<Option<Row>, Problem> {
    Ok(rows(pool, statement, params).await?.into_iter().next())
}

/// One column of a row.
fn column<'a, T: FromSql<'a>>(row: &'a Row, name: &'static str) -> Result<T, Problem> {
    row.try_get(name).during(name).map_err(|error| db::report(&error))
}

/// A page whose account may be missing: no row at all says so, a row without `key` that the page is empty.
fn page<T>(
    rows: &[Row],
    key: &'static str,
    read: impl Fn(&Row) -> Result<T, Problem>,
) -> Result<Vec<T>, Problem> {
    let [first, ..] = rows else {
        return Err(Problem::not_found());
    };
    if column::<Option<&str>>(first, key)?.is_none() {
        return Ok(Vec::new());
    }
    rows.iter().map(read).collect()
}

/// What a `create` statement made: nothing where the account is missing, or has one of that id already.
fn made<'a>(row: Option<&'a Row>, key: &'static str) -> Result<Option<&'a Row>, Problem> {
    let row = row.ok_or_else(Problem::internal)?;
    if !column::<bool>(row, "found")? {
        return Err(Problem::not_found());
    }
    Ok(column::<Option<&str>>(row, key)?.is_some().then_some(row))
}

/// 404 where there was no row to change.
fn existed(row: Option<&Row>) -> Result<(), Problem> {
    row.map(drop).ok_or_else(Problem::not_found)
}

/// 409: the id is taken.
fn taken(what: &str) -> Problem {
    Problem::new(
        ErrorCode::Conflict,
        format!("id: the account already has {what} of this id"),
    )
}

/// A JSON column, read as text.
fn json(text: &str) -> Result<serde_json::Value, Problem> {
    let parsed = serde_json::from_str(text).map_err(|error| db::Error::corrupt(error.to_string()));
    parsed.map_err(|error| db::report(&error))
}
