//! Ids, minted by whoever asks for a thing, so that asking again is the same operation.

use ma2h::error::Problem;
use ulid::Ulid;

/// A new id such as `msg_01J9Z8…`: the prefix, then a ULID, so that ids sort by time.
pub fn mint(prefix: &str) -> String {
    format!("{prefix}_{}", Ulid::generate())
}

/// The id of what an operation makes that its caller has named: `named` digests the name, `body` what it was asked with.
pub fn of_operation(prefix: &str, named: &[u8; 32], body: &[u8; 32]) -> String {
    let half = |digest: &[u8; 32]| Ulid::from_bytes(std::array::from_fn(|at| digest[at]));
    format!("{prefix}_{}{}", half(named), half(body))
}

/// Whether two ids are of operations of one name. Where they differ, so do the bodies.
pub fn is_same_operation(one: &str, other: &str) -> bool {
    operation_name(one).is_some_and(|name| operation_name(other) == Some(name))
}

/// Prefix and name of an id that an operation made.
fn operation_name(id: &str) -> Option<&str> {
    let (prefix, rest) = id.split_once('_')?;
    let is_of_operation = rest.len() == 2 * ULID_CHARS;
    id.get(..prefix.len() + 1 + ULID_CHARS)
        .filter(|_| is_of_operation)
}

const ULID_CHARS: usize = 26;
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
    use super::{is_minted, is_same_operation, mint, of_operation};

    #[test]
    fn ids_carry_their_prefix_and_differ() {
        let (one, other) = (mint("msg"), mint("msg"));
        assert!(one.starts_with("msg_") && one.len() == 30, "{one}");
        assert_ne!(one, other);
    }

    #[test]
    fn an_operation_is_known_by_its_name() {
        let id = |named: u8, body: u8| of_operation("res", &[named; 32], &[body; 32]);
        assert!(is_minted(&id(255, 255), "res"), "{}", id(255, 255));
        assert_eq!(id(1, 2), id(1, 2));
        assert_ne!(id(1, 2), id(1, 3));
        assert!(is_same_operation(&id(1, 2), &id(1, 3)));
        assert!(!is_same_operation(&id(1, 2), &id(2, 2)));
        let minted = mint("res");
        for other in [minted.as_str(), "", "res_", "é_é"] {
            assert!(!is_same_operation(other, &id(1, 2)), "{other}");
            assert!(!is_same_operation(other, other), "{other}");
        }
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
