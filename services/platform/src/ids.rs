//! Ids, minted by whoever asks for a thing, so that asking again is the same operation.

use ma2h::error::Problem;
use ulid::Ulid;

/// A new id such as `msg_01J9Z8…`: the prefix, then a ULID, so that ids sort by time.
pub fn mint(prefix: &str) -> String {
    format!("{prefix}_{}", Ulid::generate())
}

/// Longest id that can be one of ours.
const BYTES_MAX: usize = 64;

/// Whether a text can be an id that was minted with this prefix. What cannot is not looked up.
pub fn is_minted(id: &str, prefix: &str) -> bool {
    let rest = id.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('_'));
    id.len() <= BYTES_MAX
        && rest.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// Refuses what a tier cannot keep as an id. Whether there is such an account or agent, the gateway knows.
pub fn check(field: &str, id: &str) -> Result<(), Problem> {
    if id.is_empty() || id.contains(char::is_control) {
        return Err(Problem::invalid_field(format!("{field}: expected an id")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{is_minted, mint};

    #[test]
    fn ids_carry_their_prefix_and_differ() {
        let (one, other) = (mint("msg"), mint("msg"));
        assert!(one.starts_with("msg_") && one.len() == 30, "{one}");
        assert_ne!(one, other);
    }

    #[test]
    fn what_was_minted_is_told_from_what_cannot_be() {
        assert!(is_minted(&mint("msg"), "msg"));
        let too_long = format!("msg_{}", "0".repeat(61));
        for id in [
            "msg_", "msg", "tok_01", "msg_0\0", "msg_a/b", "msg_é", "../x", "", &too_long,
        ] {
            assert!(!is_minted(id, "msg"), "{id:?}");
        }
    }
}
