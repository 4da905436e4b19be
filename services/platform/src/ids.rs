//! Ids, minted by whoever asks for a thing, so that asking again is the same operation.

use ulid::Ulid;

/// A new id such as `msg_01J9Z8…`: the prefix, then a ULID, so that ids sort by time.
pub fn mint(prefix: &str) -> String {
    format!("{prefix}_{}", Ulid::generate())
}

#[cfg(test)]
mod tests {
    use super::mint;

    #[test]
    fn ids_carry_their_prefix_and_differ() {
        let (one, other) = (mint("msg"), mint("msg"));
        assert!(one.starts_with("msg_") && one.len() == 30, "{one}");
        assert_ne!(one, other);
    }
}
