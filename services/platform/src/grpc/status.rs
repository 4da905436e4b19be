//! The hub's errors as gRPC statuses, and back. The problem itself travels in the details.

use hub_proto::common;
use ma2h::error::{ErrorCode, Problem};
use prost::Message;
use tonic::{Code, Status};

/// A status that carries the problem in its details.
pub fn problem_to_status(problem: &Problem) -> Status {
    let details = common::Problem {
        code: problem.code.as_str().to_owned(),
        message: problem.message.clone(),
        retry_after_seconds: problem.retry_after_seconds,
    };
    Status::with_details(
        code_of(problem.code),
        problem.message.clone(),
        details.encode_to_vec().into(),
    )
}

/// The problem that a status carries, or what its code says.
pub fn status_to_problem(status: &Status) -> Problem {
    carried(status).unwrap_or_else(|| match status.code() {
        Code::Unavailable | Code::DeadlineExceeded | Code::Cancelled | Code::ResourceExhausted => {
            Problem::unavailable("a part of the hub does not answer, try again")
        }
        _ => Problem::internal(),
    })
}

/// The problem in the details, where the hub itself refused the call.
pub(super) fn carried(status: &Status) -> Option<Problem> {
    let details = common::Problem::decode(status.details()).ok()?;
    let code = details.code.parse().ok()?;
    Some(Problem {
        code,
        message: details.message,
        retry_after_seconds: details.retry_after_seconds,
    })
}

fn code_of(code: ErrorCode) -> Code {
    match code {
        ErrorCode::ValidationError
        | ErrorCode::VersionNotSupported
        | ErrorCode::InvalidField
        | ErrorCode::UnknownDestination
        | ErrorCode::PayloadTooLarge
        | ErrorCode::UnsupportedMediaType => Code::InvalidArgument,
        ErrorCode::Unauthenticated => Code::Unauthenticated,
        ErrorCode::AgentIdMismatch | ErrorCode::NotAuthorized | ErrorCode::SessionClosedByOperator => {
            Code::PermissionDenied
        }
        ErrorCode::NotFound | ErrorCode::Gone | ErrorCode::DestinationGone => Code::NotFound,
        ErrorCode::MethodNotAllowed => Code::Unimplemented,
        ErrorCode::Conflict | ErrorCode::IdempotencyConflict => Code::AlreadyExists,
        ErrorCode::AlreadyTerminal | ErrorCode::NotAcknowledgeable => Code::FailedPrecondition,
        ErrorCode::RateLimited => Code::ResourceExhausted,
        ErrorCode::Unavailable => Code::Unavailable,
        ErrorCode::Internal => Code::Internal,
    }
}

#[cfg(test)]
mod tests {
    use ma2h::error::{ErrorCode, Problem};
    use tonic::{Code, Status};

    use super::{problem_to_status, status_to_problem};

    #[test]
    fn a_problem_comes_through_whole() {
        let problem = Problem::invalid_field("request.options: expected at least one");
        let status = problem_to_status(&problem);
        assert_eq!(status.code(), Code::InvalidArgument);
        assert_eq!(status_to_problem(&status), problem);
        let later = Problem::rate_limited("rate_limit.inbox_depth: reached", 60);
        assert_eq!(status_to_problem(&problem_to_status(&later)), later);
    }

    #[test]
    fn what_the_hub_did_not_say_is_told_by_the_code() {
        let away = status_to_problem(&Status::unavailable("tcp connect error"));
        assert_eq!(away.code, ErrorCode::Unavailable);
        let failed = status_to_problem(&Status::internal("h2 protocol error"));
        assert_eq!(failed, Problem::internal());
    }
}
