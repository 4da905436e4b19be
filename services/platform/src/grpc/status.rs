//! The hub's errors as gRPC statuses, and back.

use ma2h::error::{ErrorCode, Problem};
use tonic::{Code, Status};

/// A status that carries the problem in its details.
pub fn problem_to_status(problem: &Problem) -> Status {
    let _ = problem;
    todo!()
}

/// The problem that a status carries, or what its code says.
pub fn status_to_problem(status: &Status) -> Problem {
    let _ = (status, Code::Ok, ErrorCode::Internal);
    todo!()
}
