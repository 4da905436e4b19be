//! Brings a database to what this release expects.

use crate::config::Secret;
use crate::db::Tier;

/// The migrations of one tier: file name such as `V1__messages` and SQL, oldest first.
#[derive(Clone, Debug)]
pub struct TierMigrations {
    /// Whose schema they change.
    pub tier: Tier,
    /// Name and SQL of each.
    pub migrations: Vec<(&'static str, &'static str)>,
}

/// What stopped a migration.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database cannot be reached or refused a statement.
    #[error(transparent)]
    Database(#[from] crate::db::Error),
    /// A migration failed, or what was applied earlier differs from what is at hand.
    #[error("migrations of {tier}: {source}")]
    Refinery {
        /// Whose.
        tier: Tier,
        /// What refinery says.
        source: Box<refinery::Error>,
    },
}

/// Applies what is missing, and returns the names of what was applied. Safe to run by several at once.
pub async fn run(url: &Secret, tiers: &[TierMigrations]) -> Result<Vec<String>, Error> {
    let _ = (url, tiers);
    todo!()
}
