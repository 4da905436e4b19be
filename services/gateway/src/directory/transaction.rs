//! Changes that take more than one statement, each run again where it lost a race (rule 11).

use hub_platform::db::{self, Client, During, Pool, Transaction, Transient};
use ma2h::error::Problem;
use tokio_postgres::Row;

use super::{Params, Statement};

/// Why a transaction was rolled back.
enum Failure {
    Refused(Problem),
    Database(db::Error),
}

impl Failure {
    fn report(self) -> Problem {
        match self {
            Self::Refused(problem) => problem,
            Self::Database(error) => db::report(&error),
        }
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self::Refused(problem)
    }
}

impl From<db::Error> for Failure {
    fn from(error: db::Error) -> Self {
        Self::Database(error)
    }
}

impl Transient for Failure {
    fn is_transient(&self) -> bool {
        matches!(self, Self::Database(error) if error.is_transient())
    }
}

/// Reads a row and holds it with `lock`, whose parameters are `key`; writes with `update` what `patch` makes of it, as the
/// parameter after `params`. 404 without the row.
pub(super) async fn patch(
    pool: &Pool,
    (lock, key): (Statement, Params<'_>),
    (update, params): (Statement, Params<'_>),
    patch: impl Fn(&Row) -> Result<String, Problem>,
) -> Result<Row, Problem> {
    let run = || async {
        let mut client = connect(pool, update).await?;
        let transaction = begin(&mut client, update).await?;
        let locked = query(&transaction, lock, key).await?;
        let patched = patch(&locked.ok_or_else(Problem::not_found)?)?;
        let params: Vec<_> = params.iter().copied().chain([&patched as _]).collect();
        let updated = query(&transaction, update, &params).await?;
        transaction.commit().await.during(update.0)?;
        Ok(updated.ok_or_else(Problem::not_found)?)
    };
    db::retry(run).await.map_err(Failure::report)
}

/// Runs a statement, and commits it only once `then` has been done, which another tier does and which may be done more than
/// once. Whoever wants the rows that the statement wrote waits until then.
pub(super) async fn row_then<T, F, Fut>(
    pool: &Pool,
    statement: Statement,
    params: Params<'_>,
    read: impl Fn(Option<&Row>) -> Result<T, Problem>,
    then: F,
) -> Result<T, Problem>
where
    F: Fn() -> Fut,
    Fut: Future<Output = Result<(), Problem>>,
{
    let run = || async {
        let mut client = connect(pool, statement).await?;
        let transaction = begin(&mut client, statement).await?;
        let row = query(&transaction, statement, params).await?;
        let outcome = read(row.as_ref())?;
        then().await?;
        transaction.commit().await.during(statement.0)?;
        Ok(outcome)
    };
    db::retry(run).await.map_err(Failure::report)
}

async fn connect(pool: &Pool, (name, _): Statement) -> Result<Client, Failure> {
    Ok(pool.get().await.during(name)?)
}

async fn begin(client: &mut Client, (name, _): Statement) -> Result<Transaction<'_>, Failure> {
    Ok(client.transaction().await.during(name)?)
}

async fn query(
    transaction: &Transaction<'_>,
    (name, sql): Statement,
    params: Params<'_>,
) -> Result<Option<Row>, Failure> {
    let prepared = transaction.prepare_cached(sql).await.during(name)?;
    Ok(transaction.query_opt(&prepared, params).await.during(name)?)
}
