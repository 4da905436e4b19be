//! The health of hosts: a breaker for each host of an account, shared by all replicas through PostgreSQL, and pauses.
//!
//! Lifecycle reads in a view which hosts are not sent to now, and holds what is owed to them. A host that works has no
//! row, and costs nothing here.

mod breaker;
mod notice;
mod tell;

use std::collections::{BTreeMap, BTreeSet};

use hub_platform::db::{self, Client, During as _, Pool, Transaction};
use hub_platform::ids;
use time::OffsetDateTime;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::error::CallError;

pub(crate) use breaker::Breaker;
use breaker::{Failed, Next, Standing, State};
pub(crate) use tell::Teller;

const LOCK: &str = include_str!("lock.sql");
const READ: &str = include_str!("read.sql");
const WRITE: &str = include_str!("write.sql");
const CLEAR: &str = include_str!("clear.sql");
const TAKE_PROBES: &str = include_str!("take_probes.sql");
const PAUSE: &str = include_str!("pause.sql");
const RESUME: &str = include_str!("resume.sql");
const PAUSED: &str = include_str!("paused.sql");
const UNTOLD: &str = include_str!("untold.sql");
const TOLD: &str = include_str!("told.sql");
const PRUNE: &str = include_str!("prune.sql");
const COUNT: &str = include_str!("count.sql");

/// The statements of this module, by name.
pub(crate) const STATEMENTS: &[(&str, &str)] = &[
    ("health/lock", LOCK),
    ("health/read", READ),
    ("health/write", WRITE),
    ("health/clear", CLEAR),
    ("health/take_probes", TAKE_PROBES),
    ("health/pause", PAUSE),
    ("health/resume", RESUME),
    ("health/paused", PAUSED),
    ("health/untold", UNTOLD),
    ("health/told", TOLD),
    ("health/prune", PRUNE),
    ("health/count", COUNT),
];

/// Who pauses a host that fails for long.
const HUB: &str = "system:hub";

/// A host of an account.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct HostKey {
    pub(crate) account: String,
    pub(crate) host: String,
}

/// What an attempt tells of its host.
#[derive(Clone, Debug)]
pub(crate) enum Sign {
    /// It answered, if only to refuse.
    Answered,
    /// It may not be called for the agent. Where no agent of the account may call it, nothing is held for it.
    NotCalled,
    /// It did not, or with a 5xx.
    Failed {
        /// The status, or the kind of failure.
        what: String,
        /// Whether the attempt was made to look.
        is_probe: bool,
    },
}

/// A host that nothing is sent to.
#[derive(Clone, Debug)]
pub(crate) struct Paused {
    pub(crate) host: String,
    pub(crate) at: OffsetDateTime,
    pub(crate) by: String,
    /// When somebody looks whether it is back, where somebody does.
    pub(crate) probe_at: Option<OffsetDateTime>,
}

/// A look that was taken.
#[derive(Clone, Debug)]
pub(crate) struct Probe {
    pub(crate) of: HostKey,
    pub(crate) is_paused: bool,
}

/// Failures of one host in a batch.
struct Failures {
    failed: Failed,
    what: String,
}

/// Keeps the health of hosts.
#[derive(Clone)]
pub(crate) struct Health {
    pool: Pool,
    breaker: Breaker,
}

impl Health {
    pub(crate) fn new(pool: Pool, breaker: Breaker) -> Self {
        Self { pool, breaker }
    }

    /// Records what attempts told of their hosts. Of a host that both answered and failed, it counts that it answered.
    pub(crate) async fn record(
        &self,
        signs: impl IntoIterator<Item = (HostKey, Sign)>,
    ) -> Result<(), CallError> {
        let (mut answered, mut not_called, mut failed) = (BTreeSet::new(), BTreeSet::new(), BTreeMap::new());
        for (key, sign) in signs {
            match sign {
                Sign::Answered => {
                    answered.insert(key);
                }
                Sign::NotCalled => {
                    not_called.insert(key);
                }
                Sign::Failed { what, is_probe } => add(failed.entry(key), what, is_probe),
            }
        }
        failed.retain(|key, _| !answered.contains(key));
        if !answered.is_empty() {
            let keys: Vec<_> = answered.into_iter().collect();
            self.clear(&keys).await?;
        }
        let accounts: BTreeSet<String> = not_called.into_iter().map(|key| key.account).collect();
        for account in accounts {
            self.prune(&account).await?;
        }
        if !failed.is_empty() {
            db::retry(|| self.count_failures(&failed)).await?;
        }
        Ok(())
    }

