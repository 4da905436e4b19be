//! What stands in a path and behind its question mark.

use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use ma2h::error::Problem;
use serde::de::DeserializeOwned;

use super::errors::Refusal;

/// The ids in a path, percent-decoded. What does not decode names nothing.
pub(crate) struct Ids<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Ids<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        match Path::from_request_parts(parts, state).await {
            Ok(Path(ids)) => Ok(Self(ids)),
            Err(PathRejection::MissingPathParams(_)) => Err(Problem::internal().into()),
            Err(_) => Err(Problem::not_found().into()),
        }
    }
}

/// The parameters of a query; those not asked for are ignored.
pub(crate) struct Params<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Params<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        match Query::from_request_parts(parts, state).await {
            Ok(Query(params)) => Ok(Self(params)),
            Err(QueryRejection::FailedToDeserializeQueryString(error)) => {
                Err(Problem::validation(format!("query: {error}")).into())
            }
            Err(_) => Err(Problem::validation("query: malformed").into()),
        }
    }
}
