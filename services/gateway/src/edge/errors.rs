//! Errors as §8.5 shapes them.

use std::any::Any;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use ma2h::error::{ErrorCode, Problem};
use serde_json::json;

use super::answer;

/// When a client that met `unavailable` may come back, unless the refusal knows better.
const RETRY_AFTER_SECONDS: u32 = 1;

/// What a handler answers instead of its result.
#[derive(Clone, Debug)]
pub(crate) struct Refusal(Problem);

impl Refusal {
    /// 503, with the time after which it makes sense to ask again.
    pub(crate) fn busy(message: &str, retry_after_seconds: u32) -> Self {
        Self(Problem::unavailable(message).retry_after(retry_after_seconds))
    }

    /// Whether the same call may fare better a moment later.
    pub(crate) fn is_unavailable(&self) -> bool {
        self.0.code == ErrorCode::Unavailable
    }
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        match (problem.code, problem.retry_after_seconds) {
            (ErrorCode::Unavailable | ErrorCode::RateLimited, None) => {
                Self(problem.retry_after(RETRY_AFTER_SECONDS))
            }
            _ => Self(problem),
        }
    }
}

/// For pages, which tell a person of a problem in their own way.
impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        refusal.0
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let Problem {
            code,
            message,
            retry_after_seconds,
        } = self.0;
        let status = StatusCode::from_u16(code.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = json!({ "error": { "code": code.as_str(), "message": message } });
        let mut response = answer::json(status, &body);
        let headers = response.headers_mut();
        if let Some(seconds) = retry_after_seconds {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// No route has this path.
pub(super) async fn unknown_route() -> Refusal {
    Problem::new(ErrorCode::NotFound, "no such resource").into()
}

/// A route has this path, but not this method; axum adds `Allow`.
pub(super) async fn wrong_method() -> Refusal {
    Problem::new(
        ErrorCode::MethodNotAllowed,
        "this resource does not take this method; see the Allow header",
    )
    .into()
}

/// A handler panicked. The payload may hold content, so that nothing of it is told or logged.
pub(super) fn panicked(_payload: Box<dyn Any + Send + 'static>) -> Response {
    tracing::error!("a request handler panicked");
    Refusal::from(Problem::internal()).into_response()
}
