//! Agents that wait for their mailboxes at one gateway: what each held poll takes of its memory, and how soon it hears of
//! what comes, beside what NATS alone takes for a word to go round.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use futures_util::StreamExt as _;
use futures_util::stream::{self, TryStreamExt as _};
use hdrhistogram::Histogram;
use reqwest::Method;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

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
/// Calls of one poll that may find no answer, as when a gateway is too busy to look after its caller; and how long it waits.
const FAILURES_MAX: u32 = 20;
const PAUSE: Duration = Duration::from_millis(200);
/// Calls at once that make agents and their tokens.
const CALLS_AT_ONCE: usize = 32;

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
    /// Calls that found no answer and were made again.
    repeated: u32,
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
    let stage = Stage::lay(client, &admin_token, load.polls).await?;

    let before = memory::resident_bytes(pid)?;
    let mut clients = Vec::new();
    for _ in 0..load.connections {
        let client = Client::of_one_connection(base_urls.clone(), &ca_cert, POLL_TIMEOUT)?;
        client
            .call(&stage.agent_tokens[0], Method::HEAD, "/v1/inbox", None)
            .await?;
        clients.push(Arc::new(client));
    }
    let (answered, mut answers) = mpsc::unbounded_channel();
    let repeated = Arc::new(AtomicU32::new(0));
    let mut polls = JoinSet::new();
    for (number, token) in stage.agent_tokens.iter().enumerate() {
        let polling = Polling {
            client: Arc::clone(&clients[number % clients.len()]),
            token: token.clone(),
            number,
            answered: answered.clone(),
            repeated: Arc::clone(&repeated),
        };
        polls.spawn(polling.run());
    }
    await_held(metrics, load.polls, &mut polls).await?;
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
    }
    let [answer, accepted, nats] = [answer_us, accepted_us, nats_us].map(|us| Latency::of(&us));
    Ok(Report {
        polls: load.polls,
        connections: load.connections,
        answered: load.answered,
        resident_bytes: [before, held],
        bytes_per_poll: per_poll(before, held, load.polls),
        repeated: repeated.load(Ordering::Relaxed),
        ratio_p50: answer.p50_ms / nats.p50_ms,
        ratio_p99: answer.p99_ms / nats.p99_ms,
        answer,
        accepted,
        nats,
    })
}

/// Waits until the gateway says that it holds so many polls.
async fn await_held(
    metrics: &str,
    polls: u32,
    running: &mut JoinSet<anyhow::Result<()>>,
) -> anyhow::Result<()> {
    let http = reqwest::Client::builder().no_proxy().build()?;
    let until = Instant::now() + PATIENCE;
    let mut held = 0.0;
    while Instant::now() < until {
        if let Some(ended) = running.try_join_next() {
            ended??;
        }
        let text = http.get(metrics).send().await?.text().await?;
        let gauge = text
            .lines()
            .find_map(|line| line.strip_prefix("hub_http_held_requests{kind=\"poll\"} "));
        held = gauge.map_or(Ok(0.0), str::parse)?;
        if held >= f64::from(polls) {
            return Ok(());
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    anyhow::bail!(
        "the gateway holds {held} polls of {polls}; HUB_GATEWAY_HELD_REQUESTS_MAX must allow for all"
    )
}

/// An agent that waits for its mailbox.
struct Polling {
    client: Arc<Client>,
    token: String,
    number: usize,
    answered: mpsc::UnboundedSender<Answer>,
    repeated: Arc<AtomicU32>,
}

impl Polling {
    /// Polls until something comes.
    async fn run(self) -> anyhow::Result<()> {
        let path = format!("/v1/inbox?wait={WAIT_SECONDS}");
        let mut failures = 0;
        loop {
            match self.client.call(&self.token, Method::GET, &path, None).await {
                Ok(drained) if drained["messages"][0].is_object() => {
                    // Nobody listens any more once all is measured.
                    let _ = self.answered.send((self.number, Instant::now()));
                    return Ok(());
                }
                Ok(_) => {}
                Err(error) if failures == FAILURES_MAX => return Err(error),
                Err(_) => {
                    failures += 1;
                    self.repeated.fetch_add(1, Ordering::Relaxed);
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }
}

async fn await_answer(
    answers: &mut mpsc::UnboundedReceiver<Answer>,
    number: usize,
) -> anyhow::Result<Instant> {
    let answer = tokio::time::timeout(PATIENCE, answers.recv()).await;
    let (other, at) = answer
        .with_context(|| format!("poll {number} heard of nothing"))?
        .context("no poll is left")?;
    anyhow::ensure!(other == number, "poll {other} was answered for poll {number}");
    Ok(at)
}

impl Stage {
    /// An account with so many agents, each with a token of its own.
    async fn lay(client: Client, admin: &str, agents: u32) -> anyhow::Result<Self> {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH)?;
        let account = format!("polls-{}", since_1970.as_nanos());
        let base = format!("/admin/v1/accounts/{account}");
        let post = async |path: &str, body: Value| client.call(admin, Method::POST, path, Some(&body)).await;
        post("/admin/v1/accounts", json!({"id": account, "name": "Polls"})).await?;
        let human = json!({"id": "author", "email": "author@bench.example", "role": "operator"});
        post(&format!("{base}/humans"), human).await?;
        let tokens = format!("{base}/tokens");
        let token = async |subject: String| {
            let issued = post(&tokens, json!({"subject": subject})).await?;
            let token = issued["token"].as_str().context("a token was not shown")?;
            anyhow::Ok(token.to_owned())
        };
        let human_token = token("human:author".to_owned()).await?;
        let made = stream::iter(0..agents).map(|number| {
            let (post, token, base) = (&post, &token, &base);
            async move {
                post(&format!("{base}/agents"), json!({"id": name(number as usize)})).await?;
                token(format!("agent:{}", name(number as usize))).await
            }
        });
        let agent_tokens = made.buffered(CALLS_AT_ONCE).try_collect().await?;
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
            "{} polls held over {} connections, {} of them answered; {} calls had to be made again\n\n\
             gateway   {before} MiB before, {held} MiB with all held: {:.1} KiB a poll\n\n",
            self.polls,
            self.connections,
            self.answered,
            self.repeated,
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
