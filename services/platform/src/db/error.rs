//! What can go wrong with the database, and what the client is told of it.

use std::fmt;

use deadpool_postgres::PoolError;
use ma2h::error::Problem;
use tokio_postgres::error::SqlState;

/// A failure, with what was being done.
#[derive(Debug)]
pub struct Error {
    doing: Option<&'static str>,
    cause: Cause,
}

#[derive(Debug)]
enum Cause {
    /// The URL or an option of it.
    Settings(String),
    /// No connection was free in time.
    Busy,
    /// The server could not be reached, or not be spoken to.
    Pool(PoolError),
    /// A statement failed.
    Statement(tokio_postgres::Error),
    /// A row holds what it must not.
    Corrupt(String),
}

impl Error {
    pub(super) fn settings(message: impl Into<String>) -> Self {
        Self {
            doing: None,
            cause: Cause::Settings(message.into()),
        }
    }

    /// A row that cannot be read as what it must be.
    pub fn corrupt(message: impl Into<String>) -> Self {
        Self {
            doing: None,
            cause: Cause::Corrupt(message.into()),
        }
    }

    /// The SQLSTATE, if a statement was refused by the server.
    pub fn sql_state(&self) -> Option<&SqlState> {
        match &self.cause {
            Cause::Statement(error) | Cause::Pool(PoolError::Backend(error)) => error.code(),
            _ => None,
        }
    }

    /// Whether the server ended a statement for the time it took.
    pub fn took_too_long(&self) -> bool {
        self.sql_state() == Some(&SqlState::QUERY_CANCELED)
    }

    /// Whether nothing is wrong with what was asked: the same again may well succeed.
    pub fn is_unavailable(&self) -> bool {
        match &self.cause {
            Cause::Busy | Cause::Pool(_) => true,
            Cause::Statement(error) => error.is_closed() || error.code().is_none_or(is_server_away),
            Cause::Settings(_) | Cause::Corrupt(_) => false,
        }
    }
}

/// Connection exceptions (08), operator intervention (57: shutdown, cancel by timeout), resources (53), lock
/// waits (55), and what a deadlock or serialisation failure leaves after its retries (40).
fn is_server_away(state: &SqlState) -> bool {
    ["08", "57", "53", "55", "40"]
        .iter()
        .any(|class| state.code().starts_with(class))
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(doing) = self.doing {
            write!(out, "{doing}: ")?;
        }
        match &self.cause {
            Cause::Settings(message) | Cause::Corrupt(message) => out.write_str(message),
            Cause::Busy => out.write_str("no database connection was free in time"),
            Cause::Pool(PoolError::Backend(error)) | Cause::Statement(error) => describe(error, out),
            Cause::Pool(error) => write!(out, "{error}"),
        }
    }
}

/// The server's message without its detail, which quotes the row. The message of a data exception (class 22) quotes a value.
fn describe(error: &tokio_postgres::Error, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    match error.as_db_error() {
        Some(refusal) => {
            let code = refusal.code().code();
            let message = if code.starts_with("22") {
                "a value was refused"
            } else {
                refusal.message()
            };
            write!(out, "{message} (sqlstate {code})")?;
            refusal
                .constraint()
                .map_or(Ok(()), |name| write!(out, ", constraint {name}"))
        }
        None => match std::error::Error::source(error) {
            Some(source) => write!(out, "{error}: {source}"),
            None => write!(out, "{error}"),
        },
    }
}

impl std::error::Error for Error {}

impl From<PoolError> for Error {
    fn from(error: PoolError) -> Self {
        let cause = match error {
            PoolError::Timeout(deadpool_postgres::TimeoutType::Wait) => Cause::Busy,
            error => Cause::Pool(error),
        };
        Self { doing: None, cause }
    }
}

impl From<tokio_postgres::Error> for Error {
    fn from(error: tokio_postgres::Error) -> Self {
        Self {
            doing: None,
            cause: Cause::Statement(error),
        }
    }
}

/// Says in an error what was being done.
pub trait During<T> {
    /// `doing` is constant and names the statement, such as `claim pushes`.
    fn during(self, doing: &'static str) -> Result<T, Error>;
}

impl<T, E: Into<Error>> During<T> for Result<T, E> {
    fn during(self, doing: &'static str) -> Result<T, Error> {
        self.map_err(|error| {
            let error = error.into();
            Error {
                doing: error.doing.or(Some(doing)),
                ..error
            }
        })
    }
}

/// What the client is told: to come again, or that the hub failed.
pub fn problem(error: &Error) -> Problem {
    if error.is_unavailable() {
        Problem::unavailable("the hub cannot reach its database, try again")
    } else {
        Problem::internal()
    }
}

/// Logs a failure, once, and gives what the client is told.
pub fn report(error: &Error) -> Problem {
    let sql_state = error.sql_state().map(SqlState::code);
    if error.is_unavailable() {
        tracing::warn!(%error, sql_state, "database unavailable");
    } else {
        tracing::error!(%error, sql_state, "database failure");
    }
    problem(error)
}
