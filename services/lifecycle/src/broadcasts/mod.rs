//! Broadcasts: what a person tells many agents at once. It is taken with the agents it is for, and reaches them in chunks,
//! each agent by a directive like any other.

mod audience;
mod fan_out;
mod purge;
mod read;
mod relay;
mod submit;

use crate::statement::Statement;

pub(crate) const LABELLED: Statement = Statement {
    name: "find labelled agents",
    sql: include_str!("labelled.sql"),
};
pub(crate) const UNKNOWN: Statement = Statement {
    name: "find unknown agents",
    sql: include_str!("unknown.sql"),
};
pub(crate) const INSERT: Statement = Statement {
    name: "insert broadcast",
    sql: include_str!("insert.sql"),
};
pub(crate) const RESERVE: Statement = Statement {
    name: "reserve broadcast",
    sql: include_str!("reserve.sql"),
};
pub(crate) const READ: Statement = Statement {
    name: "read broadcast",
    sql: include_str!("read.sql"),
};
pub(crate) const PAGE: Statement = Statement {
    name: "list broadcasts",
    sql: include_str!("page.sql"),
};
pub(crate) const COUNT: Statement = Statement {
    name: "count states of a broadcast",
    sql: include_str!("count.sql"),
};
pub(crate) const RECIPIENTS: Statement = Statement {
    name: "list agents of a broadcast",
    sql: include_str!("recipients.sql"),
};
pub(crate) const TAKE: Statement = Statement {
    name: "take broadcast",
    sql: include_str!("take.sql"),
};
pub(crate) const PENDING: Statement = Statement {
    name: "read a chunk of a broadcast",
    sql: include_str!("pending.sql"),
};
pub(crate) const MARK: Statement = Statement {
    name: "mark a chunk of a broadcast",
    sql: include_str!("mark.sql"),
};
pub(crate) const RELAY: Statement = Statement {
    name: "relay broadcasts",
    sql: include_str!("relay.sql"),
};
pub(crate) const BACKLOG: Statement = Statement {
    name: "count owed broadcasts",
    sql: include_str!("backlog.sql"),
};
pub(crate) const PURGE: Statement = Statement {
    name: "purge broadcasts",
    sql: include_str!("purge.sql"),
};

/// What ids of broadcasts begin with.
const PREFIX: &str = "bro";
