//! Where a Response is pushed to (§8.3), and which host that is (§9.4).

mod host;

use std::str::FromStr;

use url::Url;

pub use host::{Verification, host_of, host_text};

use host::check_host;

use crate::error::Problem;

/// Bytes of a webhook's URL.
const WEBHOOK_URL_BYTES_MAX: usize = 2048;
const NOT_HTTPS: &str = "expected an https url";

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
    pub fn reference_name(self) -> &'static str {
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

/// A push that the agent asked for, or where a webhook is. A `pull` callback is none.
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
    read_url(text).map_err(|why| Problem::invalid_field(format!("callback.url: {why}")))
}

/// Checks the `url` of a webhook, which must be the same. Only a development hub sends in the open (§9.4).
pub fn check_webhook_url(text: &str, http_allowed: bool) -> Result<(), Problem> {
    let refused = |why: &str| Problem::invalid_field(format!("url: {why}"));
    if text.len() > WEBHOOK_URL_BYTES_MAX {
        return Err(refused(&format!(
            "expected at most {WEBHOOK_URL_BYTES_MAX} bytes"
        )));
    }
    let url = read_url(text).map_err(|why| refused(&why))?;
    if url.scheme() == "https" || http_allowed {
        return Ok(());
    }
    Err(refused(NOT_HTTPS))
}

/// The URL, or what is wrong with it.
fn read_url(text: &str) -> Result<Url, String> {
    let refused = |why: &str| Err(why.to_owned());
    let Ok(url) = Url::parse(text) else {
        return refused("expected an absolute url");
    };
    if !matches!(url.scheme(), "https" | "http") {
        return refused(NOT_HTTPS);
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
    match check_host(authority, &url) {
        Ok(()) => Ok(url),
        Err(why) => refused(&format!("host {why}")),
    }
}

/// Refuses a URL that would send an answer in the open. A development hub does without (§9.4).
pub fn check_https(text: &str) -> Result<(), Problem> {
    if check_url(text)?.scheme() == "https" {
        return Ok(());
    }
    Err(Problem::invalid_field(format!("callback.url: {NOT_HTTPS}")))
}

#[cfg(test)]
mod tests {
    use super::{WEBHOOK_URL_BYTES_MAX, check_https, check_url, check_webhook_url};
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
            ("https://./", "host must"),
            ("https://../", "host must"),
            ("https://agent..example/", "labels"),
            ("https://agent.example./", "end with a dot"),
            ("https://agent.example.:8443/", "end with a dot"),
            ("https://127.0.0.1./", "end with a dot"),
            ("https://agent.example:/", "colon"),
            ("https://agent.example:0/", "port 0"),
            ("https://agent%2eexample/", "percent-encoded"),
            ("https://%31%32%37.0.0.1/", "percent-encoded"),
            ("https://2130706433/", "four decimal numbers"),
            ("https://0x7f.1/", "four decimal numbers"),
            ("https://0177.0.0.1/", "four decimal numbers"),
            ("https://127.1/", "four decimal numbers"),
            ("https://[fe80::1%25eth0]/", "absolute"),
            ("https://*.example/", "letters"),
        ];
        for (url, why) in cases {
            let problem = check_url(url).unwrap_err();
            assert_eq!(problem.code, ErrorCode::InvalidField, "{url:?}");
            assert!(problem.message.starts_with("callback.url: "), "{url:?}");
            assert!(problem.message.contains(why), "{url:?}: {}", problem.message);
        }
    }

    #[test]
    fn what_is_no_webhook_url() {
        let refused = |url: &str, http_allowed| {
            let problem = check_webhook_url(url, http_allowed).unwrap_err();
            assert_eq!(problem.code, ErrorCode::InvalidField, "{url:?}");
            problem.message
        };
        assert!(check_webhook_url("https://agent.example/inbox", false).is_ok());
        assert!(check_webhook_url("http://agent.example/inbox", true).is_ok());
        assert_eq!(
            refused("http://agent.example/inbox", false),
            "url: expected an https url"
        );
        assert!(refused("https://user@agent.example/", true).starts_with("url: must not carry"));
        let long = format!("https://agent.example/{}", "x".repeat(WEBHOOK_URL_BYTES_MAX));
        assert!(refused(&long, true).contains("at most"));
    }

    #[test]
    fn an_answer_is_not_sent_in_the_open() {
        assert!(check_https("https://agent.example/").is_ok());
        assert!(check_url("http://agent.example/").is_ok());
        let problem = check_https("http://agent.example/").unwrap_err();
        assert_eq!(problem.message, "callback.url: expected an https url");
    }
}
