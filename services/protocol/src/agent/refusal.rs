//! Why a delivery is not acted upon.

use ma2h_schema::Violation;

use super::dedup::DedupFull;
use super::replay::ReplayError;
use crate::error::Problem;
use crate::sign::VerifyError;

/// Why a delivery is not acted upon. Nothing of it is to be acknowledged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// No item of a mailbox.
    #[error("malformed item: {0}")]
    Item(Problem),
    /// Not proven to be the hub's, for this agent.
    #[error(transparent)]
    Unverified(#[from] VerifyError),
    /// A signature that was taken before, or that cannot be known not to have been.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// Signed, yet not of the shape of its kind: something that no signature covers was added, or taken away.
    #[error("{0}")]
    Shape(Violation),
    /// For another agent, for another of its sessions, or for a session where there is none.
    #[error("addressed to someone else")]
    Addressee,
    /// The agent's policy lets this sender neither ask nor task it.
    #[error("the sender may not ask or task this agent")]
    Sender,
    /// No room to remember the work.
    #[error(transparent)]
    Full(#[from] DedupFull),
}
