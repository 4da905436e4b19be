//! Agents that wait for their mailboxes at one gateway: what each held poll takes of its memory, and how soon it hears of
//! what comes, beside what NATS alone takes for a word to go round.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use futures_util::StreamExt as _;
use hdrhistogram::Histogram;
use reqwest::Method;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_postgres::NoTls;

use crate::client::Client;
use crate::description::Description;
use crate::memory;
use crate::report::{micros, quantile_ms};

/// What a gateway holds a poll for, unless it is told otherwise.
const WAIT_SECONDS: u64 = 60;
/// A poll and its way there and back.
const POLL_TIMEOUT: Duration = Duration::from_secs(WAIT_SECONDS + 30);
/// How long the gateway may take to hold all, and a poll to hear.
const PATIENCE: Duration = Duration::from_mins(1);
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Makes agents with a token each, at once.
const MAKE_AGENTS: &str = include_str!("held_polls.sql");

/// How many polls, over how many connections, and how many of them are answered.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    pub polls: u32,
    pub connections: u32,
    pub answered: u32,
}

/// What was found.
#[derive(Serialize)]
pub(crate) struct Report {
    polls: u32,
    connections: u32,
    answered: u32,
    /// Of the gateway's process: before the connections were opened, and with all polls held.
    resident_bytes: [u64; 2],
    bytes_per_poll: f64,
    /// From the call that writes a directive to the answer of the poll that waits for it.
    answer: Latency,
    /// From that call to its own answer.
    accepted: Latency,
    /// From publishing on one connection to NATS to its arrival on another.
    nats: Latency,
    /// Of the answer to NATS.
    ratio_p50: f64,
    ratio_p99: f64,
}

#[derive(Serialize)]
struct Latency {
    p50_ms: f64,
    p99_ms: f64,
}

impl Latency {
    fn of(latencies_us: &Histogram<u64>) -> Self {
        Self {
            p50_ms: quantile_ms(latencies_us, 0.50),
            p99_ms: quantile_ms(latencies_us, 0.99),
        }
    }
}

/// A gateway with agents that wait there and a human who writes to them.
struct Stage {
    client: Client,
    account: String,
    human_token: String,
    /// Of each agent, by its number.
    agent_tokens: Vec<String>,
}

/// Which agent's poll was answered with something, and when.
type Answer = (usize, Instant);

pub(crate) async fn run(description: &Path, load: Load) -> anyhow::Result<Report> {
    let Description {
        mut base_urls,
        ca_cert,
        admin_token,
        nats,
        postgres,
        metrics,
        pids,
        ..
    } = Description::read(description)?;
    base_urls.truncate(1);
    let pids = pids.get("gateway").map(Vec::as_slice).unwrap_or_default();
    let pid = *pids.first().context("the hub names no process of its gateway")?;
    let metrics = metrics.get("gateway").context("the gateway names no metrics")?;
    let mut echo = Echo::connect(&nats.context("the hub does not say where its NATS is")?).await?;
    let client = Client::new(base_urls.clone(), &ca_cert)?;
    let postgres = postgres.context("the hub does not say where its PostgreSQL is")?;
    let stage = Stage::lay(client, &admin_token, &postgres, load.polls).await?;

    let before = memory::resident_bytes(pid)?;
    let mut clients = Vec::new();
    for _ in 0..load.connections {
        let client = Client::of_one_connection(base_urls.clone(), &ca_cert, POLL_TIMEOUT)?;
        client
            .call(&stage.agent_tokens[0], Method::HEAD, "/v1/inbox", None)
            .await?;
        clients.push(Arc::new(client));
    }
    // Each poll answers once.
    let (answered, mut answers) = mpsc::channel(load.polls as usize);
    let mut polls = JoinSet::new();
    for (number, token) in stage.agent_tokens.iter().enumerate() {
        let polling = Polling {
            client: Arc::clone(&clients[number % clients.len()]),
            token: token.clone(),
            number,
            answered: answered.clone(),
        };
        polls.spawn(polling.run());
    }
    let gateway = Gateway::new(metrics)?;
    gateway.await_held(load.polls, &mut polls).await?;
    let held = memory::resident_bytes(pid)?;

    let mut answer_us = Histogram::new(3)?;
    let (mut accepted_us, mut nats_us) = (answer_us.clone(), answer_us.clone());
    let step = (load.polls / load.answered) as usize;
    for number in (0..).step_by(step).take(load.answered as usize) {
        nats_us.record(micros(echo.round_trip().await?))?;
        let began = Instant::now();
        let (accepted, answered_at) =
            tokio::try_join!(stage.write(number), await_answer(&mut answers, number))?;
        accepted_us.record(micros(accepted))?;
        answer_us.record(micros(answered_at.saturating_duration_since(began)))?;
        fail_with(&mut polls)?;
    }
    gateway.await_held(load.polls - load.answered, &mut polls).await?;
    let [answer, accepted, nats] = [answer_us, accepted_us, nats_us].map(|us| Latency::of(&us));
    Ok(Report {
        polls: load.polls,
        connections: load.connections,
        answered: load.answered,
        resident_bytes: [before, held],
        bytes_per_poll: per_poll(before, held, load.polls),
        ratio_p50: answer.p50_ms / nats.p50_ms,
        ratio_p99: answer.p99_ms / nats.p99_ms,
        answer,
        accepted,
        nats,
    })
}

