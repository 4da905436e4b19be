//! The part of an address that names one thing.

use std::sync::Arc;

use axum::extract::{FromRequestParts, Path};
use axum::response::Response;
use http::request::Parts;
use ma2h::error::Problem;

use crate::app::App;

use super::page;

/// Decoded. What is no text names nothing.
pub(super) struct Segment(pub(super) String);

impl FromRequestParts<Arc<App>> for Segment {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Response> {
        match Path::<String>::from_request_parts(parts, app).await {
            Ok(Path(text)) => Ok(Self(text)),
            Err(_) => Err(page::problem(&Problem::not_found(), None)),
        }
    }
}
