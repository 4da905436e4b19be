//! The hub's tests against real services. `make test` starts those, once for all tests.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a failing step fails the test that took it"
)]

mod browser;
mod dev;
mod edge;
mod examples;
mod faults;
mod migrations;
mod push;
mod races;
mod schema;
mod stage;
mod verbatim;
mod workspace;
