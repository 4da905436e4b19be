//! Where a Response is pushed to (§8.3), and which host that is (§9.4).

use std::str::FromStr;

use url::Url;

use crate::error::Problem;

/// How the pushed request authenticates itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AuthScheme {
    /// By the signature alone, keyed with the agent's secret.
    Hmac,
    /// `Authorization: Bearer`.
    Bearer,
    /// `X-API-Key`.
    ApiKey,
}

impl AuthScheme {
    /// As the wire has it.
    pub fn as_str(self) -> &'static str {
        match self {
            AuthScheme::Hmac => "hmac",
            AuthScheme::Bearer => "bearer",
            AuthScheme::ApiKey => "apikey",
        }
    }

    /// The member of `auth` that names the credential.
    pub(crate) fn reference_name(self) -> &'static str {
        match self {
            AuthScheme::Hmac => "secret_ref",
            AuthScheme::Bearer | AuthScheme::ApiKey => "token_ref",
        }
    }
}

impl FromStr for AuthScheme {
    type Err = Problem;

    fn from_str(text: &str) -> Result<AuthScheme, Problem> {
        match text {
            "hmac" => Ok(AuthScheme::Hmac),
            "bearer" => Ok(AuthScheme::Bearer),
            "apikey" => Ok(AuthScheme::ApiKey),
            _ => Err(Problem::validation("callback.auth.scheme: expected hmac, bearer or apikey")),
        }
    }
}

/// A push that the agent asked for. A `pull` callback is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Callback {
    /// As sent: the signature binds this text.
    pub url: String,
    /// How the request authenticates itself.
    pub scheme: AuthScheme,
    /// `secret_ref` or `token_ref`, by the scheme.
    pub credential_ref: String,
}

/// Checks what a callback URL must be whoever owns the host: absolute, `https` or `http`, with a host, without user-info
/// (a credential in the open) and without a fragment (never sent, yet signed).
pub fn check_url(text: &str) -> Result<Url, Problem> {
    let refused = |why: &str| Err(Problem::invalid_field(format!("callback.url: {why}")));
    let Ok(url) = Url::parse(text) else {
        return refused("expected an absolute url");
    };
    if !matches!(url.scheme(), "https" | "http") {
        return refused("expected an https url");
    }
    if url.host_str().is_none_or(str::is_empty) {
        return refused("expected a host");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return refused("must not carry user-info");
    }
    if url.fragment().is_some() {
        return refused("must not carry a fragment");
    }
    Ok(url)
}

/// The host text a callback URL is matched by: lower-case, with the port unless it is 443.
pub fn host_of(url: &str) -> Result<String, Problem> {
    let url = check_url(url)?;
    let host = url.host_str().unwrap_or_default();
    Ok(match url.port_or_known_default() {
        Some(443) | None => host.to_owned(),
        Some(port) => format!("{host}:{port}"),
    })
}

/// The same form of a host as an operator writes it, `agent.example` or `agent.example:8443`.
pub fn host_text(host: &str) -> Result<String, Problem> {
    let refused = || Problem::invalid_field("host: expected host or host:port");
    if host.is_empty() || host.contains(['/', '\\', '@', '?', '#']) || host.contains(char::is_whitespace) {
        return Err(refused());
    }
    host_of(&format!("https://{host}/")).map_err(|_| refused())
}