    async fn clear(&self, keys: &[HostKey]) -> Result<(), CallError> {
        let (accounts, hosts) = columns(keys);
        let closed = self.rows(CLEAR, &[&accounts, &hosts]).await?;
        count_changes("closed", closed.len());
        Ok(())
    }

    async fn count_failures(&self, failed: &BTreeMap<HostKey, Failures>) -> Result<(), CallError> {
        let (accounts, hosts) = columns(failed.keys());
        let mut client = self.client().await?;
        let transaction = client.transaction().await.during("begin to count failures")?;
        execute(&transaction, LOCK, &[&accounts, &hosts]).await?;
        let read = transaction
            .prepare_cached(READ)
            .await
            .during("prepare to read health")?;
        let rows = transaction.query(&read, &[&accounts, &hosts]).await;
        let changes = self.decide(&rows.during("read health")?, failed)?;
        changes.write(&transaction).await?;
        transaction.commit().await.during("count failures")?;
        changes.report();
        Ok(())
    }

    fn decide(&self, rows: &[Row], failed: &BTreeMap<HostKey, Failures>) -> Result<Changes, CallError> {
        let mut changes = Changes::default();
        for row in rows {
            let key = HostKey {
                account: row.try_get("account").during("read health")?,
                host: row.try_get("host").during("read health")?,
            };
            let Some(failures) = failed.get(&key) else {
                continue;
            };
            let standing = standing(row).during("read health")?;
            let next = self.breaker.decide(&standing, failures.failed, rand::random());
            changes.add(key, &failures.what, next);
        }
        Ok(changes)
    }

    /// Takes the looks that are due; each goes to one caller, and the next is due when `lasts` has passed.
    pub(crate) async fn take_probes(&self, keys: &[HostKey], lasts_ms: i64) -> Result<Vec<Probe>, CallError> {
        let (accounts, hosts) = columns(keys);
        let rows = self.rows(TAKE_PROBES, &[&accounts, &hosts, &lasts_ms]).await?;
        let read = |row: &Row| {
            Ok::<_, tokio_postgres::Error>(Probe {
                of: HostKey {
                    account: row.try_get("account")?,
                    host: row.try_get("host")?,
                },
                is_paused: row.try_get("is_paused")?,
            })
        };
        Ok(rows
            .iter()
            .map(read)
            .collect::<Result<_, _>>()
            .during("read probes")?)
    }

    /// Sends nothing to a host until it is resumed.
    pub(crate) async fn pause(&self, account: &str, host: &str, by: &str) -> Result<(), CallError> {
        self.rows(PAUSE, &[&account, &host, &by]).await?;
        Ok(())
    }

    /// Sends to a host again.
    pub(crate) async fn resume(&self, account: &str, host: &str) -> Result<(), CallError> {
        self.rows(RESUME, &[&account, &host]).await?;
        Ok(())
    }

    /// The paused hosts of an account.
    pub(crate) async fn paused(&self, account: &str) -> Result<Vec<Paused>, CallError> {
        let rows = self.rows(PAUSED, &[&account]).await?;
        let read = |row: &Row| {
            Ok::<_, tokio_postgres::Error>(Paused {
                host: row.try_get("host")?,
                at: row.try_get("paused_at")?,
                by: row.try_get("paused_by")?,
                probe_at: row.try_get("probe_at")?,
            })
        };
        Ok(rows
            .iter()
            .map(read)
            .collect::<Result<_, _>>()
            .during("read pauses")?)
    }

    /// Forgets hosts that no agent of the account has any more.
    pub(crate) async fn prune(&self, account: &str) -> Result<(), CallError> {
        self.rows(PRUNE, &[&account]).await?;
        Ok(())
    }

