//! What can go wrong in a call.

use hub_platform::db;
use ma2h::error::Problem;

/// A refusal, or a failure of the database.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// What the client is told as it stands.
    #[error(transparent)]
    Refused(#[from] Problem),
    /// What the log is told, and the client only in general.
    #[error(transparent)]
    Database(#[from] db::Error),
}

impl Error {
    /// What the client is told. Logs a failure: called once, at the boundary.
    pub(crate) fn into_problem(self) -> Problem {
        match self {
            Self::Refused(problem) => problem,
            Self::Database(error) => db::report(&error),
        }
    }
}

impl db::Transient for Error {
    fn is_transient(&self) -> bool {
        match self {
            Self::Refused(_) => false,
            Self::Database(error) => error.is_transient(),
        }
    }
}
