//! What ends the tier, and what ends one call of it.

use hub_platform::{config, db, grpc, nats};
use ma2h::error::Problem;
use tonic::Status;

use crate::guard;
use crate::vault::SealError;

/// Why the tier does not start, or stopped.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A setting.
    #[error(transparent)]
    Config(#[from] config::Error),
    /// The database settings.
    #[error(transparent)]
    Database(#[from] db::Error),
    /// The NATS settings.
    #[error(transparent)]
    Nats(#[from] nats::Error),
    /// A peer's address, or the gRPC server.
    #[error(transparent)]
    Grpc(#[from] grpc::Error),
    /// A key, while it was rotated.
    #[error(transparent)]
    Rotation(#[from] CallError),
    /// The outgoing client.
    #[error(transparent)]
    Guard(#[from] guard::Error),
    /// A task of the worker panicked.
    #[error("the worker broke: {0}")]
    Worker(tokio::task::JoinError),
}

/// Why a call is not answered with what it asked for.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The caller is told.
    #[error(transparent)]
    Refused(#[from] Problem),
    /// The database failed or is away.
    #[error(transparent)]
    Database(#[from] db::Error),
    /// What is kept sealed cannot be opened, or a value not be sealed.
    #[error(transparent)]
    Seal(#[from] SealError),
}

impl CallError {
    /// Logs what is not the caller's doing, once, and gives what the caller is told.
    pub(crate) fn report(&self) -> Problem {
        match self {
            Self::Refused(problem) => problem.clone(),
            Self::Database(error) => db::report(error),
            Self::Seal(error) => {
                tracing::error!(%error, "sealed value unusable");
                Problem::internal()
            }
        }
    }
}

impl db::Transient for CallError {
    fn is_transient(&self) -> bool {
        match self {
            Self::Refused(_) | Self::Seal(_) => false,
            Self::Database(error) => error.is_transient(),
        }
    }
}

impl From<CallError> for Status {
    fn from(error: CallError) -> Self {
        grpc::problem_to_status(&error.report())
    }
}
