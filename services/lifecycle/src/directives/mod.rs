//! Directives (§13): what a person tells an agent.

mod insert;
mod list;
mod read;
mod submit;

use crate::statement::Statement;

pub(crate) use insert::{Inserted, NewDirective, Refusal, insert};

pub(crate) const INSERT: Statement = Statement {
    name: "insert directive",
    sql: include_str!("insert.sql"),
};
pub(crate) const RESERVE: Statement = Statement {
    name: "reserve directive",
    sql: include_str!("reserve.sql"),
};
pub(crate) const READ: Statement = Statement {
    name: "read directive",
    sql: include_str!("read.sql"),
};
pub(crate) const PAGE: Statement = Statement {
    name: "list directives",
    sql: include_str!("page.sql"),
};

/// What ids of directives begin with.
pub(crate) const PREFIX: &str = "dir";
