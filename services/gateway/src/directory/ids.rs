//! The grammar of ids. A body that breaks it is told so; a path that breaks it names nothing.

use ma2h::error::Problem;

/// Most characters of an account's or a human's id.
const NAME_CHARS_MAX: usize = 63;
/// Most characters of an agent's id.
const AGENT_CHARS_MAX: usize = 256;
/// What the ids begin with under which the hub itself speaks: no agent gets one, so that none can pass for the hub.
const RESERVED: &str = "system:";

/// `[a-z0-9][a-z0-9._-]{0,62}`: accounts and humans.
pub(crate) fn is_name(id: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    id.len() <= NAME_CHARS_MAX
        && id.bytes().next().is_some_and(is_plain)
        && id.bytes().all(|byte| is_plain(byte) || b"._-".contains(&byte))
}

/// 1 to 256 characters of any script, no control characters.
pub(crate) fn is_agent(id: &str) -> bool {
    let chars = id.chars().count();
    (1..=AGENT_CHARS_MAX).contains(&chars) && !id.chars().any(char::is_control)
}

/// An account's or a human's id out of a body.
pub(crate) fn name_of_body(member: &str, id: String) -> Result<String, Problem> {
    if is_name(&id) {
        return Ok(id);
    }
    Err(Problem::invalid_field(format!(
        "{member}: expected 1 to {NAME_CHARS_MAX} of a-z, 0-9, '.', '_', '-', the first a letter or digit"
    )))
}

/// An agent's id out of a body.
pub(crate) fn agent_of_body(member: &str, id: String) -> Result<String, Problem> {
    if id.starts_with(RESERVED) {
        return Err(Problem::invalid_field(format!(
            "{member}: ids that begin with {RESERVED} are the hub's own"
        )));
    }
    // A path of a URL never has these as a part of it.
    if id == "." || id == ".." {
        return Err(Problem::invalid_field(format!(
            "{member}: expected more than dots, which no path can name"
        )));
    }
    if is_agent(&id) {
        return Ok(id);
    }
    Err(Problem::invalid_field(format!(
        "{member}: expected 1 to {AGENT_CHARS_MAX} characters, none of them a control character"
    )))
}

/// An id out of a path; one that breaks its grammar cannot exist.
pub(crate) fn of_path(id: String, is_valid: impl Fn(&str) -> bool) -> Result<String, Problem> {
    if is_valid(&id) {
        Ok(id)
    } else {
        Err(Problem::not_found())
    }
}

#[cfg(test)]
mod tests {
    use super::{agent_of_body, is_agent, is_name};

    #[test]
    fn names() {
        let longest = "a".repeat(63);
        for id in ["a", "0", "acme", "a.b_c-d", longest.as_str()] {
            assert!(is_name(id), "{id}");
        }
        let too_long = "a".repeat(64);
        for id in ["", "A", "-a", ".a", "a b", "ä", "a/b", "a\0", too_long.as_str()] {
            assert!(!is_name(id), "{id}");
        }
    }

    #[test]
    fn agents() {
        let longest = "世".repeat(256);
        for id in ["a", "deploybot/dev-team", "a#b", "агент", "a b", longest.as_str()] {
            assert!(is_agent(id), "{id}");
        }
        let too_long = "世".repeat(257);
        for id in ["", "a\nb", "a\0", "\u{7f}", "\u{85}", too_long.as_str()] {
            assert!(!is_agent(id), "{id}");
        }
        for id in [".", "..", "system:hub", ""] {
            assert!(agent_of_body("id", id.to_owned()).is_err(), "{id}");
        }
    }
}
