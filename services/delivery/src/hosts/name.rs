//! A host's one spelling: lower case, in its ASCII form, with a port only where it is not 443.

use ma2h::callback::host_text;
use ma2h::error::Problem;
use reqwest::Url;

/// Length of a name, without its port.
const NAME_BYTES_MAX: usize = 253;

/// A host in its normal form, the one that the host of a URL is compared with.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct HostName(String);

impl HostName {
    /// The normal form of what was typed: `host` or `host:port`, nothing around it and no wildcard in it. A name in
    /// another script comes to its ASCII form, as a URL must spell it.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let refused = || Problem::invalid_field("host: expected host or host:port, without a wildcard");
        let foreign =
            |letter: char| letter.is_control() || letter.is_whitespace() || "/\\?#@*%".contains(letter);
        if text.contains(foreign) || text.ends_with(':') {
            return Err(refused());
        }
        let url = Url::parse(&format!("https://{text}/")).map_err(|_| refused())?;
        let host = url
            .host_str()
            .filter(|host| host.len() <= NAME_BYTES_MAX)
            .ok_or_else(refused)?;
        Ok(Self(host_text(&format!(
            "{host}:{}",
            url.port_or_known_default().unwrap_or(443)
        ))?))
    }

    /// As it is kept.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, normal: Option<&str>) {
        let parsed = HostName::parse(text);
        assert_eq!(
            parsed.as_ref().ok().map(HostName::as_str),
            normal,
            "{text:?}: {parsed:?}"
        );
    }

    #[test]
    fn one_spelling_for_each_host() {
        check("agent.example", Some("agent.example"));
        check("Agent.EXAMPLE:443", Some("agent.example"));
        check("agent.example:8443", Some("agent.example:8443"));
        check("agent.example:80", Some("agent.example:80"));
        check("BÜCHER.example", Some("xn--bcher-kva.example"));
        check("127.0.0.1:8080", Some("127.0.0.1:8080"));
        check("0x7f.1", Some("127.0.0.1"));
        check("[2001:DB8::1]:8443", Some("[2001:db8::1]:8443"));
    }

    #[test]
    fn nothing_but_a_host_is_a_host() {
        for text in [
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
        ] {
            check(text, None);
        }
        check(&format!("{}.example", "a".repeat(300)), None);
    }
}
