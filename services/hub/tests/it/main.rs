//! The hub's tests against real services. `make test` starts those, once for all tests.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a failing step fails the test that took it"
)]
#![allow(
    clippy::similar_names,
    reason = "`stage` and `state` are told apart well enough"
)]
#![allow(clippy::disallowed_methods, reason = "tests call the hub from outside")]

mod ack_push;
mod acks;
mod administration;
mod asks;
mod bounds;
mod breaker;
mod broadcast_turns;
mod broadcasts;
mod browser;
mod browser_broadcasts;
mod browser_directives;
mod campaign;
mod canaries;
mod claims;
mod clock;
mod dev;
mod directives;
mod drain;
mod durability;
mod edge;
mod examples;
mod faults;
mod held;
mod hosts;
mod limits;
mod mailbox;
mod migrations;
mod operations;
mod pages;
mod pages_broadcasts;
mod persistent;
mod presence;
mod push;
mod races;
mod redelivery;
mod refusals;
mod retention;
mod retention_batches;
mod rotation;
mod schema;
mod snapshots;
mod soak;
mod stage;
mod verbatim;
mod visitor;
mod webhooks;
mod workspace;
