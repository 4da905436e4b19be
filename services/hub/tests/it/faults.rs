//! Processes die without warning; nothing that was accepted is lost, and what is owed arrives.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hub_platform::db::Tier;
use hub_platform::servers::{Nats, NatsOptions};
use hub_testkit::{Reply, TestHub, eventually_within};
use serde_json::{Value, json};
use tokio::task::JoinSet;

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
    agents: Vec<hub_testkit::Agent>,
    humans: Vec<hub_testkit::Human>,
    ask: Value,
}

impl Load {
    fn of(stage: &Stage, number: usize) -> Self {
        let urls = stage.hub.base_urls();
        Self {
            number,
            agents: urls.iter().map(|url| stage.agent.on(url)).collect(),
            humans: urls.iter().map(|url| stage.alice.on(url)).collect(),
            ask: stage.confirm_with_push(),
        }
    }

    async fn run(self, running: &AtomicBool) -> HashMap<String, Told> {
        let mut told = HashMap::new();
        for round in 0.. {
            if !running.load(Ordering::Relaxed) {
                break;
            }
            let (id, ask) = self.submit(round).await;
            told.insert(id.clone(), self.end(round, &id).await);
            let again = self
                .until_answered(
                    round,
                    |gateway| self.agents[gateway].clone(),
                    "/v1/messages",
                    &ask,
                )
                .await;
            assert_eq!(
                again.expect(202)["id"],
                id.as_str(),
                "a retry of an accepted submit made another message"
            );
        }
        told
    }

    /// With the same key until a gateway answers, as §8.1 says.
    async fn submit(&self, round: usize) -> (String, Value) {
        let mut ask = self.ask.clone();
        ask["idempotency_key"] = json!(format!("{}-{round}", self.number));
        let reply = self
            .until_answered(
                round,
                |gateway| self.agents[gateway].clone(),
                "/v1/messages",
                &ask,
            )
            .await;
        (reply.expect(202)["id"].as_str().unwrap().to_owned(), ask)
    }

    async fn end(&self, round: usize, id: &str) -> Told {
        let mut told = Told::default();
        let answer = json!({"resolution": "answered", "value": "approve"});
        if round % 3 != 0 {
            let path = format!("/v1/messages/{id}/resolve");
            let reply = self
                .until_answered(round, |gateway| self.humans[gateway].clone(), &path, &answer)
                .await;
            told.note(&reply, true);
        }
        if round % 3 != 1 {
            let path = format!("/v1/messages/{id}/cancel");
            let reply = self
                .until_answered(round, |gateway| self.agents[gateway].clone(), &path, &json!({}))
                .await;
            told.note(&reply, false);
        }
        told
    }

    /// Tries the gateways in turn until one gives an answer that is not a 5xx.
    async fn until_answered<A>(
        &self,
        round: usize,
        caller: impl Fn(usize) -> A,
        path: &str,
        body: &Value,
    ) -> Reply
    where
        A: std::ops::Deref<Target = hub_testkit::Api>,
    {
        for attempt in 0..600 {
            let api = caller((self.number + round + attempt) % self.agents.len());
            let request = api
                .request(http::Method::POST, path)
                .timeout(Duration::from_secs(20))
                .header("content-type", "application/json")
                .body(body.to_string());
            match Reply::try_of(request).await {
                Ok(reply) if !reply.status.is_server_error() => return reply,
                // A gateway that is down answers at once; let it come back.
                _ => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
        panic!("no gateway answered {path}");
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
