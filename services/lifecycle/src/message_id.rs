//! Ids of messages, as callers name them.

use ma2h::error::Problem;

/// Longest id that can be one of ours.
const BYTES_MAX: usize = 128;

/// Whether a text can be an id at all. What cannot is not looked up: PostgreSQL would refuse a U+0000.
pub(crate) fn is_wellformed(id: &str) -> bool {
    !id.is_empty()
        && id.len() <= BYTES_MAX
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Refuses what cannot be the id of a message as what is not there.
pub(crate) fn check(id: &str) -> Result<(), Problem> {
    if is_wellformed(id) {
        Ok(())
    } else {
        Err(Problem::not_found())
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn what_cannot_be_an_id_is_not_found() {
        assert!(check("msg_01J9Z8QWERTY").is_ok());
        for id in ["", "msg_\0", "msg_é", "../x", &"m".repeat(129)] {
            assert!(check(id).is_err(), "{id:?}");
        }
    }
}
