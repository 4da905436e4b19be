//! NATS: wake-ups and jobs. It may be away, and may lose all it holds: PostgreSQL is the truth.

mod connection;
mod consumer;
mod jobs;
#[cfg(test)]
mod tests;
mod wake;

pub use connection::{Nats, connect};
pub use consumer::{Consumer, Delivery};
pub use jobs::Jobs;
/// What a job is made of.
pub use prost::Message as Job;
pub use wake::{WAKE_BUCKETS, Wake, WakeEvent, WakeKind, Wakes, bucket};

/// What is wrong with the settings; a server that is away is no error.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A setting.
    #[error("HUB_NATS_URL: {0}")]
    Settings(String),
}
