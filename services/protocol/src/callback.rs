//! Where a Response is pushed to (§8.3), and which host that is (§9.4).

mod host;

use std::str::FromStr;

use url::Url;

pub use host::{Verification, host_of, host_text};

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
            _ => Err(Problem::validation(
                "callback.auth.scheme: expected hmac, bearer or apikey",
            )),
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
/// (a credential in the open) and without a fragment (never sent, yet signed). A URL parser repairs what it can; what
/// needs repair is refused, since the text is what is signed.
pub fn check_url(text: &str) -> Result<Url, Problem> {
    let refused = |why: &str| Err(Problem::invalid_field(format!("callback.url: {why}")));
    let Ok(url) = Url::parse(text) else {
        return refused("expected an absolute url");
    };
    if !matches!(url.scheme(), "https" | "http") {
        return refused("expected an https url");
    }
    let authority = text
        .get(url.scheme().len()..)
        .and_then(|rest| rest.strip_prefix("://"));
    let Some(authority) = authority.and_then(|rest| rest.split(['/', '?', '#']).next()) else {
        return refused("expected // and a host after the scheme");
    };
    if authority.contains('@') {
        return refused("must not carry user-info");
    }
    if url.fragment().is_some() {
        return refused("must not carry a fragment");
    }
    if text.contains(|letter: char| !letter.is_ascii_graphic() || letter == '\\') {
        return refused("must be plain ascii, percent-encoded where it has to be");
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::check_url;
    use crate::error::ErrorCode;

    #[test]
    fn what_is_no_callback_url() {
        let cases = [
            ("", "absolute"),
            ("/ma2h", "absolute"),
            ("agent.example/ma2h", "absolute"),
            ("https://", "absolute"),
            ("https:///x/y#z", "fragment"),
            ("https:agent.example", "// and a host"),
            ("https:/agent.example", "// and a host"),
            ("https://agent.example:99999/", "absolute"),
            ("ftp://agent.example/", "https url"),
            ("file:///etc/passwd", "https url"),
            ("javascript:alert(1)", "https url"),
            ("https://user:pw@agent.example/", "user-info"),
            ("https://user@agent.example/", "user-info"),
            ("https://@agent.example/", "user-info"),
            ("https://agent.example/#part", "fragment"),
            ("https://agent.example/#", "fragment"),
            ("https://agent.example/a b", "ascii"),
            ("https://agent.example/a\nb", "ascii"),
            ("https://agent.example\\@evil.example/", "user-info"),
            ("https://agent.example\\evil", "ascii"),
            ("https://agent.example/\u{e9}", "ascii"),
            (" https://agent.example/", "// and a host"),
        ];
        for (url, why) in cases {
            let problem = check_url(url).unwrap_err();
            assert_eq!(problem.code, ErrorCode::InvalidField, "{url:?}");
            assert!(problem.message.starts_with("callback.url: "), "{url:?}");
            assert!(problem.message.contains(why), "{url:?}: {}", problem.message);
        }
    }
}