/// The first poll that was refused fails the whole: none may be.
fn fail_with(polls: &mut JoinSet<anyhow::Result<()>>) -> anyhow::Result<()> {
    while let Some(ended) = polls.try_join_next() {
        ended?.context("a poll was not held")?;
    }
    Ok(())
}

/// What a gateway says of itself.
struct Gateway<'a> {
    http: reqwest::Client,
    metrics: &'a str,
}

impl<'a> Gateway<'a> {
    fn new(metrics: &'a str) -> anyhow::Result<Self> {
        let http = reqwest::Client::builder().no_proxy().build()?;
        Ok(Self { http, metrics })
    }

    /// Waits until it holds so many polls.
    async fn await_held(&self, count: u32, polls: &mut JoinSet<anyhow::Result<()>>) -> anyhow::Result<()> {
        let until = Instant::now() + PATIENCE;
        loop {
            fail_with(polls)?;
            let held = self.held().await?;
            if held >= f64::from(count) {
                return Ok(());
            }
            anyhow::ensure!(
                Instant::now() < until,
                "the gateway holds {held} polls of {count}; HUB_GATEWAY_HELD_REQUESTS_MAX must allow for all"
            );
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    async fn held(&self) -> anyhow::Result<f64> {
        let text = self.http.get(self.metrics).send().await?.text().await?;
        let gauge = text
            .lines()
            .find_map(|line| line.strip_prefix("hub_http_held_requests{kind=\"poll\"} "));
        Ok(gauge.map_or(Ok(0.0), str::parse)?)
    }
}

/// An agent that waits for its mailbox.
struct Polling {
    client: Arc<Client>,
    token: String,
    number: usize,
    answered: mpsc::Sender<Answer>,
}

impl Polling {
    /// Polls until something comes.
    async fn run(self) -> anyhow::Result<()> {
        let path = format!("/v1/inbox?wait={WAIT_SECONDS}");
        loop {
            let drained = self.client.call(&self.token, Method::GET, &path, None).await?;
            if drained["messages"][0].is_object() {
                // Nobody listens any more once all is measured.
                let _ = self.answered.send((self.number, Instant::now())).await;
                return Ok(());
            }
        }
    }
}

async fn await_answer(answers: &mut mpsc::Receiver<Answer>, number: usize) -> anyhow::Result<Instant> {
    let answer = tokio::time::timeout(PATIENCE, answers.recv()).await;
    let (other, at) = answer
        .with_context(|| format!("poll {number} heard of nothing"))?
        .context("no poll is left")?;
    anyhow::ensure!(other == number, "poll {other} was answered for poll {number}");
    Ok(at)
}

impl Stage {
    /// An account with so many agents, each with a token of its own.
    async fn lay(client: Client, admin: &str, postgres: &str, agents: u32) -> anyhow::Result<Self> {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH)?;
        let account = format!("polls-{}", since_1970.as_nanos());
        let base = format!("/admin/v1/accounts/{account}");
        let post = async |path: &str, body: Value| client.call(admin, Method::POST, path, Some(&body)).await;
        post("/admin/v1/accounts", json!({"id": account, "name": "Polls"})).await?;
        let human = json!({"id": "author", "email": "author@bench.example", "role": "operator"});
        post(&format!("{base}/humans"), human).await?;
        let issued = post(&format!("{base}/tokens"), json!({"subject": "human:author"})).await?;
        let human_token = issued["token"]
            .as_str()
            .context("a token was not shown")?
            .to_owned();
        let (database, connection) = tokio_postgres::connect(postgres, NoTls).await?;
        tokio::spawn(connection);
        let made = database
            .query(MAKE_AGENTS, &[&account, &i64::from(agents)])
            .await?;
        let agent_tokens = made.iter().map(|row| row.try_get::<_, String>("token"));
        let agent_tokens = agent_tokens.collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            client,
            account,
            human_token,
            agent_tokens,
        })
    }

    /// Writes to an agent; how long that took.
    async fn write(&self, number: usize) -> anyhow::Result<Duration> {
        let body = json!({"to": format!("agent:{}", name(number)), "title": "Something has come"});
        let began = Instant::now();
        self.client
            .call(&self.human_token, Method::POST, "/v1/directives", Some(&body))
            .await
            .with_context(|| format!("write in account {}", self.account))?;
        Ok(began.elapsed())
    }
}

