//! Submit, resolve, push: what each costs.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use hdrhistogram::Histogram;
use indicatif::{ProgressBar, ProgressStyle};
use reqwest::Method;
use serde_json::{Value, json};

use crate::client::Client;
use crate::cpu;
use crate::description::Description;
use crate::report::{Report, Step, micros};
use crate::sink::Sink;

/// How long pushes may take to arrive after the last resolve, before the benchmark gives up.
const PUSHES_TIMEOUT: Duration = Duration::from_mins(2);
const SECRET_REF: &str = "env:BENCH_SECRET";
const AGENT_PATH: &str = "bench%2Fagent";

/// How much is asked of the hub.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    pub messages: u32,
    pub concurrency: u32,
}

/// One agent and one human of an account of their own.
struct Cast {
    agent_token: String,
    human_token: String,
    callback_url: String,
}

/// A hub under load, with a cast of its own.
pub(crate) struct Bench {
    client: Client,
    pids: BTreeMap<String, Vec<u32>>,
    cast: Cast,
    sink: Sink,
    load: Load,
}

pub(crate) async fn run(description: &Path, load: Load) -> anyhow::Result<Report> {
    let bench = Bench::start(description, load, Sink::start().await?).await?;
    let (submit, ids) = bench.submit().await?;
    let (resolve, resolved_at) = bench.resolve(&ids).await?;
    let push = bench.await_pushes(&resolved_at).await?;
    Ok(Report {
        messages: load.messages,
        concurrency: load.concurrency,
        steps: vec![submit, resolve, push],
    })
}

async fn prepare(client: &Client, admin: &str, sink_host: &str) -> anyhow::Result<Cast> {
    let account = format!(
        "bench-{}",
        SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos()
    );
    let base = format!("/admin/v1/accounts/{account}");
    let post =
        |path: String, body: Value| async move { client.call(admin, Method::POST, &path, Some(&body)).await };

    post(
        "/admin/v1/accounts".into(),
        json!({"id": account, "name": "Benchmark"}),
    )
    .await?;
    post(
        format!("{base}/humans"),
        json!({"id": "judge", "email": "judge@bench.example", "role": "operator"}),
    )
    .await?;
    post(format!("{base}/agents"), json!({"id": "bench/agent"})).await?;
    let host = json!({"host": sink_host, "method": "operator"});
    post(format!("{base}/agents/{AGENT_PATH}/callback-hosts"), host).await?;
    let secret = json!({"ref": SECRET_REF, "value": "a secret of the benchmark, worth nothing"});
    client
        .call(
            admin,
            Method::PUT,
            &format!("{base}/agents/{AGENT_PATH}/secrets"),
            Some(&secret),
        )
        .await?;

    let token = |subject: &'static str| {
        let issued = post(format!("{base}/tokens"), json!({"subject": subject}));
        async move { anyhow::Ok(text(&issued.await?, "token")?.to_owned()) }
    };
    Ok(Cast {
        agent_token: token("agent:bench/agent").await?,
        human_token: token("human:judge").await?,
        callback_url: format!("http://{sink_host}/push"),
    })
}

impl Bench {
    /// An account of its own, whose agent is called back at this sink.
    pub(crate) async fn start(description: &Path, load: Load, sink: Sink) -> anyhow::Result<Self> {
        let Description {
            base_urls,
            ca_cert,
            admin_token,
            pids,
            ..
        } = Description::read(description)?;
        let client = Client::new(base_urls, &ca_cert)?;
        let cast = prepare(&client, &admin_token, &sink.host)
            .await
            .context("prepare the account")?;
        Ok(Self {
            client,
            pids,
            cast,
            sink,
            load,
        })
    }

    pub(crate) async fn submit(&self) -> anyhow::Result<(Step, Vec<String>)> {
        let numbers: Vec<u32> = (0..self.load.messages).collect();
        self.step("submit", numbers, |number| async move {
            let ask = self.ask(number);
            let call = self
                .client
                .call(&self.cast.agent_token, Method::POST, "/v1/messages", Some(&ask));
            Ok(text(&call.await?, "id")?.to_owned())
        })
        .await
    }

    pub(crate) async fn resolve(&self, ids: &[String]) -> anyhow::Result<(Step, Vec<(String, Instant)>)> {
        let answer = json!({"resolution": "answered", "value": "approve"});
        let answer = &answer;
        self.step("resolve", ids.to_vec(), |id| async move {
            let path = format!("/v1/messages/{id}/resolve");
            let asked_at = Instant::now();
            self.client
                .call(&self.cast.human_token, Method::POST, &path, Some(answer))
                .await?;
            Ok((id, asked_at))
        })
        .await
    }

