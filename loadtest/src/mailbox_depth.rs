//! What lies in a mailbox costs those who drain it nothing: drain and ack of a deep mailbox beside those of a small one,
//! once never claimed, once with all of it in flight ahead of what is new.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use hdrhistogram::Histogram;
use reqwest::Method;
use serde::Serialize;
use serde_json::{Value, json};
use tokio_postgres::{Client as Database, NoTls};

use crate::client::Client;
use crate::description::Description;
use crate::report::{micros, quantile_ms};

/// Fills a mailbox by the rows that as many directives would have left.
const FILL: &str = include_str!("mailbox_depth.sql");
/// Entries that were read of the drain's index so far.
const READ: &str = "SELECT idx_tup_read
    FROM pg_catalog.pg_stat_user_indexes
    WHERE schemaname = 'lifecycle' AND indexrelname = 'entries_waiting'";
/// PostgreSQL tells what it counted a moment later.
const COUNTED_AFTER: Duration = Duration::from_secs(2);

/// How deep, and how often.
#[derive(Clone, Copy)]
pub(crate) struct Depth {
    pub entries: u32,
    pub small_entries: u32,
    pub rounds: u32,
}

/// What was found.
#[derive(Serialize)]
pub(crate) struct Report {
    entries: u32,
    small_entries: u32,
    rounds: u32,
    comparisons: Vec<Comparison>,
}

/// A deep mailbox beside a small one, drained in turn.
#[derive(Serialize)]
struct Comparison {
    name: &'static str,
    small: Cost,
    deep: Cost,
    /// Deep to small, of the medians.
    drain_ratio: f64,
    ack_ratio: f64,
}

#[derive(Serialize)]
struct Cost {
    drain_p50_ms: f64,
    ack_p50_ms: f64,
    /// Entries that the index was read for in one round, without those of the other mailbox.
    entries_read_per_round: f64,
}

struct Mailbox {
    agent: &'static str,
    token: String,
    drain_us: Histogram<u64>,
    ack_us: Histogram<u64>,
    entries_read: i64,
}

struct Run {
    client: Client,
    database: Database,
    account: String,
    human_token: String,
    depth: Depth,
}

pub(crate) async fn run(description: &Path, depth: Depth) -> anyhow::Result<Report> {
    let described = Description::read(description)?;
    let postgres = described
        .postgres
        .context("the hub does not say where its PostgreSQL is")?;
    let (database, connection) = tokio_postgres::connect(&postgres, NoTls).await?;
    tokio::spawn(connection);
    let client = Client::new(described.base_urls, &described.ca_cert)?;
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let account = format!("depth-{}", since_1970.as_nanos());
    let admin = described.admin_token;
    let body = json!({"id": account, "name": "Depth"});
    client
        .call(&admin, Method::POST, "/admin/v1/accounts", Some(&body))
        .await?;
    let body = json!({"id": "author", "email": "author@bench.example", "role": "operator"});
    let path = format!("/admin/v1/accounts/{account}/humans");
    client.call(&admin, Method::POST, &path, Some(&body)).await?;
    let human_token = token(&client, &admin, &account, "human:author").await?;
    let run = Run {
        client,
        database,
        account,
        human_token,
        depth,
    };
    let mut comparisons = Vec::new();
    for (name, is_in_flight) in [("never claimed", false), ("in flight ahead of what is new", true)] {
        comparisons.push(run.compare(&admin, name, is_in_flight).await?);
    }
    Ok(Report {
        entries: depth.entries,
        small_entries: depth.small_entries,
        rounds: depth.rounds,
        comparisons,
    })
}

async fn token(client: &Client, admin: &str, account: &str, subject: &str) -> anyhow::Result<String> {
    let path = format!("/admin/v1/accounts/{account}/tokens");
    let issued = client
        .call(admin, Method::POST, &path, Some(&json!({"subject": subject})))
        .await?;
    let token = issued["token"].as_str().context("a token was not shown")?;
    Ok(token.to_owned())
}