fn name(number: usize) -> String {
    format!("bench/waiting-{number}")
}

/// What goes round through NATS alone.
struct Echo {
    publisher: async_nats::Client,
    subscription: async_nats::Subscriber,
}

impl Echo {
    const SUBJECT: &str = "bench.echo";

    async fn connect(url: &str) -> anyhow::Result<Self> {
        let publisher = async_nats::connect(url).await.context("connect to NATS")?;
        let listener = async_nats::connect(url).await.context("connect to NATS")?;
        let subscription = listener.subscribe(Self::SUBJECT).await?;
        listener.flush().await?;
        Ok(Self {
            publisher,
            subscription,
        })
    }

    async fn round_trip(&mut self) -> anyhow::Result<Duration> {
        let began = Instant::now();
        self.publisher.publish(Self::SUBJECT, "".into()).await?;
        self.subscription.next().await.context("NATS has gone")?;
        Ok(began.elapsed())
    }
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^53 bytes")]
fn per_poll(before: u64, held: u64, polls: u32) -> f64 {
    held.saturating_sub(before) as f64 / f64::from(polls)
}

impl Report {
    pub(crate) fn to_json(&self) -> anyhow::Result<String> {
        Ok(serde_json::to_string_pretty(self)?)
    }

    pub(crate) fn to_table(&self) -> String {
        let [before, held] = self.resident_bytes.map(|bytes| bytes / (1024 * 1024));
        let mut table = format!(
            "{} polls held over {} connections, {} of them answered\n\n\
             gateway   {before} MiB before, {held} MiB with all held: {:.1} KiB a poll\n\n",
            self.polls,
            self.connections,
            self.answered,
            self.bytes_per_poll / 1024.0
        );
        let _ = writeln!(table, "{:<28}{:>10}{:>10}", "", "p50 ms", "p99 ms");
        for (name, latency) in [
            ("enqueue to the poll's answer", &self.answer),
            ("enqueue to its own answer", &self.accepted),
            ("NATS alone", &self.nats),
        ] {
            let Latency { p50_ms, p99_ms } = latency;
            let _ = writeln!(table, "{name:<28}{p50_ms:>10.2}{p99_ms:>10.2}");
        }
        let (p50, p99) = (self.ratio_p50, self.ratio_p99);
        let _ = write!(table, "{:<28}{p50:>10.1}{p99:>10.1}", "poll's answer to NATS");
        table
    }
}
