//! Pushes that are owed (design rule 5), of Responses, directives and acknowledgements alike: claimed by workers, settled by what came of them, published again when due, held
//! while nothing is sent to their host, and put back by people.

mod claim;
mod decide;
mod payload;
mod redeliver;
mod relay;
mod release;
mod settle;

use hub_platform::ids;

use crate::statement::Statement;
use crate::{acks, directives, message_id};

pub(crate) use decide::Policy;

pub(crate) const CLAIM: Statement = Statement {
    name: "claim pushes",
    sql: include_str!("claim.sql"),
};
pub(crate) const CLAIMED: Statement = Statement {
    name: "read claimed pushes",
    sql: include_str!("claimed.sql"),
};
pub(crate) const SETTLE: Statement = Statement {
    name: "settle pushes",
    sql: include_str!("settle.sql"),
};
pub(crate) const RELAY: Statement = Statement {
    name: "relay pushes",
    sql: include_str!("relay.sql"),
};
pub(crate) const RELEASE: Statement = Statement {
    name: "release pushes",
    sql: include_str!("release.sql"),
};
pub(crate) const RELEASE_MOVED: Statement = Statement {
    name: "release moved pushes",
    sql: include_str!("release_moved.sql"),
};
pub(crate) const REDELIVER: Statement = Statement {
    name: "redeliver pushes",
    sql: include_str!("redeliver.sql"),
};
pub(crate) const EXHAUSTED: Statement = Statement {
    name: "list exhausted pushes",
    sql: include_str!("exhausted.sql"),
};
pub(crate) const BACKLOG: Statement = Statement {
    name: "count owed pushes",
    sql: include_str!("backlog.sql"),
};
pub(crate) const HELD: Statement = Statement {
    name: "count held pushes",
    sql: include_str!("held.sql"),
};

/// Pushes of one claim or settlement.
const BATCH_MAX: usize = 1000;

/// Whether a text can be the id of something that is pushed. What cannot is not looked up.
fn is_pushed(id: &str) -> bool {
    message_id::is_wellformed(id)
        || ids::is_minted(id, directives::PREFIX)
        || ids::is_minted(id, acks::PREFIX)
}