impl Run {
    async fn compare(
        &self,
        admin: &str,
        name: &'static str,
        is_in_flight: bool,
    ) -> anyhow::Result<Comparison> {
        let names = if is_in_flight {
            ["flight-small", "flight-deep"]
        } else {
            ["small", "deep"]
        };
        let mut small = self
            .mailbox(admin, names[0], self.depth.small_entries, is_in_flight)
            .await?;
        let mut deep = self
            .mailbox(admin, names[1], self.depth.entries, is_in_flight)
            .await?;
        self.database
            .batch_execute("ANALYZE lifecycle.entries; ANALYZE lifecycle.directives; CHECKPOINT")
            .await?;
        for mailbox in [&mut small, &mut deep] {
            let before = self.entries_read().await?;
            for _ in 0..self.depth.rounds {
                self.round(mailbox, is_in_flight).await?;
            }
            mailbox.entries_read = self.entries_read().await? - before;
            mailbox.drain_us.reset();
            mailbox.ack_us.reset();
        }
        // In turn, so that whatever else the machine does meets both alike.
        for _ in 0..self.depth.rounds {
            self.round(&mut small, is_in_flight).await?;
            self.round(&mut deep, is_in_flight).await?;
        }
        let ratio =
            |of: fn(&Mailbox) -> &Histogram<u64>| quantile_ms(of(&deep), 0.5) / quantile_ms(of(&small), 0.5);
        Ok(Comparison {
            name,
            drain_ratio: ratio(|mailbox| &mailbox.drain_us),
            ack_ratio: ratio(|mailbox| &mailbox.ack_us),
            small: self.cost(&small),
            deep: self.cost(&deep),
        })
    }

    async fn mailbox(
        &self,
        admin: &str,
        agent: &'static str,
        entries: u32,
        is_in_flight: bool,
    ) -> anyhow::Result<Mailbox> {
        let path = format!("/admin/v1/accounts/{}/agents", self.account);
        self.client
            .call(admin, Method::POST, &path, Some(&json!({"id": agent})))
            .await?;
        let entries = i64::from(entries);
        self.database
            .execute(FILL, &[&self.account, &agent, &entries, &is_in_flight])
            .await
            .context("fill a mailbox")?;
        Ok(Mailbox {
            agent,
            token: token(&self.client, admin, &self.account, &format!("agent:{agent}")).await?,
            drain_us: Histogram::new(3)?,
            ack_us: Histogram::new(3)?,
            entries_read: 0,
        })
    }

    /// One entry out of the mailbox, and consumed. Where all of it is in flight, one comes first.
    async fn round(&self, mailbox: &mut Mailbox, is_in_flight: bool) -> anyhow::Result<()> {
        if is_in_flight {
            let body = json!({"to": format!("agent:{}", mailbox.agent), "title": "New"});
            self.client
                .call(&self.human_token, Method::POST, "/v1/directives", Some(&body))
                .await?;
        }
        let began = Instant::now();
        let drained = self
            .client
            .call(&mailbox.token, Method::GET, "/v1/inbox?max=1", None)
            .await?;
        mailbox.drain_us.record(micros(began.elapsed()))?;
        let id = drained
            .pointer("/messages/0/directive/id")
            .and_then(Value::as_str);
        let body = json!({"ids": [id.context("nothing was drained")?]});
        let began = Instant::now();
        let acked = self
            .client
            .call(&mailbox.token, Method::POST, "/v1/inbox/ack", Some(&body))
            .await?;
        mailbox.ack_us.record(micros(began.elapsed()))?;
        anyhow::ensure!(acked["acked"] == 1, "nothing was acknowledged");
        Ok(())
    }

    /// Entries read by the drain's index since the beginning.
    async fn entries_read(&self) -> anyhow::Result<i64> {
        tokio::time::sleep(COUNTED_AFTER).await;
        Ok(self
            .database
            .query_one(READ, &[])
            .await?
            .try_get("idx_tup_read")?)
    }

    fn cost(&self, mailbox: &Mailbox) -> Cost {
        #[expect(clippy::cast_precision_loss, reason = "far below 2^53 entries")]
        let entries_read = mailbox.entries_read as f64;
        Cost {
            drain_p50_ms: quantile_ms(&mailbox.drain_us, 0.5),
            ack_p50_ms: quantile_ms(&mailbox.ack_us, 0.5),
            entries_read_per_round: entries_read / f64::from(self.depth.rounds),
        }
    }
}

impl Report {
    pub(crate) fn to_json(&self) -> anyhow::Result<String> {
        Ok(serde_json::to_string_pretty(self)?)
    }

    pub(crate) fn to_table(&self) -> String {
        let mut table = format!(
            "mailboxes of {} and {} entries, {} rounds each\n",
            self.small_entries, self.entries, self.rounds
        );
        for comparison in &self.comparisons {
            let _ = writeln!(table, "\n{}", comparison.name);
            let _ = writeln!(
                table,
                "{:<8}{:>14}{:>14}{:>16}",
                "", "drain p50 ms", "ack p50 ms", "entries read"
            );
            for (name, cost) in [("small", &comparison.small), ("deep", &comparison.deep)] {
                let _ = writeln!(
                    table,
                    "{name:<8}{:>14.2}{:>14.2}{:>16.1}",
                    cost.drain_p50_ms, cost.ack_p50_ms, cost.entries_read_per_round
                );
            }
            let _ = writeln!(
                table,
                "{:<8}{:>14.2}{:>14.2}",
                "ratio", comparison.drain_ratio, comparison.ack_ratio
            );
        }
        table
    }
}
