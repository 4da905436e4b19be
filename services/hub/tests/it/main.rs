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

mod bounds;
mod breaker;
mod browser;
mod canaries;
mod dev;
mod edge;
mod examples;
mod faults;
mod limits;
mod migrations;
mod persistent;
mod push;
mod races;
mod redelivery;
mod retention;
mod schema;
mod stage;
mod verbatim;
mod workspace;