    /// From the resolve call of each message to the arrival of its Response. Pushes run beside the resolves, so
    /// what they cost the tiers is in that step's figures, and only the rest in this one's.
    pub(crate) async fn await_pushes(&self, resolved_at: &[(String, Instant)]) -> anyhow::Result<Step> {
        let cpu_before = cpu::seconds_by_tier(&self.pids)?;
        let progress = progress("push", self.load.messages);
        let all_in = async {
            while self.sink.count() < resolved_at.len() {
                progress.set_position(self.sink.count() as u64);
                self.sink.changed().await;
            }
        };
        tokio::time::timeout(PUSHES_TIMEOUT, all_in)
            .await
            .with_context(|| format!("{} of {} pushes arrived", self.sink.count(), resolved_at.len()))?;
        progress.finish_and_clear();

        let mut latencies_us = Histogram::new(3)?;
        let mut last = Duration::ZERO;
        let Some(began) = resolved_at.iter().map(|(_, at)| *at).min() else {
            anyhow::bail!("nothing was resolved")
        };
        for (id, asked_at) in resolved_at {
            let arrived_at = self.sink.arrived_at(id).context("a push is missing")?;
            latencies_us.record(micros(arrived_at.saturating_duration_since(*asked_at)))?;
            last = last.max(arrived_at.saturating_duration_since(began));
        }
        let spent = spent_since(&cpu_before, &self.pids)?;
        Ok(Step::new("push", self.load.messages, last, &latencies_us, &spent))
    }

    /// Makes one call for each input, so many at once, and measures.
    async fn step<I, O, F>(
        &self,
        name: &'static str,
        inputs: Vec<I>,
        call: impl Fn(I) -> F,
    ) -> anyhow::Result<(Step, Vec<O>)>
    where
        F: Future<Output = anyhow::Result<O>>,
    {
        let progress = progress(name, self.load.messages);
        let cpu_before = cpu::seconds_by_tier(&self.pids)?;
        let began = Instant::now();
        let calls = stream::iter(inputs).map(|input| {
            let (call, progress) = (call(input), &progress);
            async move {
                let asked_at = Instant::now();
                let output = call.await?;
                progress.inc(1);
                anyhow::Ok((output, asked_at.elapsed()))
            }
        });
        let results: Vec<(O, Duration)> = calls
            .buffer_unordered(self.load.concurrency as usize)
            .try_collect()
            .await
            .context(name)?;
        let took = began.elapsed();
        let spent = spent_since(&cpu_before, &self.pids)?;
        progress.finish_and_clear();

        let mut latencies_us = Histogram::new(3)?;
        let mut outputs = Vec::with_capacity(results.len());
        for (output, latency) in results {
            latencies_us.record(micros(latency))?;
            outputs.push(output);
        }
        Ok((
            Step::new(name, self.load.messages, took, &latencies_us, &spent),
            outputs,
        ))
    }

    fn ask(&self, number: u32) -> Value {
        json!({
            "ma2h_version": "0.6",
            "type": "ask",
            "created_at": "2026-01-01T00:00:00Z",
            "agent": {"id": "bench/agent", "run_id": "run_bench", "runtime": "other"},
            "title": format!("Ship build {number}?"),
            "body": "All checks passed. ".repeat(40),
            "idempotency_key": format!("bench-{number}"),
            "state": {"sealed": "x".repeat(400)},
            "request": {
                "mode": "confirm",
                "allowed_resolvers": ["human:judge"],
                "callback": {
                    "mode": "push",
                    "url": self.cast.callback_url,
                    "auth": {"scheme": "hmac", "secret_ref": SECRET_REF},
                },
            },
        })
    }
}

fn spent_since(
    before: &BTreeMap<String, f64>,
    pids: &BTreeMap<String, Vec<u32>>,
) -> anyhow::Result<BTreeMap<String, f64>> {
    let mut spent = cpu::seconds_by_tier(pids)?;
    for (tier, seconds) in &mut spent {
        *seconds -= before.get(tier).copied().unwrap_or(0.0);
    }
    Ok(spent)
}

fn progress(name: &'static str, total: u32) -> ProgressBar {
    let style = ProgressStyle::with_template("{prefix:>8} {bar:40} {pos}/{len} {per_sec}");
    ProgressBar::new(u64::from(total))
        .with_style(style.unwrap_or(ProgressStyle::default_bar()))
        .with_prefix(name)
}

fn text<'a>(answer: &'a Value, member: &str) -> anyhow::Result<&'a str> {
    answer[member]
        .as_str()
        .with_context(|| format!("the answer has no {member}"))
}
