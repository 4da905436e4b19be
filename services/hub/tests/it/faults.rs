//! Processes die without warning; nothing that was accepted is lost, and what is owed arrives.

use std::collections::HashMap;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hub_platform::config::Secret;
use hub_platform::db::Tier;
use hub_platform::servers::{Nats, NatsOptions, Postgres, PostgresOptions};
use hub_testkit::{Reply, TestHub, eventually_within};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::persistent::Persistent;
use crate::races::Race;
use crate::stage::Stage;

const SETTLED_WITHIN: Duration = Duration::from_secs(90);
const WORKERS: usize = 6;
const KILLS_EACH: usize = 2;

/// What a client was told of one ask.
#[derive(Default)]
struct Told {
    /// Of a resolve that said it won.
    won: Option<Value>,
    /// Of every answer that named an outcome.
    statuses: Vec<Value>,
}

/// Asks are submitted, resolved and cancelled without end while each tier in turn is killed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_accepted_is_lost_when_tiers_are_killed() {
    let hub = TestHub::builder()
        .set("HUB_REPUBLISH_AFTER_MS", "2000")
        .processes(2)
        .await;
    let mut stage = Stage::on(hub).await;
    let running = Arc::new(AtomicBool::new(true));
    let mut workers = JoinSet::new();
    for number in 0..WORKERS {
        let load = Load::of(&stage, number);
        let running = Arc::clone(&running);
        workers.spawn(async move { load.run(&running).await });
    }

    for tier in [Tier::Lifecycle, Tier::Delivery, Tier::Gateway, Tier::Presence] {
        for number in 0..KILLS_EACH {
            let before = stage.sink.received().len();
            stage.hub.tiers().kill(tier, number).await;
            // The other replica goes on: the load moves before the killed one is back.
            stage.sink.await_received(before + 3).await;
            stage.hub.tiers().restart(tier, number);
            stage.hub.await_ready().await;
        }
    }
    running.store(false, Ordering::Relaxed);
    let told: HashMap<String, Told> = workers.join_all().await.into_iter().flatten().collect();
    assert!(told.len() > WORKERS, "the load stood still: {} asks", told.len());
    check(&stage, told).await;
}

/// Each tier dies while 64 calls race for one ask, and NATS loses all it holds.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_race_has_one_winner_also_while_tiers_are_killed() {
    let dir = tempfile::tempdir().unwrap();
    let mut nats = Nats::start(NatsOptions {
        dir: dir.path().to_owned(),
        port: 0,
    })
    .await
    .unwrap();
    let builder = TestHub::builder()
        .set("HUB_NATS_URL", nats.url.expose())
        .set("HUB_REPUBLISH_AFTER_MS", "2000");
    let mut stage = Stage::on(builder.processes(2).await).await;
    for tier in [Tier::Lifecycle, Tier::Gateway, Tier::Delivery, Tier::Presence] {
        for number in 0..KILLS_EACH {
            let race = Race::start(&stage, Duration::from_millis(700)).await;
            stage.hub.tiers().kill(tier, number).await;
            stage.hub.tiers().restart(tier, number);
            race.settle(&stage).await;
            stage.hub.await_ready().await;
        }
    }
    let race = Race::start(&stage, Duration::from_millis(700)).await;
    nats.kill().await.unwrap();
    std::fs::remove_dir_all(dir.path()).unwrap();
    nats = Nats::start(NatsOptions {
        dir: dir.path().to_owned(),
        port: nats.port,
    })
    .await
    .unwrap();
    race.settle(&stage).await;
    drop(nats);
}

/// PostgreSQL stops at once and comes back: what was answered before is there, and what was asked meanwhile is done.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_accepted_is_lost_when_postgresql_is_killed() {
    let dir = tempfile::Builder::new()
        .permissions(std::fs::Permissions::from_mode(0o755))
        .tempdir()
        .unwrap();
    let options = |port| PostgresOptions {
        dir: dir.path().join("postgres"),
        port,
        fsync: true,
    };
    let mut postgres = Postgres::start(options(0)).await.unwrap();
    let migrating = Secret::new(postgres.url.expose().to_owned());
    ma2h_hub::migrate::migrate(&migrating).await.unwrap();
    let hub = TestHub::builder()
        .set("HUB_DATABASE_URL", postgres.url.expose())
        .set("HUB_REPUBLISH_AFTER_MS", "2000")
        .processes(1)
        .await;
    let stage = Stage::on(hub).await;
    let running = Arc::new(AtomicBool::new(true));
    let mut workers = JoinSet::new();
    for number in 0..WORKERS {
        let load = Load::of(&stage, number);
        let running = Arc::clone(&running);
        workers.spawn(async move { load.run(&running).await });
    }
    for _ in 0..KILLS_EACH {
        stage.sink.await_received(stage.sink.received().len() + 5).await;
        let port = postgres.port;
        postgres.kill().await.unwrap();
        postgres = Postgres::start(options(port)).await.unwrap();
    }
    stage.sink.await_received(stage.sink.received().len() + 5).await;
    running.store(false, Ordering::Relaxed);
    let told: HashMap<String, Told> = workers.join_all().await.into_iter().flatten().collect();
    check(&stage, told).await;
    drop(postgres);
}

