//! The credential of a request.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, header};
use ma2h::error::Problem;

use super::{Authenticated, READ_WITHIN_FOR_HELD, authenticate_token, unauthenticated};
use crate::app::App;
use crate::edge::call::Call;
use crate::edge::errors::Refusal;
use crate::principal::Principal;

static API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// Who calls, from `Authorization: Bearer` or `X-API-Key`.
pub(crate) struct Caller(pub(crate) Principal);

impl FromRequestParts<Arc<App>> for Caller {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Refusal> {
        let caller = authenticate(parts, app, Duration::MAX).await?;
        Ok(Self(caller.principal))
    }
}

/// The same, for a call that may be held.
impl FromRequestParts<Arc<App>> for Authenticated {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Refusal> {
        authenticate(parts, app, READ_WITHIN_FOR_HELD).await
    }
}

async fn authenticate(parts: &mut Parts, app: &App, within: Duration) -> Result<Authenticated, Refusal> {
    let caller = authenticate_token(app, token(&parts.headers)?, within).await?;
    Call::note(parts, &caller.principal);
    Ok(caller)
}

/// Whether a request says anything of a token.
pub(crate) fn has_token(headers: &HeaderMap) -> bool {
    headers.contains_key(header::AUTHORIZATION) || headers.contains_key(&API_KEY)
}

/// The one token of a request. Two that differ would leave open whose call it is.
fn token(headers: &HeaderMap) -> Result<&str, Problem> {
    let bearer = headers
        .get_all(header::AUTHORIZATION)
        .iter()
        .map(|value| value.to_str().ok().and_then(after_bearer));
    let api_key = headers
        .get_all(&API_KEY)
        .iter()
        .map(|value| value.to_str().ok().map(str::trim));
    let mut tokens = bearer.chain(api_key);
    let first = tokens
        .next()
        .flatten()
        .filter(|token| !token.is_empty())
        .ok_or_else(unauthenticated)?;
    if tokens.all(|token| token == Some(first)) {
        Ok(first)
    } else {
        Err(unauthenticated())
    }
}

fn after_bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

#[cfg(test)]
mod tests {
    use super::{HeaderMap, HeaderName, token};

    #[test]
    fn one_credential_in_either_header() {
        type Headers = &'static [(&'static str, &'static str)];
        let cases: [(Headers, Option<&str>); 8] = [
            (&[("authorization", "Bearer abc")], Some("abc")),
            (&[("authorization", "bearer  abc ")], Some("abc")),
            (&[("x-api-key", "abc")], Some("abc")),
            (
                &[("authorization", "Bearer abc"), ("x-api-key", "abc")],
                Some("abc"),
            ),
            (&[("authorization", "Bearer abc"), ("x-api-key", "def")], None),
            (&[("authorization", "Basic abc")], None),
            (&[("authorization", "Bearer ")], None),
            (&[], None),
        ];
        for (given, expected) in cases {
            let mut headers = HeaderMap::new();
            for (name, value) in given {
                headers.append(name.parse::<HeaderName>().unwrap(), value.parse().unwrap());
            }
            assert_eq!(token(&headers).ok(), expected, "{given:?}");
        }
    }
}
