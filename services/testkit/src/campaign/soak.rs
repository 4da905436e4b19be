//! The soak: the campaign's clients, nothing failing, and an old snapshot held open for as long as one likes, as a backup
//! or a report does. What each hot statement costs is measured before, at the end of it, and after.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio_postgres::Client;

use super::clients::Field;
use super::history::History;
use super::house::House;
use super::schedule::Act;
use crate::database;
use crate::sink::CallbackSink;

const COSTS: &str = include_str!("costs.sql");
const TABLES: &str = include_str!("tables.sql");
const INDEXES: &str = include_str!("indexes.sql");

/// What makes a short soak see what a long one would: everything ends, expires and is erased within seconds.
const SHORT: [(&str, &str); 7] = [
    ("HUB_RETENTION_SECONDS", "5"),
    ("HUB_RETENTION_GRACE_SECONDS", "5"),
    ("HUB_INBOUND_RETENTION_SECONDS", "30"),
    ("HUB_IDEMPOTENCY_TTL_SECONDS", "10"),
    ("HUB_SWEEP_INTERVAL_MS", "500"),
    ("HUB_DATABASE_POOL_SIZE", "8"),
    ("HUB_LOG", "warn"),
];
/// Fewer calls than this say nothing of a statement's cost.
const CALLS_MIN: i64 = 5;
/// A statement has grown where one call looks at more blocks than this, and at so many times as many as before the snapshot.
const BLOCKS_MAX: f64 = 500.0;
const RATIO_MAX: f64 = 3.0;
/// How much of a statement's opening comment is shown.
const NAME_CHARS: usize = 60;

/// A soak.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How long the snapshot is held.
    pub held: Duration,
    /// How long costs are measured, each time.
    pub window: Duration,
    /// Messages whose life is under way at once.
    pub at_once: usize,
}

/// What one statement cost in a window, for one call.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    calls: i64,
    ms: f64,
    blocks: f64,
}

/// By the statement's opening line.
type Costs = BTreeMap<String, Cost>;

/// What a soak found.
#[derive(Debug)]
pub struct Findings {
    windows: [Costs; 3],
    tables: [Vec<String>; 2],
    indexes: Vec<String>,
    messages: i64,
}

/// Runs a soak.
pub async fn run(options: &Options) -> anyhow::Result<Findings> {
    let dir = tempfile::Builder::new().prefix("hub-soak-").tempdir()?;
    let mut house = House::start(dir.path(), 2, &SHORT).await?;
    prepare(&mut house).await?;
    let (sink, history) = (Arc::new(CallbackSink::http().await), History::begin());
    let field = Field::lay(&house, &sink, 1, &history).await?;
    let clients = field.work(&sink, options.at_once);
    let database = database::connect(house.database_url()).await;

    tokio::time::sleep(options.window).await;
    let before = measure(&database, options.window).await?;
    let holder = database::connect(house.database_url()).await;
    holder
        .batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM lifecycle.messages")
        .await?;
    tokio::time::sleep(options.held.saturating_sub(options.window)).await;
    let held = measure(&database, options.window).await?;
    let tables_held = lines(&database, TABLES).await?;
    let indexes = lines(&database, INDEXES).await?;
    drop(holder);
    tokio::time::sleep(options.window).await;
    let after = measure(&database, options.window).await?;
    let tables_after = lines(&database, TABLES).await?;

    field.rest(clients).await?;
    let count = "SELECT count(*) AS count FROM lifecycle.tombstones";
    let messages = database.query_one(count, &[]).await?.try_get("count")?;
    house.stop().await?;
    Ok(Findings {
        windows: [before, held, after],
        tables: [tables_held, tables_after],
        indexes,
        messages,
    })
}

