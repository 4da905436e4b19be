//! Who sits at the browser: a cookie session, opened with a human's token.
//!
//! A form counts only if the browser says that it came from the inbox itself and if it carries the token of this very
//! session. Either check would do where browsers behave.

mod cookie;
mod origin;
mod sign_in;

use std::sync::Arc;

use axum::Form;
use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::response::{IntoResponse, Redirect, Response};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use http::request::Parts;
use http::{HeaderMap, Method};
use ma2h::error::{ErrorCode, Problem};
use maud::{Markup, html};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::app::App;
use crate::auth::{self, Authenticated};
use crate::edge::body;
use crate::edge::call::Call;
use crate::principal::{Human, Principal, Role, not_authorized};

use super::fields::Fields;
use super::page;

pub(super) use sign_in::{form, sign_in, sign_out};

/// The largest form: an answer of several long texts, and room for percent-encoding.
const FORM_BYTES_MAX: usize = 1024 * 1024;

/// The name of the hidden field that carries the session's token.
const CSRF_FIELD: &str = "csrf";

/// A signed-in person.
pub(super) struct Session {
    /// Who.
    pub(super) human: Human,
    csrf: String,
}

impl Session {
    fn new(human: Human, cookie: &str) -> Self {
        Self {
            human,
            csrf: csrf_token(cookie),
        }
    }

    /// As the other parts of the gateway take a caller.
    pub(super) fn principal(&self) -> Principal {
        Principal::Human(self.human.clone())
    }

    /// What every form of this session carries.
    pub(super) fn csrf_field(&self) -> Markup {
        html! { input type="hidden" name=(CSRF_FIELD) value=(self.csrf); }
    }

    fn check_csrf(&self, fields: &Fields) -> Result<(), Problem> {
        let posted = fields.get(CSRF_FIELD).unwrap_or_default();
        if bool::from(posted.as_bytes().ct_eq(self.csrf.as_bytes())) {
            return Ok(());
        }
        Err(not_authorized(
            "this form belongs to another session; load the page again and repeat",
        ))
    }
}

/// Derived from the secret in the cookie, so that nothing more is stored, and of no use for finding it.
fn csrf_token(cookie: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(b"ma2h inbox form\0");
    hash.update(cookie.as_bytes());
    BASE64_URL_SAFE_NO_PAD.encode(hash.finalize())
}

/// The person whose browser sends these cookies; `None` where nobody is signed in.
pub(crate) async fn caller_from_cookies(
    app: &App,
    headers: &HeaderMap,
) -> Result<Option<Authenticated>, Problem> {
    let Some(cookie) = cookie::read(headers) else {
        return Ok(None);
    };
    match auth::authenticate_session(app, cookie).await {
        Ok(caller) => Ok(Some(caller)),
        Err(problem) if problem.code == ErrorCode::Unauthenticated => Ok(None),
        Err(problem) => Err(problem),
    }
}

async fn find(app: &App, headers: &HeaderMap) -> Result<Option<Session>, Problem> {
    let Some(caller) = caller_from_cookies(app, headers).await? else {
        return Ok(None);
    };
    let human = caller.principal.human(Role::Viewer)?.clone();
    Ok(Some(Session::new(
        human,
        cookie::read(headers).unwrap_or_default(),
    )))
}

/// A page for a person: whoever is not signed in is asked to, and comes back afterwards.
impl FromRequestParts<Arc<App>> for Session {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Response> {
        match find(app, &parts.headers).await {
            Ok(Some(session)) => {
                Call::note(parts, &session.principal());
                Ok(session)
            }
            Ok(None) => Err(sign_in_first(parts)),
            Err(problem) => Err(page::problem(&problem, None)),
        }
    }
}

fn sign_in_first(parts: &Parts) -> Response {
    let asked = parts
        .uri
        .path_and_query()
        .map_or("/inbox", http::uri::PathAndQuery::as_str);
    // A form that was posted is gone; its page is not.
    let next = if parts.method == Method::GET {
        asked
    } else {
        parts.uri.path()
    };
    Redirect::to(&sign_in::address(next)).into_response()
}

/// A form that a signed-in person sent from a page of this session.
pub(super) struct Posted {
    /// Who.
    pub(super) session: Session,
    /// What.
    pub(super) fields: Fields,
}

impl FromRequest<Arc<App>> for Posted {
    type Rejection = Response;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Response> {
        let (mut parts, body) = request.into_parts();
        origin::check(&parts).map_err(|problem| page::problem(&problem, None))?;
        let session = Session::from_request_parts(&mut parts, app).await?;
        match read(app, Request::from_parts(parts, body), &session).await {
            Ok(fields) => Ok(Self { session, fields }),
            Err(problem) => Err(page::problem(&problem, Some(&session))),
        }
    }
}

async fn read(app: &App, request: Request, session: &Session) -> Result<Fields, Problem> {
    let fields = posted_fields(app, request, FORM_BYTES_MAX).await?;
    session.check_csrf(&fields)?;
    Ok(fields)
}

/// Reads a form of at most so many bytes, within the bounds and the time that hold for every body.
async fn posted_fields(app: &App, request: Request, bytes_max: usize) -> Result<Fields, Problem> {
    let (parts, body) = request.into_parts();
    let mut head = Request::new(Body::empty());
    (*head.method_mut(), *head.headers_mut()) = (parts.method.clone(), parts.headers.clone());
    let (bytes, _room) = body::read(app, Request::from_parts(parts, body), bytes_max).await?;
    *head.body_mut() = Body::from(bytes);
    match Form::<Vec<(String, String)>>::from_request(head, &()).await {
        Ok(Form(posted)) => Ok(Fields::new(posted)),
        Err(rejection) => Err(Problem::new(
            match rejection.status() {
                http::StatusCode::PAYLOAD_TOO_LARGE => ErrorCode::PayloadTooLarge,
                http::StatusCode::UNSUPPORTED_MEDIA_TYPE => ErrorCode::UnsupportedMediaType,
                _ => ErrorCode::ValidationError,
            },
            "the form could not be read",
        )),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use crate::principal::{Credential, Human, Role};

    use super::{CSRF_FIELD, Fields, Session, csrf_token};

    /// A session of `human:alice`.
    pub(in super::super) fn session(cookie: &str, role: Role) -> Session {
        let human = Human {
            account: "acme".to_owned(),
            id: "alice".to_owned(),
            role,
            credential: Credential::Session([0; 32]),
        };
        Session::new(human, cookie)
    }

    #[test]
    fn a_form_counts_only_in_its_session() {
        let posted = |token: &str| Fields::from([(CSRF_FIELD, token)]);
        let session = session("one", Role::Operator);
        assert!(session.check_csrf(&posted(&csrf_token("one"))).is_ok());
        assert!(session.check_csrf(&posted(&csrf_token("two"))).is_err());
        assert!(session.check_csrf(&posted("")).is_err());
        assert!(session.check_csrf(&Fields::default()).is_err());
    }

    #[test]
    fn the_token_is_not_the_secret() {
        assert!(!csrf_token("secret").contains("secret"));
        assert_eq!(csrf_token("secret").len(), 43);
    }
}