    async fn rows(&self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, CallError> {
        db::retry(|| self.rows_once(sql, values)).await
    }

    async fn rows_once(&self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, CallError> {
        let client = self.client().await?;
        let prepared = client
            .prepare_cached(sql)
            .await
            .during("prepare for host health")?;
        Ok(client.query(&prepared, values).await.during("keep host health")?)
    }

    async fn client(&self) -> Result<Client, CallError> {
        Ok(self.pool.get().await.during("connect for host health")?)
    }
}

/// What came of failures, column by column, as the statement takes it.
#[derive(Default)]
struct Changes {
    accounts: Vec<String>,
    hosts: Vec<String>,
    failures: Vec<i32>,
    last_failures: Vec<String>,
    probes_failed: Vec<i32>,
    probes_in_ms: Vec<Option<i64>>,
    pause_ids: Vec<Option<String>>,
    opened: usize,
}

impl Changes {
    fn add(&mut self, key: HostKey, what: &str, next: Next) {
        self.accounts.push(key.account);
        self.hosts.push(key.host);
        self.failures.push(integer(next.failures));
        self.last_failures.push(what.to_owned());
        self.probes_failed.push(integer(next.probes_failed));
        let probe_in_ms = next
            .probe_in
            .map(|pause| i64::try_from(pause.as_millis()).unwrap_or(i64::MAX));
        self.probes_in_ms.push(probe_in_ms);
        self.pause_ids.push(next.pauses.then(|| ids::mint("pau")));
        self.opened += usize::from(next.opens);
    }

    async fn write(&self, transaction: &Transaction<'_>) -> Result<(), CallError> {
        let values: &[&(dyn ToSql + Sync)] = &[
            &self.accounts,
            &self.hosts,
            &self.failures,
            &self.last_failures,
            &self.probes_failed,
            &self.probes_in_ms,
            &self.pause_ids,
        ];
        execute(transaction, WRITE, values).await
    }

    fn report(&self) {
        count_changes("opened", self.opened);
        count_changes("paused", self.pause_ids.iter().flatten().count());
    }
}

fn add(entry: std::collections::btree_map::Entry<'_, HostKey, Failures>, what: String, is_probe: bool) {
    let failures = entry.or_insert_with(|| Failures {
        failed: Failed {
            count: 0,
            is_probe: false,
        },
        what: String::new(),
    });
    failures.failed.count = failures.failed.count.saturating_add(1);
    failures.failed.is_probe |= is_probe;
    failures.what = what;
}

fn standing(row: &Row) -> Result<Standing, tokio_postgres::Error> {
    // The table's checks keep these from being negative.
    let count = |name| {
        row.try_get::<_, i32>(name)
            .map(|count| u32::try_from(count).unwrap_or_default())
    };
    let paused_by: Option<String> = row.try_get("paused_by")?;
    let state = match paused_by.as_deref() {
        Some(HUB) => State::PausedByHub,
        Some(_) => State::PausedByPerson,
        None if row.try_get("is_open")? => State::Open,
        None => State::Closed,
    };
    let failing_ms: i64 = row.try_get("failing_ms")?;
    Ok(Standing {
        state,
        failures: count("failures")?,
        failing_for: std::time::Duration::from_millis(u64::try_from(failing_ms).unwrap_or_default()),
        probes_failed: count("probes_failed")?,
    })
}

async fn execute(
    transaction: &Transaction<'_>,
    sql: &str,
    values: &[&(dyn ToSql + Sync)],
) -> Result<(), CallError> {
    let prepared = transaction
        .prepare_cached(sql)
        .await
        .during("prepare to count failures")?;
    transaction
        .execute(&prepared, values)
        .await
        .during("count failures")?;
    Ok(())
}

fn columns<'a>(keys: impl IntoIterator<Item = &'a HostKey>) -> (Vec<&'a str>, Vec<&'a str>) {
    keys.into_iter()
        .map(|key| (key.account.as_str(), key.host.as_str()))
        .unzip()
}

fn count_changes(to: &'static str, count: usize) {
    metrics::counter!("hub_push_breakers_total", "to" => to).increment(count as u64);
}

/// A count as PostgreSQL takes it.
fn integer(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}
