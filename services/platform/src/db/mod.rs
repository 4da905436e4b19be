//! PostgreSQL: a pool per tier, under the tier's own role.

mod error;
mod pool;
mod retry;
mod tier;

pub use deadpool_postgres::{GenericClient, Transaction};
pub use error::{During, Error, problem, report};
pub(crate) use pool::parse_url;
pub use pool::{Client, Pool, connect, connect_apart};
pub use retry::{Transient, retry};
pub use tier::Tier;
