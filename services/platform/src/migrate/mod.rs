//! Brings a database to what this release expects: roles and schemas first, then each tier's own migrations.

mod sql;
#[cfg(test)]
mod tests;

use refinery::{Migration, Runner};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, NoTls};

use crate::config::Secret;
use crate::db::{self, During, Pool, Tier};

/// Attempts of the statements that several databases of one cluster can disturb for each other.
const SHARED_ATTEMPTS_MAX: u32 = 10;

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
    Database(#[from] db::Error),
    /// A migration failed, or what was applied earlier differs from what is at hand.
    #[error("migrations of {tier}: {source}")]
    Refinery {
        /// Whose.
        tier: Tier,
        /// What refinery says.
        source: Box<refinery::Error>,
    },
    /// The database is not what this release expects.
    #[error("the database lacks {migration} of {tier}: run `ma2h-hub migrate` first")]
    Behind {
        /// Whose.
        tier: Tier,
        /// The newest that this release expects.
        migration: String,
    },
}

/// Whether the newest migration of a tier was applied to its database. Where that cannot be reached nothing is wrong: a tier
/// waits for it.
pub async fn check(pool: &Pool, of_tier: &TierMigrations) -> Result<(), Error> {
    let tier = of_tier.tier;
    let Some(expected) = unapplied(of_tier)?.into_iter().max() else {
        return Ok(());
    };
    match newest(pool, tier).await {
        Ok(version) if version >= Some(expected.version()) => Ok(()),
        Err(error) if error.is_unavailable() => {
            tracing::warn!(%error, %tier, "whether the database is migrated is not known");
            Ok(())
        }
        Err(error) if !error.sql_state().is_some_and(is_missing) => Err(error.into()),
        Ok(_) | Err(_) => Err(Error::Behind {
            tier,
            migration: expected.to_string(),
        }),
    }
}

async fn newest(pool: &Pool, tier: Tier) -> Result<Option<i32>, db::Error> {
    const DOING: &str = "read the newest migration";
    let client = pool.get().await.during(DOING)?;
    let row = client.query_one(&sql::newest(tier), &[]).await.during(DOING)?;
    row.try_get("version").during(DOING)
}

/// Of a database that was never migrated, or not by a release that lets tiers read what was.
fn is_missing(state: &SqlState) -> bool {
    [
        SqlState::INVALID_SCHEMA_NAME,
        SqlState::UNDEFINED_TABLE,
        SqlState::INSUFFICIENT_PRIVILEGE,
    ]
    .contains(state)
}

/// Applies what is missing, and returns the names of what was applied, such as `lifecycle V1__messages`. Safe to
/// run by several at once, in one database and in several of a cluster.
pub async fn run(url: &Secret, tiers: &[TierMigrations]) -> Result<Vec<String>, Error> {
    let mut settings = db::parse_url(url)?;
    settings.application_name("hub-migrate");
    let (mut client, connection) = settings.connect(NoTls).await.during("connect")?;
    let connection = tokio::spawn(connection);
    let outcome = run_locked(&mut client, tiers).await;
    // Closing the session gives the lock back, also where a statement failed.
    drop(client);
    let _ = connection.await;
    outcome
}

async fn run_locked(client: &mut Client, tiers: &[TierMigrations]) -> Result<Vec<String>, Error> {
    client
        .batch_execute(sql::LOCK)
        .await
        .during("wait for other migrations")?;
    for tier in Tier::ALL {
        prepare(client, tier).await?;
    }
    let mut applied = Vec::new();
    for of_tier in tiers {
        applied.extend(apply(client, of_tier).await?);
    }
    for tier in Tier::ALL {
        client
            .batch_execute(&sql::grant(tier))
            .await
            .during("grant privileges")?;
    }
    Ok(applied)
}

/// Role and schema. Roles belong to the cluster: migrations of its other databases may do the same right now.
async fn prepare(client: &Client, tier: Tier) -> Result<(), db::Error> {
    for _ in 1..SHARED_ATTEMPTS_MAX {
        match client.batch_execute(&sql::role(tier)).await {
            Ok(()) => break,
            // `tuple concurrently updated`, or its kind.
            Err(error) => tracing::debug!(%error, "role disturbed by another database's migrations"),
        }
    }
    client
        .batch_execute(&sql::role(tier))
        .await
        .during("create role")?;
    client
        .batch_execute(&sql::schema(tier))
        .await
        .during("create schema")
}

async fn apply(client: &mut Client, of_tier: &TierMigrations) -> Result<Vec<String>, Error> {
    let tier = of_tier.tier;
    // An older release may run its migrations once more beside a newer one: what it does not know it leaves.
    let mut runner = Runner::new(&unapplied(of_tier)?).set_abort_missing(false);
    runner.set_migration_table_name(format!("{}.{}", tier.schema(), sql::HISTORY_TABLE));
    let report = runner
        .run_async(client)
        .await
        .map_err(|source| refinery_error(tier, source))?;
    let applied = report.applied_migrations().iter();
    Ok(applied.map(|migration| format!("{tier} {migration}")).collect())
}

fn unapplied(of_tier: &TierMigrations) -> Result<Vec<Migration>, Error> {
    let migrations = of_tier.migrations.iter();
    migrations
        .map(|(name, sql)| Migration::unapplied(name, sql))
        .collect::<Result<_, _>>()
        .map_err(|source| refinery_error(of_tier.tier, source))
}

fn refinery_error(tier: Tier, source: refinery::Error) -> Error {
    Error::Refinery {
        tier,
        source: Box::new(source),
    }
}
