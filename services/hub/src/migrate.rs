//! Brings the database to what this release expects.

use hub_platform::config::{Config, Secret};

use crate::tiers;

/// Migrates the configured database and says what was done.
pub async fn run() -> anyhow::Result<()> {
    let config = Config::from_environment()?;
    let applied = migrate(&config.database.url).await?;
    match applied.as_slice() {
        [] => println!("the database is up to date"),
        names => names.iter().for_each(|name| println!("applied {name}")),
    }
    Ok(())
}

/// Applies what is missing, safely when several do so at once; returns the names of what was applied.
pub async fn migrate(url: &Secret) -> anyhow::Result<Vec<String>> {
    Ok(hub_platform::migrate::run(url, &tiers::migrations()).await?)
}
