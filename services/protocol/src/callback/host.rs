//! The host of a callback, in the one spelling that it is matched by (§9.4).

use std::str::FromStr;

use url::{Host, Url};

use super::check_url;
use crate::error::Problem;

/// Bytes of a name in its ASCII form, without its port.
const NAME_BYTES_MAX: usize = 253;
/// Bytes of a label, the part of a name between two dots.
const LABEL_BYTES_MAX: usize = 63;
/// Bytes of a host as it is typed, in any script.
const TYPED_BYTES_MAX: usize = 1024;

/// How it is made sure that a host is the agent's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verification {
    /// A challenge in a TXT record below its name.
    DnsTxt,
    /// A challenge that it serves under a well-known path.
    WellKnown,
    /// Whoever registers it says so.
    Operator,
}

impl Verification {
    /// As the wire has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Verification::DnsTxt => "dns-txt",
            Verification::WellKnown => "well-known",
            Verification::Operator => "operator",
        }
    }
}

impl FromStr for Verification {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Verification, Problem> {
        match text {
            "dns-txt" => Ok(Verification::DnsTxt),
            "well-known" => Ok(Verification::WellKnown),
            "operator" => Ok(Verification::Operator),
            _ => Err(Problem::invalid_field(
                "method: expected dns-txt, well-known or operator",
            )),
        }
    }
}

/// The host text a callback URL is matched by: lower-case, with the port unless it is 443.
pub fn host_of(url: &str) -> Result<String, Problem> {
    check_url(url).map(|url| matched(&url))
}

/// The same form of a host as a person types it: `agent.example` or `agent.example:8443`, nothing around it and no
/// wildcard in it. A name in another script comes to its ASCII form, as a URL must spell it.
pub fn host_text(typed: &str) -> Result<String, Problem> {
    let expected = "expected host or host:port, without a wildcard";
    let refused = |why: &str| Problem::invalid_field(format!("host: {why}"));
    let is_foreign =
        |letter: char| letter.is_control() || letter.is_whitespace() || "/\\?#@*".contains(letter);
    if typed.len() > TYPED_BYTES_MAX || typed.contains(is_foreign) {
        return Err(refused(expected));
    }
    let url = Url::parse(&format!("https://{typed}/")).map_err(|_| refused(expected))?;
    check_host(typed, &url).map_err(refused)?;
    Ok(matched(&url))
}

/// Refuses an authority that could be written otherwise, or that no host can have: the parser of URLs repairs much, and
/// what was repaired is not what a person read. `url` is what the parser made of it.
pub(super) fn check_host(authority: &str, url: &Url) -> Result<(), &'static str> {
    let (name, port) = split_port(authority);
    if name.contains('%') {
        return Err("must not be percent-encoded");
    }
    // The last three are dots as well, to the parser.
    if name.ends_with(['.', '\u{3002}', '\u{ff0e}', '\u{ff61}']) {
        return Err("must not end with a dot");
    }
    if port == Some("") {
        return Err("must not end with a colon");
    }
    if url.port() == Some(0) {
        return Err("must not have port 0");
    }
    match url.host() {
        Some(Host::Domain(name)) => check_name(name),
        Some(Host::Ipv4(address)) if address.to_string() != name => {
            Err("must spell an address as four decimal numbers")
        }
        Some(Host::Ipv4(_) | Host::Ipv6(_)) => Ok(()),
        None => Err("expected"),
    }
}

fn split_port(authority: &str) -> (&str, Option<&str>) {
    // The colons of an IPv6 address stand in brackets.
    let port_at = authority
        .rfind(':')
        .filter(|colon| authority.rfind(']').is_none_or(|bracket| bracket < *colon));
    match port_at {
        Some(colon) => (&authority[..colon], Some(&authority[colon + 1..])),
        None => (authority, None),
    }
}

/// A name in its ASCII form.
fn check_name(name: &str) -> Result<(), &'static str> {
    let of_labels = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    if !name.chars().all(of_labels) {
        return Err("must be made of letters, digits, hyphens and dots");
    }
    let is_label = |label: &str| {
        (1..=LABEL_BYTES_MAX).contains(&label.len()) && !label.starts_with('-') && !label.ends_with('-')
    };
    if name.len() > NAME_BYTES_MAX || !name.split('.').all(is_label) {
        return Err("must have labels of 1 to 63 letters, 253 in all, none with a hyphen at its ends");
    }
    Ok(())
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
            ("https://[2001:DB8:0:0::1]/x", "[2001:db8::1]"),
            ("https://xn--bcher-kva.example/", "xn--bcher-kva.example"),
            ("https://agent.example/?to=a@b", "agent.example"),
            ("https://my_agent-1.example/", "my_agent-1.example"),
        ];
        for (url, host) in cases {
            assert_eq!(host_of(url).as_deref(), Ok(host), "{url}");
        }
    }

    #[test]
    fn a_person_types_the_same_host() {
        let longest = format!("{}.example", "a".repeat(63));
        let cases = [
            ("agent.example", "agent.example"),
            ("Agent.EXAMPLE:443", "agent.example"),
            ("agent.example:8443", "agent.example:8443"),
            ("agent.example:80", "agent.example:80"),
            ("agent.example:65535", "agent.example:65535"),
            ("BÜCHER.example", "xn--bcher-kva.example"),
            ("localhost:8080", "localhost:8080"),
            ("127.0.0.1:8080", "127.0.0.1:8080"),
            ("[2001:DB8::1]:8443", "[2001:db8::1]:8443"),
            (&longest, &longest),
        ];
        for (typed, host) in cases {
            assert_eq!(host_text(typed).as_deref(), Ok(host), "{typed}");
        }
    }

    #[test]
    fn nothing_but_a_host_is_a_host() {
        let label_too_long = format!("{}.example", "a".repeat(64));
        let name_too_long = format!("{}example", "abcdefg.".repeat(31));
        let cases = [
            "",
            ".",
            "..",
            ".example",
            "agent..example",
            "agent.example.",
            "agent.example.:8443",
            "agent.example。",
            ":8443",
            ":",
            "agent.example:",
            "[::1]:",
            "agent.example:0",
            "agent.example:70000",
            "agent.example:-1",
            "agent.example:http",
            "https://agent.example",
            "agent.example/path",
            "agent.example?q",
            "agent.example#f",
            "user@agent.example",
            "user:pw@agent.example",
            "*.example",
            "*",
            "agent example",
            " agent.example",
            "agent.example\n",
            "agent%2eexample",
            "agent.example\\x",
            "-agent.example",
            "agent-.example",
            "agent!.example",
            "xn--.example",
            "[::1",
            "::1",
            "[::1%25eth0]",
            "0x7f.1",
            "0177.0.0.1",
            "2130706433",
            "127.1",
            "127.0.0.1.",
            "１２７.0.0.1",
            "256.0.0.1",
            "1.2.3.4.5",
            &label_too_long,
            &name_too_long,
        ];
        for typed in cases {
            let problem = host_text(typed).expect_err(typed);
            assert!(problem.message.starts_with("host: "), "{typed:?}: {problem}");
        }
    }

    #[test]
    fn a_method_is_one_of_three() {
        for method in [
            Verification::DnsTxt,
            Verification::WellKnown,
            Verification::Operator,
        ] {
            assert_eq!(method.as_str().parse(), Ok(method));
        }
        for method in ["DNS-TXT", "dns", ""] {
            assert!(method.parse::<Verification>().is_err(), "{method}");
        }
    }
}