/// Has PostgreSQL count what each statement costs, and vacuum more often than a short soak would see otherwise.
async fn prepare(house: &mut House) -> anyhow::Result<()> {
    let client = database::connect(house.database_url()).await;
    for setting in [
        "shared_preload_libraries = 'pg_stat_statements'",
        "pg_stat_statements.track = 'all'",
        "autovacuum_naptime = '5s'",
    ] {
        client
            .batch_execute(&format!("ALTER SYSTEM SET {setting}"))
            .await
            .or_else(|error| {
                // A setting of the library is unknown until that is loaded; its default serves as well.
                if setting.starts_with("pg_stat") {
                    Ok(())
                } else {
                    Err(error)
                }
            })?;
    }
    drop(client);
    house.act(Act::StopPostgres).await?;
    house.act(Act::StartPostgres).await?;
    house.await_ready().await?;
    let client = database::connect(house.database_url()).await;
    client
        .batch_execute("CREATE EXTENSION pg_stat_statements; CREATE EXTENSION pgstattuple")
        .await?;
    Ok(())
}

async fn measure(database: &Client, window: Duration) -> anyhow::Result<Costs> {
    database
        .batch_execute("SELECT pg_stat_statements_reset()")
        .await?;
    tokio::time::sleep(window).await;
    let mut costs = Costs::new();
    for row in database.query(COSTS, &[&CALLS_MIN]).await? {
        let name: String = row.try_get("name")?;
        let name = name.chars().take(NAME_CHARS).collect();
        let cost = Cost {
            calls: row.try_get("calls")?,
            ms: row.try_get("ms")?,
            blocks: row.try_get("blocks")?,
        };
        costs.insert(name, cost);
    }
    Ok(costs)
}

async fn lines(database: &Client, sql: &str) -> anyhow::Result<Vec<String>> {
    let rows = database.query(sql, &[]).await?;
    Ok(rows
        .iter()
        .map(|row| row.try_get("line"))
        .collect::<Result<_, _>>()?)
}

impl Findings {
    /// Messages whose life was over and whose content was erased meanwhile.
    pub fn messages(&self) -> i64 {
        self.messages
    }

    /// The statements that cost more while the snapshot was held, or after it, by their opening lines.
    pub fn grown(&self) -> Vec<&str> {
        let [before, held, after] = &self.windows;
        let grown = held.iter().chain(after).filter(|(name, then)| {
            let before = before.get(*name).copied().unwrap_or_default();
            then.blocks > BLOCKS_MAX && then.blocks > before.blocks * RATIO_MAX
        });
        let names: BTreeSet<_> = grown.map(|(name, _)| name.as_str()).collect();
        names.into_iter().collect()
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [before, held, after] = &self.windows;
        writeln!(out, "{} messages came and went\n", self.messages)?;
        writeln!(
            out,
            "{:<NAME_CHARS$} {:>7} {:>8} {:>8} {:>8} {:>6}   {:>8} {:>8} {:>8} {:>6}",
            "one call of", "calls", "ms", "held", "after", "ratio", "blocks", "held", "after", "ratio"
        )?;
        for (name, first) in before {
            let Some(then) = held.get(name) else { continue };
            let last = after.get(name).copied().unwrap_or_default();
            writeln!(
                out,
                "{name:<NAME_CHARS$} {:>7} {:>8.2} {:>8.2} {:>8.2} {:>6.1}   {:>8.1} {:>8.1} {:>8.1} {:>6.1}",
                then.calls,
                first.ms,
                then.ms,
                last.ms,
                then.ms / first.ms,
                first.blocks,
                then.blocks,
                last.blocks,
                then.blocks / first.blocks,
            )?;
        }
        let [tables_held, tables_after] = &self.tables;
        for (when, lines) in [
            ("tables, snapshot held", tables_held),
            ("tables, after it", tables_after),
            ("indexes, snapshot held", &self.indexes),
        ] {
            writeln!(out, "\n{when}")?;
            for line in lines {
                writeln!(out, "  {line}")?;
            }
        }
        match self.grown().as_slice() {
            [] => write!(
                out,
                "\neach statement cost what it did, while the snapshot was held and after it"
            ),
            grown => write!(out, "\nGROWN: {}", grown.join("; ")),
        }
    }
}
