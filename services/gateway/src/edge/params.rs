//! What stands in a path and behind its question mark.

use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{FromRequestParts, Path, Query, RawPathParams};
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

/// The last id in a path, whatever stands before it.
pub(crate) struct LastId(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for LastId {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let params = RawPathParams::from_request_parts(parts, state)
            .await
            .map_err(|_| Problem::not_found())?;
        let last = params.iter().last();
        let (_, id) = last.ok_or_else(Problem::internal)?;
        Ok(Self(id.to_owned()))
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
