//! Who works with the hub while it fails. Each kind of client is a module that starts as many tasks as it wants; what
//! they do and are told goes into the history.

mod drains;
mod handler;
mod messages;
mod writers;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::caller::{Asked, Caller};
use super::evidence::{Entry, Message};
use super::history::{Deed, History};
use super::house::House;
use crate::client::{Account, Api, segment};
use crate::sink::CallbackSink;

const AGENT: &str = "campaign/agent";
const SECRET_REF: &str = "env:CAMPAIGN_SECRET";
/// What pushes are signed with.
pub(super) const SECRET: &str = "a secret of the campaign, 0123456789";
/// What mailbox entries are signed with.
pub(super) const ENTRY_SECRET: &str = "a secret of the campaign's mailboxes, 0123456789";
const HUMANS: [&str; 3] = ["alice", "bob", "carol"];
/// Agents that people write to. The last one drains its mailbox only when all is over.
const WORKERS: [&str; 3] = ["campaign/worker-1", "campaign/worker-2", "campaign/sleeper"];
/// Drains of one mailbox at once.
const DRAINS_AT_ONCE: usize = 2;
/// Lives of messages for each who writes directives beside them.
const MESSAGES_PER_WRITER: usize = 6;
/// Final reads under way at once.
const READS_AT_ONCE: usize = 16;

/// An account with an agent that asks and agents that are told, some humans, and where Responses are pushed to.
pub(super) struct Field {
    seed: u64,
    agent: Caller,
    humans: Vec<Caller>,
    workers: Vec<Caller>,
    callback_url: String,
    stop: CancellationToken,
    /// Which gateway is asked next.
    turn: AtomicUsize,
}

impl Field {
    /// Makes the account, on a hub that does not fail yet.
    pub(super) async fn lay(
        house: &House,
        sink: &CallbackSink,
        seed: u64,
        history: &History,
    ) -> anyhow::Result<Arc<Self>> {
        let account = Account::create(house.admin(), "campaign").await;
        let caller = |name: &str, api: &Api| Caller::new(name, api, &house.base_urls, history.clone());
        let agent = account.agent(AGENT).await;
        account.approve_host(AGENT, &sink.host()).await;
        account.put_secret(AGENT, SECRET_REF, SECRET).await;
        let mut humans = Vec::new();
        for name in HUMANS {
            let human = account.human(name, "operator").await;
            humans.push(caller(&human.address(), &human));
        }
        let mut workers = Vec::new();
        for name in WORKERS {
            let worker = account.agent(name).await;
            account.put_hmac_entry_key(name, ENTRY_SECRET).await;
            workers.push(caller(&format!("agent:{name}"), &worker));
        }
        Ok(Arc::new(Self {
            seed,
            agent: caller("agent", &agent),
            humans,
            workers,
            callback_url: sink.url("/resume"),
            stop: CancellationToken::new(),
            turn: AtomicUsize::new(0),
        }))
    }

    /// Where Responses are pushed to.
    pub(super) fn callback_url(&self) -> &str {
        &self.callback_url
    }

    /// Starts every kind of client.
    pub(super) fn work(self: &Arc<Self>, sink: &Arc<CallbackSink>, at_once: usize) -> JoinSet<()> {
        let mut tasks = JoinSet::new();
        let mut seeds = (0..).map(|number| StdRng::seed_from_u64(self.seed.wrapping_add(number)));
        let mut dice = || seeds.next().unwrap_or_else(|| StdRng::seed_from_u64(self.seed));
        for number in 0..at_once {
            tasks.spawn(messages::run(Arc::clone(self), number, dice()));
        }
        for number in 0..at_once.div_ceil(MESSAGES_PER_WRITER) {
            tasks.spawn(writers::run(Arc::clone(self), number, dice()));
        }
        for worker in &self.workers[..self.workers.len() - 1] {
            for _ in 0..DRAINS_AT_ONCE {
                tasks.spawn(drains::run(Arc::clone(self), worker.clone(), dice()));
            }
        }
        tasks.spawn(handler::run(Arc::clone(self), Arc::clone(sink)));
        tasks
    }

    /// Asks all clients to finish what they have in hand, and waits until they have.
    pub(super) async fn rest(&self, mut tasks: JoinSet<()>) -> anyhow::Result<()> {
        self.stop.cancel();
        while let Some(ended) = tasks.join_next().await {
            ended.context("a client broke")?;
        }
        Ok(())
    }

    /// Reads every message once more, on a hub that does not fail any more.
    pub(super) async fn read_all(self: &Arc<Self>, messages: impl Iterator<Item = &Message>) {
        let mut reads = JoinSet::new();
        for message in messages {
            if reads.len() >= READS_AT_ONCE {
                reads.join_next().await;
            }
            let (field, id) = (Arc::clone(self), message.id.clone());
            reads.spawn(async move { field.read(&field.humans[0], false, &id).await });
        }
        reads.join_all().await;
    }

    /// Drains every mailbox until all that may still be drained was shown, on a hub that does not fail any more; not for
    /// longer than this.
    pub(super) async fn drain_out(self: &Arc<Self>, entries: impl Iterator<Item = &Entry>, within: Duration) {
        let now = self.agent.history().clock.now();
        let mut left: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for entry in entries.filter(|entry| !entry.is_dropped(now + within)) {
            left.entry(&entry.agent).or_default().insert(entry.id.clone());
        }
        let mut drains = JoinSet::new();
        for worker in &self.workers {
            let left = left.remove(worker.name()).unwrap_or_default();
            drains.spawn(drains::run_out(Arc::clone(self), worker.clone(), left, within));
        }
        drains.join_all().await;
    }

    async fn read(&self, reader: &Caller, by_submitter: bool, id: &str) {
        let asked = Asked::get(format!("/v1/messages/{}", segment(id)), Duration::ZERO);
        let id = id.to_owned();
        let deed = move |_| {
            let id = id.clone();
            (Deed::Read { id, by_submitter }, None)
        };
        reader.persist(self.next_gateway(), &asked, deed).await;
    }

    fn next_gateway(&self) -> usize {
        self.turn.fetch_add(1, Ordering::Relaxed)
    }
}
