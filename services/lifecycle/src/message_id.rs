//! Ids of messages, as callers name them.

use hub_platform::ids;
use ma2h::error::Problem;

/// Whether a text can be an id at all. What cannot is not looked up: PostgreSQL would refuse a U+0000.
pub(crate) fn is_wellformed(id: &str) -> bool {
    ids::is_minted(id, "msg")
}

/// Refuses what cannot be the id of a message as what is not there.
pub(crate) fn check(id: &str) -> Result<(), Problem> {
    if is_wellformed(id) {
        Ok(())
    } else {
        Err(Problem::not_found())
    }
}
