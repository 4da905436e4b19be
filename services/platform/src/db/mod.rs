//! PostgreSQL: a pool per tier, under the tier's own role.

mod error;
mod pool;
mod retry;
mod tier;

pub use deadpool_postgres::{GenericClient, Transaction};
pub use error::{problem, report, During, Error};
pub use pool::{connect, Client, Pool};
pub use retry::{retry, Transient};
pub use tier::Tier;
