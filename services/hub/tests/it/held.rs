//! Many calls that are held at one gateway, each of an agent with a credential of its own.

use std::time::Duration;

use hub_platform::servers::{Nats, NatsOptions};
use hub_testkit::{Account, Agent, Api, Human, Reply, TestHub, TestHubBuilder, certificates, eventually};
use tokio::task::JoinHandle;

use crate::durability::await_held_at;
use crate::mailbox::{directed, drained};

/// Far more than a tier has connections, over connections of which each takes fewer than it may.
const POLLS: u32 = 160;
const POLLS_PER_CONNECTION: u32 = 80;
/// How long a call waits for a connection, and how long none can be had.
const ACQUIRE_MS: u64 = 250;
const BLOCKED_FOR: Duration = Duration::from_millis(750);

/// A gateway that many agents know, and a person who writes to them.
struct Crowd {
    hub: TestHub,
    account: Account,
    alice: Human,
    agents: Vec<Agent>,
}

impl Crowd {
    async fn gather(builder: TestHubBuilder) -> Self {
        let hub = builder.processes(1).await;
        let account = hub.account("crowd").await;
        let alice = account.human("alice", "operator").await;
        let database = hub.database().connect().await;
        let joining = "
            WITH crowd AS (
                SELECT number, 'crowd/' || number AS agent
                FROM generate_series(0, $2::bigint - 1) AS number
            ),
            agents AS (
                INSERT INTO directory.agents (account, agent) SELECT $1, agent FROM crowd
            )
            INSERT INTO directory.tokens (account, token, agent, token_hash)
            SELECT $1, 'tok_' || number, agent,
                sha256(convert_to('ma2h_agent_' || lpad(number::text, 43, 'c'), 'UTF8'))
            FROM crowd";
        database
            .execute(joining, &[&account.id(), &i64::from(POLLS)])
            .await
            .unwrap();
        let mut agents = Vec::new();
        let mut http = certificates::client();
        for number in 0..POLLS {
            if number % POLLS_PER_CONNECTION == 0 {
                http = certificates::client();
            }
            let token = format!("ma2h_agent_{number:c>43}");
            let api = Api::new(http.clone(), hub.base_url(), Some(token));
            agents.push(Agent::new(&format!("crowd/{number}"), api));
        }
        Self {
            hub,
            account,
            alice,
            agents,
        }
    }

    /// All poll at once, for so long.
    fn poll(&self, seconds: u32) -> Vec<JoinHandle<Reply>> {
        let polls = self.agents.iter().cloned();
        polls
            .map(|agent| tokio::spawn(async move { agent.get(&format!("/v1/inbox?wait={seconds}")).await }))
            .collect()
    }

    /// Waits until all polls are held; one that was answered meanwhile fails the test.
    async fn await_held(&mut self) {
        await_held_at(&self.hub.tiers().metrics()[0].clone(), POLLS).await;
    }
}

/// None is refused because others came with it, though none of their credentials can be read for a while; each hears of what
/// comes for it; and all end when their credentials do, which no wake-up tells of here.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_burst_of_polls_is_held_whole_and_ends_whole_when_its_credentials_end() {
    let builder = TestHub::builder().set("HUB_DATABASE_ACQUIRE_TIMEOUT_MS", ACQUIRE_MS);
    let mut crowd = Crowd::gather(builder).await;
    let mut superuser = crowd.hub.database().connect().await;
    let blocked = superuser.transaction().await.unwrap();
    blocked
        .batch_execute("LOCK TABLE directory.tokens IN ACCESS EXCLUSIVE MODE")
        .await
        .unwrap();
    let mut polls = crowd.poll(60);
    tokio::time::sleep(BLOCKED_FOR).await;
    blocked.rollback().await.unwrap();
    crowd.await_held().await;
    assert!(polls.iter().all(|poll| !poll.is_finished()), "a poll was refused");

    for number in [0, POLLS / 2, POLLS - 1].into_iter().rev() {
        let agent = &crowd.agents[number as usize];
        let id = directed(&crowd.alice, agent.id(), "Go on").await;
        let reply = polls.swap_remove(number as usize).await.unwrap();
        let drained = drained(&reply);
        assert_eq!(drained.len(), 1);
        assert_eq!(drained[0].id, id);
    }

    superuser
        .execute(
            "DELETE FROM directory.tokens WHERE account = $1 AND agent IS NOT NULL",
            &[&crowd.account.id()],
        )
        .await
        .unwrap();
    for poll in polls {
        poll.await.unwrap().expect_error(401, "unauthenticated");
    }
}

/// Those whose time is up together, and come again together.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn polls_that_end_together_all_get_their_answer() {
    let crowd = Crowd::gather(TestHub::builder()).await;
    for _ in 0..2 {
        for poll in crowd.poll(1) {
            let reply = poll.await.unwrap();
            assert!(drained(&reply).is_empty());
        }
    }
    let database = crowd.hub.database().connect().await;
    eventually("presence to know of all", || async {
        let count = "SELECT count(*) FROM presence.principals WHERE account = $1";
        let row = database.query_one(count, &[&crowd.account.id()]).await.unwrap();
        (row.get::<_, i64>(0) == i64::from(POLLS)).then_some(())
    })
    .await;
}

/// No beat comes in time: that NATS is back is what makes the gateway look, once for all.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_came_while_nats_was_away_is_told_when_it_is_back() {
    let dir = tempfile::tempdir().unwrap();
    let options = |port| NatsOptions {
        dir: dir.path().to_owned(),
        port,
    };
    let nats = Nats::start(options(0)).await.unwrap();
    let builder = TestHub::builder()
        .set("HUB_NATS_URL", nats.url.expose())
        .set("HUB_GATEWAY_BEAT_INTERVAL_MS", 60_000);
    let mut crowd = Crowd::gather(builder).await;
    let polls = crowd.poll(60);
    crowd.await_held().await;
    let port = nats.port;
    nats.kill().await.unwrap();
    let mut written = Vec::new();
    for number in [0, POLLS - 1] {
        let agent = &crowd.agents[number as usize];
        written.push((number, directed(&crowd.alice, agent.id(), "Go on").await));
    }
    let _nats = Nats::start(options(port)).await.unwrap();
    eventually("those who were written to to be told", || async {
        let told = |(number, _): &(u32, String)| polls[*number as usize].is_finished();
        written.iter().all(told).then_some(())
    })
    .await;
    for (number, poll) in (0..).zip(polls) {
        if poll.is_finished() {
            let told = poll.await.unwrap();
            let own = written.iter().find(|(written, _)| *written == number);
            let own = own.unwrap_or_else(|| panic!("{number} was told {}: {}", told.status, told.text));
            assert!(told.text.contains(&own.1), "{number}: {}", told.text);
        } else {
            poll.abort();
        }
    }
}
