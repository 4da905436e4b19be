//! Error codes of the wire (§8.5) and the hub's own surface: one closed set.

use std::str::FromStr;

/// Why a call was refused, as a client's program reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorCode {
    /// Malformed body or parameter.
    ValidationError,
    /// A major, or a push at a minor, that cannot be served (§10).
    VersionNotSupported,
    /// No credential, or not a valid one.
    Unauthenticated,
    /// The envelope's `agent.id` is not the credential's.
    AgentIdMismatch,
    /// Known, but not allowed to do this.
    NotAuthorized,
    /// The account's operator ended the session (§16.4): stop.
    SessionClosedByOperator,
    /// Unknown, or not for this caller to know.
    NotFound,
    /// The path exists, the method does not.
    MethodNotAllowed,
    /// The state of the resource forbids it.
    Conflict,
    /// The idempotency key was used for another payload (§8.1).
    IdempotencyConflict,
    /// Someone else ended the message first (§7).
    AlreadyTerminal,
    /// Nothing delivered that could be acknowledged (§14).
    NotAcknowledgeable,
    /// Was there, is deleted.
    Gone,
    /// The addressed session has ended (§4).
    DestinationGone,
    /// Body beyond what the transport takes.
    PayloadTooLarge,
    /// Not `application/json`.
    UnsupportedMediaType,
    /// Well formed, but a field does not fit.
    InvalidField,
    /// No such addressee, as far as this sender may know (§4).
    UnknownDestination,
    /// Over a published limit.
    RateLimited,
    /// Cannot be served now; the same call may be repeated.
    Unavailable,
    /// The hub failed.
    Internal,
}

/// Every code with its text on the wire and its HTTP status.
const CODES: [(ErrorCode, &str, u16); 21] = [
    (ErrorCode::ValidationError, "validation_error", 400),
    (ErrorCode::VersionNotSupported, "version_not_supported", 400),
    (ErrorCode::Unauthenticated, "unauthenticated", 401),
    (ErrorCode::AgentIdMismatch, "agent_id_mismatch", 403),
    (ErrorCode::NotAuthorized, "not_authorized", 403),
    // 403 instead at a stopped principal's registration, where no session is gone (§16.4.1).
    (
        ErrorCode::SessionClosedByOperator,
        "session_closed_by_operator",
        410,
    ),
    (ErrorCode::NotFound, "not_found", 404),
    (ErrorCode::MethodNotAllowed, "method_not_allowed", 405),
    (ErrorCode::Conflict, "conflict", 409),
    (ErrorCode::IdempotencyConflict, "idempotency_conflict", 409),
    (ErrorCode::AlreadyTerminal, "already_terminal", 409),
    (ErrorCode::NotAcknowledgeable, "not_acknowledgeable", 409),
    (ErrorCode::Gone, "gone", 410),
    (ErrorCode::DestinationGone, "destination_gone", 410),
    (ErrorCode::PayloadTooLarge, "payload_too_large", 413),
    (ErrorCode::UnsupportedMediaType, "unsupported_media_type", 415),
    (ErrorCode::InvalidField, "invalid_field", 422),
    (ErrorCode::UnknownDestination, "unknown_destination", 422),
    (ErrorCode::RateLimited, "rate_limited", 429),
    (ErrorCode::Unavailable, "unavailable", 503),
    (ErrorCode::Internal, "internal", 500),
];

impl ErrorCode {
    fn row(self) -> (ErrorCode, &'static str, u16) {
        CODES
            .into_iter()
            .find(|(code, ..)| *code == self)
            .unwrap_or((self, "internal", 500))
    }

    /// The code as the wire has it.
    pub fn as_str(self) -> &'static str {
        self.row().1
    }

    /// The HTTP status it is answered with.
    pub fn http_status(self) -> u16 {
        self.row().2
    }
}

/// A text that is none of the codes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown error code {0:?}")]
pub struct UnknownErrorCode(pub String);

impl FromStr for ErrorCode {
    type Err = UnknownErrorCode;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let known = CODES.into_iter().find(|(_, name, _)| *name == text);
        known
            .map(|(code, ..)| code)
            .ok_or_else(|| UnknownErrorCode(text.to_owned()))
    }
}

/// A refusal as the client sees it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {message}", code.as_str())]
pub struct Problem {
    /// For the client's program.
    pub code: ErrorCode,
    /// For a person: lower case, names the field and what was expected.
    pub message: String,
    /// When the client may come again, where that is known.
    pub retry_after_seconds: Option<u32>,
}

impl Problem {
    /// A refusal with this code and text.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Problem {
        Problem {
            code,
            message: message.into(),
            retry_after_seconds: None,
        }
    }

    /// The same, with the time after which the client may come again.
    #[must_use]
    pub fn retry_after(self, seconds: u32) -> Problem {
        Problem {
            retry_after_seconds: Some(seconds),
            ..self
        }
    }

    /// 400: the body or a parameter is malformed.
    pub fn validation(message: impl Into<String>) -> Problem {
        Problem::new(ErrorCode::ValidationError, message)
    }

    /// 422: well formed, but a field does not fit.
    pub fn invalid_field(message: impl Into<String>) -> Problem {
        Problem::new(ErrorCode::InvalidField, message)
    }

    /// 404: unknown, or not for this caller to know.
    pub fn not_found() -> Problem {
        Problem::new(ErrorCode::NotFound, "no such resource")
    }

    /// 410: was there, is deleted.
    pub fn gone() -> Problem {
        Problem::new(
            ErrorCode::Gone,
            "the message was deleted, or its retention has passed",
        )
    }

    /// 429: over a published limit.
    pub fn rate_limited(message: impl Into<String>, retry_after_seconds: u32) -> Problem {
        Problem::new(ErrorCode::RateLimited, message).retry_after(retry_after_seconds)
    }

    /// 503: may be repeated.
    pub fn unavailable(message: impl Into<String>) -> Problem {
        Problem::new(ErrorCode::Unavailable, message)
    }

    /// 500: says nothing of why; that is in the log.
    pub fn internal() -> Problem {
        Problem::new(ErrorCode::Internal, "the hub failed to handle the request")
    }
}

impl From<ma2h_schema::Violation> for Problem {
    /// What a wire schema finds is a malformed body.
    fn from(violation: ma2h_schema::Violation) -> Problem {
        Problem::validation(violation.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::{CODES, ErrorCode};

    #[test]
    fn every_code_has_its_own_row() {
        for (code, name, status) in CODES {
            assert_eq!(name.parse::<ErrorCode>(), Ok(code));
            assert_eq!(code.as_str(), name);
            assert_eq!(code.http_status(), status);
        }
        assert!("nope".parse::<ErrorCode>().is_err());
        assert_eq!(
            CODES
                .iter()
                .filter(|(code, ..)| *code == ErrorCode::Internal)
                .count(),
            1
        );
    }
}
