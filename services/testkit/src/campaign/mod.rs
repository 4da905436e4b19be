//! The fault campaign: clients work with a hub of real processes while everything beneath them is killed, frozen, cut off
//! and put out of time, as a seed says; then the word of every client, the rows and the pushes are held against the rules.
//!
//! `make campaign` runs a long one, the hub's tests a short one.

mod caller;
mod clients;
mod evidence;
mod history;
mod house;
mod mailbox;
mod report;
mod rules;
mod schedule;
mod shim;
pub mod soak;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use hub_platform::config::Config;
use ma2h::sign::VerifyingKey;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use tokio::time::Instant;

pub use report::Figures;

use crate::database;
use crate::sink::{Answer, CallbackSink};

use clients::Field;
use evidence::{Arrival, Evidence};
use history::History;
use house::House;
use report::Failure;
use rules::Violation;
use schedule::Step;

/// What design rule 5 promises beside `republish_after` and the largest backoff.
const PROMISED_SLACK: Duration = Duration::from_secs(10);
/// How often what is owed is counted.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Answers of the callback that are drawn from the seed; what comes after them is taken.
const ANSWERS: usize = 100_000;

/// A campaign.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// What faults, clients and the callback's answers are drawn from.
    pub seed: u64,
    /// How long things fail.
    pub lasting: Duration,
    /// How long it is from one fault to the next, on average.
    pub pause: Duration,
    /// Processes of each tier.
    pub replicas: usize,
    /// Messages whose life is under way at once.
    pub at_once: usize,
    /// What a machine that is busy with other things is given beyond the bound on owed work.
    pub indulgence: Duration,
}

/// Runs a campaign. Where a rule was broken, the error tells all that is needed to look into it.
pub async fn run(options: &Options) -> anyhow::Result<Figures> {
    let dir = tempfile::Builder::new().prefix("hub-campaign-").tempdir()?;
    let steps = schedule::draw(options.seed, options.lasting, options.pause, options.replicas);
    let outcome = fail_and_judge(options, &steps, dir.path()).await;
    match outcome {
        Ok((figures, evidence, violations)) if violations.is_empty() => {
            drop(evidence);
            Ok(figures)
        }
        Ok((figures, evidence, violations)) => {
            let failure = Failure {
                seed: options.seed,
                steps: &steps,
                evidence: &evidence,
                violations: &violations,
                figures: &figures,
                dir: &dir.keep(),
            };
            failure.write_history()?;
            anyhow::bail!("{failure}")
        }
        Err(error) => {
            let dir = dir.keep();
            let context = format!("seed {}, logs in {}", options.seed, dir.display());
            Err(error.context(context))
        }
    }
}

async fn fail_and_judge(
    options: &Options,
    steps: &[Step],
    dir: &Path,
) -> anyhow::Result<(Figures, Evidence, Vec<Violation>)> {
    let mut house = House::start(dir, options.replicas, &[]).await?;
    let (sink, history) = (Arc::new(CallbackSink::http().await), History::begin());
    let field = Field::lay(&house, &sink, options.seed, &history).await?;
    sink.then(answers(options.seed));

    let clients = field.work(&sink, options.at_once);
    fail(&mut house, steps, options.lasting).await?;
    house.heal().await?;
    sink.recover();
    let bound = bound(&house.config) + options.indulgence;
    let (rested, settled) = tokio::join!(field.rest(clients), settle(&house, bound));
    rested?;
    let settled = settled?;

    house.await_ready().await?;
    let database = database::connect(house.database_url()).await;
    field
        .read_all(evidence::messages(&database).await?.values())
        .await;
    let closing_at = history.clock.now();
    let left = evidence::entries(&database).await?;
    field.drain_out(left.values(), bound).await;
    let mut evidence = Evidence {
        entries: evidence::entries(&database).await?,
        window: Duration::from_secs(house.config.inbound.visibility_timeout_seconds),
        closing_at: Some(closing_at),
        messages: evidence::messages(&database).await?,
        read_at: Some(history.clock.now()),
        calls: history.calls(),
        ..Evidence::default()
    };
    let key = VerifyingKey::hmac(clients::SECRET.as_bytes()).map_err(|error| anyhow::anyhow!("{error}"))?;
    let received = sink.received();
    let arrivals = received
        .iter()
        .map(|request| Arrival::of(request, field.callback_url(), &key));
    evidence.arrivals = arrivals.collect();
    house.stop().await?;

    let mut violations = rules::judge(&evidence);
    violations.extend(report::panics(dir)?);
    if settled.is_none() {
        let what = format!("not within {} s", bound.as_secs_f64());
        violations.push(Violation {
            rule: "owed work was not done in time",
            message: String::new(),
            what,
        });
    }
    Ok((Figures::of(&evidence, steps, settled), evidence, violations))
}

/// Does what the schedule says, each at its time or as soon after it as the one before is done.
async fn fail(house: &mut House, steps: &[Step], lasting: Duration) -> anyhow::Result<()> {
    let began = Instant::now();
    for step in steps {
        tokio::time::sleep_until(began + step.at).await;
        house.act(step.act).await.with_context(|| format!("at {step}"))?;
    }
    tokio::time::sleep_until(began + lasting).await;
    Ok(())
}

/// How long it took until nothing was owed any more; none if it took longer than this.
async fn settle(house: &House, within: Duration) -> anyhow::Result<Option<Duration>> {
    let began = Instant::now();
    let database = database::connect(house.database_url()).await;
    while began.elapsed() <= within {
        if evidence::owed(&database).await? == 0 {
            return Ok(Some(began.elapsed()));
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Ok(None)
}

/// By when all that is owed at the last fault is done.
fn bound(config: &Config) -> Duration {
    Duration::from_millis(config.lifecycle.republish_after_ms + config.callback.max_delay_ms) + PROMISED_SLACK
}

/// How the callback behaves: mostly well.
fn answers(seed: u64) -> impl Iterator<Item = Answer> {
    let mut dice = StdRng::seed_from_u64(seed);
    let late = Duration::from_millis(800);
    std::iter::repeat_with(move || match dice.random_range(0..100) {
        0..6 => Answer::Status(503),
        6..9 => Answer::Status(500),
        9..12 => Answer::Close,
        12..13 => Answer::Hang,
        13..15 => Answer::Status(410),
        15..22 => Answer::Status(204).after(late),
        22..24 => Answer::retry_after(1),
        _ => Answer::Status(204),
    })
    .take(ANSWERS)
}