/// The whole of NATS is gone, with all it held; the relay publishes again what is due.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn owed_pushes_arrive_after_nats_has_lost_everything() {
    let dir = tempfile::tempdir().unwrap();
    let nats = Nats::start(NatsOptions {
        dir: dir.path().to_owned(),
        port: 0,
    })
    .await
    .unwrap();
    let builder = TestHub::builder()
        .set("HUB_NATS_URL", nats.url.expose())
        .set("HUB_REPUBLISH_AFTER_MS", "2000");
    let stage = Stage::on(builder.processes(1).await).await;
    let before = answered(&stage).await;
    nats.kill().await.unwrap();
    let mut during = Vec::new();
    for _ in 0..5 {
        during.push(answered(&stage).await);
    }
    std::fs::remove_dir_all(dir.path()).unwrap();
    let _nats = Nats::start(NatsOptions {
        dir: dir.path().to_owned(),
        port: nats.port,
    })
    .await
    .unwrap();
    let after = answered(&stage).await;
    for id in during.iter().chain([&before, &after]) {
        pushed(&stage, id).await;
    }
    let polled = stage.agent.wait(&after, 60).await.expect(200);
    assert_eq!(polled["status"], "answered");
}

async fn answered(stage: &Stage) -> String {
    let id = stage.agent.submitted(&stage.confirm_with_push()).await;
    stage.alice.answer(&id, "approve").await.expect(200);
    id
}

async fn pushed(stage: &Stage, id: &str) -> Value {
    eventually_within(SETTLED_WITHIN, "an owed push", || async {
        stage
            .sink
            .received()
            .iter()
            .find(|push| push.text().contains(id))
            .map(hub_testkit::Received::json)
    })
    .await
}

/// One client's endless work: submit, then end the ask in one of three ways.
struct Load {
    number: usize,
    agent: Persistent,
    human: Persistent,
    ask: Value,
}

impl Load {
    fn of(stage: &Stage, number: usize) -> Self {
        let urls = stage.hub.base_urls();
        Self {
            number,
            agent: Persistent::new(&stage.agent, urls),
            human: Persistent::new(&stage.alice, urls),
            ask: stage.confirm_with_push(),
        }
    }

    async fn run(self, running: &AtomicBool) -> HashMap<String, Told> {
        let mut told = HashMap::new();
        for round in 0.. {
            if !running.load(Ordering::Relaxed) {
                break;
            }
            let mut ask = self.ask.clone();
            ask["idempotency_key"] = json!(format!("{}-{round}", self.number));
            let id = self.submit(round, &ask).await;
            told.insert(id.clone(), self.end(round, &id).await);
            let again = self.submit(round + 1, &ask).await;
            assert_eq!(again, id, "a retry of an accepted submit made another message");
        }
        told
    }

    async fn submit(&self, round: usize, ask: &Value) -> String {
        let reply = self.agent.post(self.number + round, "/v1/messages", ask).await;
        reply.expect(202);
        reply.text_at("id")
    }

    async fn end(&self, round: usize, id: &str) -> Told {
        let mut told = Told::default();
        let first = self.number + round;
        if !round.is_multiple_of(3) {
            let answer = json!({"resolution": "answered", "value": "approve"});
            let reply = self
                .human
                .post(first, &format!("/v1/messages/{id}/resolve"), &answer)
                .await;
            told.note(&reply, true);
        }
        if round % 3 != 1 {
            let reply = self
                .agent
                .post(first, &format!("/v1/messages/{id}/cancel"), &json!({}))
                .await;
            told.note(&reply, false);
        }
        told
    }
}

impl Told {
    fn note(&mut self, reply: &Reply, resolve: bool) {
        let body = reply.json();
        assert!(
            [200, 409].contains(&reply.status.as_u16()),
            "{}: {body}",
            reply.status
        );
        self.statuses.push(body["status"].clone());
        if resolve && reply.status.as_u16() == 200 {
            self.won = Some(body["resolution_id"].clone());
        }
    }
}

/// Every ask that was accepted is there with one outcome, everybody was told that one, and its push arrived.
async fn check(stage: &Stage, told: HashMap<String, Told>) {
    for (id, told) in told {
        let message = stage.agent.message(&id).await.expect(200);
        let (status, resolution_id) = (&message["status"], &message["response"]["resolution_id"]);
        for said in &told.statuses {
            assert_eq!(said, status, "{id} was told otherwise");
        }
        if let Some(won) = &told.won {
            assert_eq!(won, resolution_id, "{id}: a resolve that had won was replaced");
        }
        let push = pushed(stage, &id).await;
        assert_eq!(&push["resolution_id"], resolution_id, "{id}");
    }
    let mut outcomes: HashMap<String, Value> = HashMap::new();
    for push in stage.sink.received() {
        let body = push.json();
        let id = body["in_reply_to"].as_str().unwrap().to_owned();
        let first = outcomes
            .entry(id)
            .or_insert_with(|| body["resolution_id"].clone());
        assert_eq!(
            first, &body["resolution_id"],
            "two resolutions of one ask were pushed"
        );
    }
}
