//! The host of a callback, in the one spelling that it is matched by (§9.4).

use std::str::FromStr;

use url::Url;

use super::check_url;
use crate::error::Problem;

/// Bytes of a name in its ASCII form, without its port.
const NAME_BYTES_MAX: usize = 253;
/// Bytes of a host as it is typed, in any script.
const TYPED_BYTES_MAX: usize = 1024;

/// How it is made sure that a host is the agent's. Only one way is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verification {
    /// Whoever registers it says so.
    Operator,
}

impl Verification {
    /// As the wire has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Verification::Operator => "operator",
        }
    }
}

impl FromStr for Verification {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Verification, Problem> {
        match text {
            "operator" => Ok(Verification::Operator),
            _ => Err(Problem::invalid_field(
                "method: expected operator, the only one offered",
            )),
        }
    }
}

/// The host text a callback URL is matched by: lower-case, with the port unless it is 443.
pub fn host_of(url: &str) -> Result<String, Problem> {
    check_url(url).map(|url| matched(&url))
}

/// The same form of a host as an operator types it: `agent.example` or `agent.example:8443`, nothing around it and no
/// wildcard in it. A name in another script comes to its ASCII form, as a URL must spell it.
pub fn host_text(typed: &str) -> Result<String, Problem> {
    let refused = || Problem::invalid_field("host: expected host or host:port, without a wildcard");
    let is_foreign =
        |letter: char| letter.is_control() || letter.is_whitespace() || "/\\?#@*%".contains(letter);
    if typed.len() > TYPED_BYTES_MAX || typed.contains(is_foreign) || typed.ends_with(':') {
        return Err(refused());
    }
    let url = Url::parse(&format!("https://{typed}/")).map_err(|_| refused())?;
    if url.host_str().is_none_or(|name| name.len() > NAME_BYTES_MAX) {
        return Err(refused());
    }
    Ok(matched(&url))
}

fn matched(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port_or_known_default() {
        Some(443) | None => host.to_owned(),
        Some(port) => format!("{host}:{port}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Verification, host_of, host_text};

    #[test]
    fn a_host_has_one_text() {
        let cases = [
            ("https://agent.example/ma2h?x=1", "agent.example"),
            ("https://AGENT.example:443/", "agent.example"),
            ("HTTPS://agent.example", "agent.example"),
            ("https://agent.example:8443/x", "agent.example:8443"),
            ("https://agent.example:80", "agent.example:80"),
            ("http://agent.example/x", "agent.example:80"),
            ("http://agent.example:443/x", "agent.example"),
            ("http://127.0.0.1:9000/x", "127.0.0.1:9000"),
            ("https://[::1]:8443/x", "[::1]:8443"),
            ("https://xn--bcher-kva.example/", "xn--bcher-kva.example"),
            ("https://0x7f.1/", "127.0.0.1"),
            ("https://agent.example/?to=a@b", "agent.example"),
        ];
        for (url, host) in cases {
            assert_eq!(host_of(url).as_deref(), Ok(host), "{url}");
        }
    }

    #[test]
    fn an_operator_types_the_same_host() {
        let cases = [
            ("agent.example", "agent.example"),
            ("Agent.EXAMPLE:443", "agent.example"),
            ("agent.example:8443", "agent.example:8443"),
            ("agent.example:80", "agent.example:80"),
            ("BÜCHER.example", "xn--bcher-kva.example"),
            ("127.0.0.1:8080", "127.0.0.1:8080"),
            ("0x7f.1", "127.0.0.1"),
            ("[2001:DB8::1]:8443", "[2001:db8::1]:8443"),
        ];
        for (typed, host) in cases {
            assert_eq!(host_text(typed).as_deref(), Ok(host), "{typed}");
        }
    }

    #[test]
    fn nothing_but_a_host_is_a_host() {
        let too_long = format!("{}.example", "a".repeat(300));
        let cases = [
            "",
            ":8443",
            "agent.example:",
            "agent.example:70000",
            "agent.example:http",
            "https://agent.example",
            "agent.example/path",
            "agent.example?q",
            "agent.example#f",
            "user@agent.example",
            "*.example",
            "*",
            "agent example",
            " agent.example",
            "agent.example\n",
            "agent%2eexample",
            "agent.example\\x",
            "[::1",
            &too_long,
        ];
        for typed in cases {
            assert!(host_text(typed).is_err(), "{typed:?}");
        }
    }

    #[test]
    fn an_operator_is_the_only_approval() {
        assert_eq!("operator".parse(), Ok(Verification::Operator));
        for method in ["dns-txt", "well-known", ""] {
            assert!(method.parse::<Verification>().is_err(), "{method}");
        }
    }
}
