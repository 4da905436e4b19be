//! What was answered stays, and what comes to an end does so in order (§3.1).

use std::time::Duration;

use http::Method;
use hub_platform::db::{self, Tier};
use hub_testkit::database::Database;
use hub_testkit::{Answer, Api, Reply, TestHub, eventually};
use reqwest::RequestBuilder;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio_postgres::Client;

use crate::mailbox::{directed, drained};
use crate::stage::{AGENT, SECRET_REF, Stage};

/// Who goes before the answer, of each call: fewer than a tier has connections.
const CLIENTS: i64 = 3;

/// The server is told otherwise for all who do not ask.
#[tokio::test]
async fn every_tier_commits_synchronously() {
    let hub = TestHub::start().await;
    let superuser = hub.database().connect().await;
    let server: String = superuser
        .query_one("SHOW synchronous_commit", &[])
        .await
        .unwrap()
        .get(0);
    assert_eq!(server, "off", "this server would say yes to anybody");
    for tier in Tier::ALL {
        let pool = db::connect(&hub.config().database, tier).unwrap();
        let client = pool.get().await.unwrap();
        let row = client.query_one("SHOW synchronous_commit", &[]).await.unwrap();
        assert_eq!(row.get::<_, String>(0), "on", "{tier}");
    }
}

