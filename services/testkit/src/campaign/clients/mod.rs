//! Who works with the hub while it fails. Each kind of client is a module that starts as many tasks as it wants; what
//! they do and are told goes into the history.

mod messages;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Context as _;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::caller::{Asked, Caller};
use super::evidence::Message;
use super::history::{Deed, History};
use super::house::House;
use crate::client::{Account, Api, segment};
use crate::sink::CallbackSink;

const AGENT: &str = "campaign/agent";
const SECRET_REF: &str = "env:CAMPAIGN_SECRET";
/// What pushes are signed with.
pub(super) const SECRET: &str = "a secret of the campaign, 0123456789";
const HUMANS: [&str; 3] = ["alice", "bob", "carol"];
/// Final reads under way at once.
const READS_AT_ONCE: usize = 16;

/// An account with an agent and some humans, and where its Responses are pushed to.
pub(super) struct Field {
    seed: u64,
    agent: Caller,
    humans: Vec<Caller>,
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
        Ok(Arc::new(Self {
            seed,
            agent: caller("agent", &agent),
            humans,
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
    pub(super) fn work(self: &Arc<Self>, at_once: usize) -> JoinSet<()> {
        let mut tasks = JoinSet::new();
        for number in 0..at_once {
            let dice = StdRng::seed_from_u64(self.seed.wrapping_add(number as u64));
            tasks.spawn(messages::run(Arc::clone(self), number, dice));
        }
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

    async fn read(&self, reader: &Caller, by_submitter: bool, id: &str) {
        let asked = Asked::get(format!("/v1/messages/{}", segment(id)), std::time::Duration::ZERO);
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
