//! What tests of the hub stand on: a PostgreSQL and a NATS for the whole run, a hub for each test, its users, and a
//! callback sink that fails on demand. A step that fails here fails the test, with what the hub said.
#![allow(
    clippy::missing_panics_doc,
    clippy::panic,
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a failing step fails the test that took it"
)]
#![allow(clippy::disallowed_methods, reason = "tests call the hub from outside")]

pub mod browser;
pub mod campaign;
pub mod certificates;
pub mod client;
pub mod collector;
pub mod contract;
pub mod database;
pub mod dns;
pub mod envelope;
pub mod eventually;
pub mod hub;
pub mod processes;
pub mod proxy;
pub mod run;
pub mod sink;

pub use browser::Browser;
pub use client::{Account, Agent, Api, Human, Reply, segment};
pub use collector::Collector;
pub use eventually::{eventually, eventually_within};
pub use hub::{TestHub, TestHubBuilder};
pub use ma2h_hub::install_tls_provider;
pub use processes::Processes;
pub use sink::{Answer, CallbackSink, Received};

/// A word that no other call gives, in letters and digits that every id allows.
pub fn unique() -> String {
    ulid::Ulid::generate().to_string().to_lowercase()
}