/// What a look at everything does about it depends on that (see `look_back.rs`).
#[tokio::test]
async fn a_statement_that_took_too_long_is_told_from_one_that_failed() {
    let client = Database::create().await.connect().await;
    let took_too_long = async |sql: &str| {
        let error = client.batch_execute(sql).await.unwrap_err();
        db::Error::from(error).took_too_long()
    };
    assert!(took_too_long("SET statement_timeout = 10; SELECT pg_sleep(600)").await);
    assert!(!took_too_long("SELECT 1 / 0").await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_held_poll_is_answered_when_its_gateway_is_told_to_end() {
    let mut stage = Stage::processes(1).await;
    let id = stage.agent.submitted(&stage.confirm()).await;
    let poll = tokio::spawn({
        let (agent, id) = (stage.agent.clone(), id.clone());
        async move { agent.wait(&id, 60).await }
    });
    await_held(&mut stage, 1).await;
    stage.hub.tiers().terminate(Tier::Gateway, 0).await;
    let reply = poll.await.unwrap();
    assert_eq!(reply.expect(200)["status"], "open");
}

/// Waits until the first gateway holds so many polls.
async fn await_held(stage: &mut Stage, count: u32) {
    await_held_at(&stage.hub.tiers().metrics()[0].clone(), count).await;
}

/// The same of a gateway whose metrics are there.
pub(crate) async fn await_held_at(metrics: &str, count: u32) {
    eventually("the polls to be held", || async {
        let text = text_of(metrics).await?;
        held_polls(&text).filter(|held| *held >= f64::from(count))
    })
    .await;
}

async fn text_of(url: &str) -> Option<String> {
    let client = hub_testkit::certificates::client();
    client.get(url).send().await.ok()?.text().await.ok()
}

/// The gauge of requests that wait, as Prometheus is told.
fn held_polls(metrics: &str) -> Option<f64> {
    let line = metrics
        .lines()
        .find(|line| line.starts_with("hub_http_held_requests") && line.contains("poll"))?;
    line.rsplit(' ').next()?.parse().ok()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_attempt_in_hand_is_settled_before_its_worker_ends() {
    let hub = TestHub::builder()
        .set("HUB_SHUTDOWN_GRACE_SECONDS", 20)
        .processes(1)
        .await;
    let mut stage = Stage::on(hub).await;
    stage
        .sink
        .always(Answer::Status(204).after(Duration::from_secs(1)));
    let id = stage.agent.submitted(&stage.confirm_with_push()).await;
    stage.alice.answer(&id, "approve").await.expect(200);
    stage.sink.await_received(1).await;
    stage.hub.tiers().terminate(Tier::Delivery, 0).await;
    // Nobody is left who could settle it later.
    let attempts = stage.alice.attempts(&id).await.expect(200);
    assert_eq!(attempts["state"], "delivered", "{attempts}");
    assert_eq!(stage.sink.received().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_finds_no_connection_free_is_told_to_come_again() {
    let hub = TestHub::builder()
        .set("HUB_DATABASE_POOL_SIZE", 1)
        .set("HUB_DATABASE_ACQUIRE_TIMEOUT_MS", 200)
        .set("HUB_PEERS_CALL_TIMEOUT_MS", 1000)
        .set("HUB_PEERS_ATTEMPT_TIMEOUT_MS", 400)
        .start()
        .await;
    let stage = Stage::on(hub).await;
    let id = stage.agent.submitted(&stage.confirm()).await;
    let mut superuser = stage.hub.database().connect().await;
    let locked = superuser.transaction().await.unwrap();
    locked
        .batch_execute("LOCK TABLE lifecycle.messages IN ACCESS EXCLUSIVE MODE")
        .await
        .unwrap();
    for _ in 0..3 {
        let reply = stage.agent.message(&id).await;
        reply.expect_error(503, "unavailable");
        assert!(reply.header("retry-after").is_some());
    }
    locked.rollback().await.unwrap();
    eventually("the hub to go on", || async {
        stage.agent.message(&id).await.status.is_success().then_some(())
    })
    .await;
}

/// Of its one connection a tier can spare none for those who wait.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_waits_holds_no_connection() {
    const POLLS: u32 = 10;
    const DRAINS: u32 = 3;
    let hub = TestHub::builder()
        .set("HUB_DATABASE_POOL_SIZE", 1)
        .processes(1)
        .await;
    let mut stage = Stage::on(hub).await;
    let mut polls = Vec::new();
    for _ in 0..POLLS {
        let id = stage.agent.submitted(&stage.confirm()).await;
        let (agent, polled) = (stage.agent.clone(), id.clone());
        let poll = tokio::spawn(async move { agent.wait(&polled, 60).await });
        polls.push((id, poll));
    }
    let mut drains = Vec::new();
    for number in 0..DRAINS {
        let worker = stage.account.agent(&format!("waiting/worker-{number}")).await;
        let drainer = worker.clone();
        let drain = tokio::spawn(async move { drainer.get("/v1/inbox?wait=60").await });
        drains.push((worker, drain));
    }
    await_held(&mut stage, POLLS + DRAINS).await;

    let id = stage.agent.submitted(&stage.confirm()).await;
    stage.alice.answer(&id, "approve").await.expect(200);
    assert!(
        polls.iter().all(|(_, poll)| !poll.is_finished())
            && drains.iter().all(|(_, drain)| !drain.is_finished()),
        "somebody was not held any more"
    );

    for (id, _) in &polls {
        stage.alice.answer(id, "approve").await.expect(200);
    }
    for (worker, _) in &drains {
        directed(&stage.alice, worker.id(), "Go on").await;
    }
    for (id, poll) in polls {
        let read = poll.await.unwrap().expect(200);
        assert_eq!(read["response"]["in_reply_to"], id.as_str(), "{read}");
        assert_eq!(read["response"]["response"]["value"], "approve", "{read}");
    }
    for (_, drain) in drains {
        assert_eq!(drained(&drain.await.unwrap()).len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_goes_leaves_no_transaction_open() {
    // Nor does the server end one that stays open, before this test has.
    let hub = TestHub::builder()
        .set("HUB_DATABASE_STATEMENT_TIMEOUT_MS", 600_000)
        .start()
        .await;
    let stage = Stage::on(hub).await;
    let (account, admin) = (&stage.account, stage.account.admin());

    let rename = || {
        written(
            admin,
            Method::PATCH,
            &account.path(""),
            &json!({"name": "renamed"}),
        )
    };
    let row = "SELECT 1 FROM directory.accounts WHERE account = $1 FOR UPDATE";
    go_before_the_answer(&stage, Tier::Gateway, row, rename).await;
    let renamed = Reply::of(rename()).await.expect(200);
    assert_eq!(renamed["account"]["name"], "renamed");

    let path = account.agent_path(AGENT, "/secrets");
    let secret = json!({"ref": SECRET_REF, "value": "the next secret of this reference"});
    let put = || written(admin, Method::PUT, &path, &secret);
    let row = "SELECT 1 FROM delivery.secrets WHERE account = $1 FOR UPDATE";
    go_before_the_answer(&stage, Tier::Delivery, row, put).await;
    Reply::of(put()).await.expect(200);

    let id = stage.agent.submitted(&stage.confirm()).await;
    stage.alice.answer(&id, "approve").await.expect(200);
    let owner = account.human("olga", "owner").await;
    let delete = || owner.request(Method::DELETE, &format!("/v1/messages/{id}"));
    let row = "SELECT 1 FROM lifecycle.messages WHERE account = $1 FOR UPDATE";
    go_before_the_answer(&stage, Tier::Lifecycle, row, delete).await;
    // Lifecycle ends what it has begun, whoever asked for it.
    Reply::of(delete()).await.expect_error(410, "gone");
}

/// A request with a body.
fn written(api: &Api, method: Method, path: &str, body: &Value) -> RequestBuilder {
    api.request(method, path)
        .header("content-type", "application/json")
        .body(body.to_string())
}

/// Has clients make a call that waits for the account's rows, which `hold` locks, and go while it waits; then lets the rows
/// go, and looks that the tier has ended every transaction.
async fn go_before_the_answer(stage: &Stage, tier: Tier, hold: &str, call: impl Fn() -> RequestBuilder) {
    let watcher = stage.hub.database().connect().await;
    let mut holder = stage.hub.database().connect().await;
    let held = holder.transaction().await.unwrap();
    let rows = held.query(hold, &[&stage.account.id()]).await.unwrap();
    assert!(!rows.is_empty(), "there is nothing to wait for");

    let mut calls = JoinSet::new();
    for _ in 0..CLIENTS {
        calls.spawn(Reply::try_of(call()));
    }
    eventually("the calls to wait for the rows", || async {
        let waiting = backends(&watcher, tier, "wait_event_type = 'Lock'").await;
        (waiting == CLIENTS).then_some(())
    })
    .await;
    calls.abort_all();
    while let Some(ended) = calls.join_next().await {
        assert!(ended.is_err(), "it was answered in spite of the lock");
    }
    // Over the same connection: the gateway has read before this that they are gone.
    stage.hub.anonymous().get("/healthz").await.expect(200);
    held.rollback().await.unwrap();
    eventually("no transaction to be open", || async {
        let open = backends(&watcher, tier, "xact_start IS NOT NULL").await;
        (open == 0).then_some(())
    })
    .await;
}

/// How many of a tier's connections are in a state.
async fn backends(watcher: &Client, tier: Tier, state: &str) -> i64 {
    let count = format!(
        "SELECT count(*) FROM pg_stat_activity
         WHERE datname = current_database() AND application_name = $1 AND {state}"
    );
    let row = watcher.query_one(&count, &[&tier.service_name()]).await.unwrap();
    row.get(0)
}
