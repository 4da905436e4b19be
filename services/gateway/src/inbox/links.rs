//! Links that an agent wrote: which are followed at all, and how a person sees where they lead.

use std::fmt::Write as _;

/// The page behind the link learns neither of the inbox nor gets a hold of its window.
pub(super) const REL: &str = "noopener noreferrer nofollow";

/// Where an address leads, in words for a person; `None` where it must not be a link: everything but `http`, `https` and
/// `mailto` is text (`javascript:`, `data:`, `vbscript:`, relative addresses, which would lead into the hub).
pub(super) fn host(address: &str) -> Option<String> {
    let (scheme, rest) = address.split_once(':')?;
    if address.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return None;
    }
    if scheme.eq_ignore_ascii_case("mailto") {
        let to = rest.split('?').next().unwrap_or_default();
        return (!to.is_empty()).then(|| to.to_owned());
    }
    if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
        return None;
    }
    // Browsers read `\` as `/`, so it ends the host as well.
    let authority = rest.strip_prefix("//")?.split(['/', '\\', '?', '#']).next()?;
    // What stands before an `@` is a name to log in with, and a favourite place for a false host.
    let host = authority.rsplit('@').next()?;
    (!host.is_empty()).then(|| host.to_lowercase())
}

/// Percent-encodes everything that means something in the query of an address.
pub(super) fn encode(text: &str) -> String {
    escape(text, b"-._~/")
}

/// The page of an agent. Browsers take `.` and `..` out of a path, also encoded: such an agent is named in the query.
pub(super) fn to_agent(id: &str) -> String {
    match id {
        "." | ".." => format!("/inbox/agents?id={id}"),
        _ => format!("/inbox/agents/{}", escape(id, b"-._~")),
    }
}

/// Percent-encodes all but letters, digits and what is kept.
fn escape(text: &str, kept: &[u8]) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || kept.contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::{host, to_agent};

    #[test]
    fn an_agent_has_an_address_whatever_its_id() {
        let cases = [
            ("deploybot/dev", "/inbox/agents/deploybot%2Fdev"),
            ("a#b?c&d", "/inbox/agents/a%23b%3Fc%26d"),
            ("🌳", "/inbox/agents/%F0%9F%8C%B3"),
            ("%2F \"<", "/inbox/agents/%252F%20%22%3C"),
            ("..", "/inbox/agents?id=.."),
            ("../x", "/inbox/agents/..%2Fx"),
        ];
        for (id, address) in cases {
            assert_eq!(to_agent(id), address, "{id}");
        }
    }

    #[test]
    fn names_where_a_link_leads() {
        let cases = [
            ("https://Example.com/a?b#c", Some("example.com")),
            ("http://example.com:8080", Some("example.com:8080")),
            ("HTTPS://example.com", Some("example.com")),
            ("https://bank.example@evil.example/login", Some("evil.example")),
            ("https://evil.example\\@bank.example", Some("evil.example")),
            ("mailto:a@b.example?subject=x", Some("a@b.example")),
            ("mailto:", None),
            ("javascript:alert(1)", None),
            ("JavaScript:alert(1)", None),
            ("java\nscript:alert(1)", None),
            ("data:text/html,<script>", None),
            ("vbscript:x", None),
            ("file:///etc/passwd", None),
            ("//evil.example", None),
            ("/inbox/sign-out", None),
            ("https:evil.example", None),
            ("https:///x", None),
            ("https://a b", None),
            ("", None),
        ];
        for (address, expected) in cases {
            assert_eq!(host(address).as_deref(), expected, "{address}");
        }
    }
}
