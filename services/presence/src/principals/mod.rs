//! The principals as the database knows them, by its clock (§15).

use hub_platform::db::{self, Client, During as _, Error, Pool};
use time::OffsetDateTime;
use tokio_postgres::Row;

const TOUCH: &str = include_str!("touch.sql");
const READ: &str = include_str!("read.sql");

/// The statements of this module, by name.
pub(crate) const STATEMENTS: &[(&str, &str)] = &[("principals/touch", TOUCH), ("principals/read", READ)];

/// Whether an agent is there (§15.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    /// Heard from within the freshness window.
    Online,
    /// Heard from, but longer ago.
    Offline,
    /// Never heard from.
    Unknown,
}

impl State {
    /// As the wire has it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Online => "online",
            Self::Offline => "offline",
            Self::Unknown => "unknown",
        }
    }
}

/// What is known of an agent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Presence {
    /// Whether it is there.
    pub(crate) state: State,
    /// When it was last heard from.
    pub(crate) last_seen: Option<OffsetDateTime>,
}

/// Account and id of an agent.
pub(crate) type Name = (String, String);

/// An agent of which it was written that it was heard from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Touched {
    /// Which.
    pub(crate) name: Name,
    /// Whether it was online before.
    pub(crate) was_online: bool,
}

/// Keeps the principals.
#[derive(Clone)]
pub(crate) struct Principals {
    pool: Pool,
    freshness_seconds: f64,
    write_through_ms: f64,
}

impl Principals {
    /// Over this database.
    pub(crate) fn new(pool: Pool, freshness_seconds: u64, write_through_ms: u64) -> Self {
        // Both are configuration, far below where a double would lose a unit; an interval is multiplied by doubles.
        let double = |count: u64| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
        Self {
            pool,
            freshness_seconds: double(freshness_seconds),
            write_through_ms: double(write_through_ms),
        }
    }

    /// Records that agents, each named once, were heard from now. Those of which that is known from a moment ago are left out
    /// of what it gives.
    pub(crate) async fn touch(&self, names: &[Name]) -> Result<Vec<Touched>, Error> {
        let rows = db::retry(|| self.touch_once(names)).await?;
        rows.iter()
            .map(touched_of_row)
            .collect::<Result<_, _>>()
            .during("touch principals")
    }

    /// What is known of these agents, in their order.
    pub(crate) async fn read(&self, account: &str, agents: &[String]) -> Result<Vec<Presence>, Error> {
        let client = self.client().await?;
        let statement = client
            .prepare_cached(READ)
            .await
            .during("prepare to read principals")?;
        let rows = client
            .query(&statement, &[&account, &agents, &self.freshness_seconds])
            .await
            .during("read principals")?;
        rows.iter()
            .map(presence_of_row)
            .collect::<Result<_, _>>()
            .during("read principals")
    }

    async fn touch_once(&self, names: &[Name]) -> Result<Vec<Row>, Error> {
        let (accounts, agents): (Vec<_>, Vec<_>) = names
            .iter()
            .map(|(account, agent)| (account.as_str(), agent.as_str()))
            .unzip();
        let client = self.client().await?;
        let statement = client
            .prepare_cached(TOUCH)
            .await
            .during("prepare to touch principals")?;
        client
            .query(
                &statement,
                &[
                    &accounts,
                    &agents,
                    &self.write_through_ms,
                    &self.freshness_seconds,
                ],
            )
            .await
            .during("touch principals")
    }

    async fn client(&self) -> Result<Client, Error> {
        self.pool.get().await.during("connect for principals")
    }
}

fn touched_of_row(row: &Row) -> Result<Touched, tokio_postgres::Error> {
    Ok(Touched {
        name: (row.try_get("account")?, row.try_get("agent")?),
        was_online: row.try_get("was_online")?,
    })
}

fn presence_of_row(row: &Row) -> Result<Presence, tokio_postgres::Error> {
    let last_seen = row.try_get("last_seen")?;
    let state = match row.try_get::<_, Option<bool>>("is_online")? {
        Some(true) => State::Online,
        Some(false) => State::Offline,
        None => State::Unknown,
    };
    Ok(Presence { state, last_seen })
}
