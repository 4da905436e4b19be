//! What was answered stays, and what comes to an end does so in order (§3.1).

use std::time::Duration;

use hub_platform::db::{self, Tier};
use hub_testkit::{Answer, Reply, TestHub, eventually};
use serde_json::json;

use crate::stage::Stage;

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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_held_poll_is_answered_when_its_gateway_is_told_to_end() {
    let mut stage = Stage::processes(1).await;
    let id = stage.agent.submitted(&stage.confirm()).await;
    let poll = tokio::spawn({
        let (agent, id) = (stage.agent.clone(), id.clone());
        async move { agent.wait(&id, 60).await }
    });
    let metrics = stage.hub.tiers().metrics()[0].clone();
    eventually("the poll to be held", || async {
        let text = text_of(&metrics).await?;
        held_polls(&text).filter(|held| *held > 0.0)
    })
    .await;
    stage.hub.tiers().terminate(Tier::Gateway, 0).await;
    let reply = poll.await.unwrap();
    assert_eq!(reply.expect(200)["status"], "open");
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_goes_leaves_no_transaction_open() {
    const CLIENTS: usize = 8;
    let stage = Stage::in_process().await;
    let id = stage.agent.submitted(&stage.confirm_with_push()).await;
    let mut superuser = stage.hub.database().connect().await;
    let watcher = stage.hub.database().connect().await;
    let locked = superuser.transaction().await.unwrap();
    locked
        .batch_execute("LOCK TABLE lifecycle.messages, lifecycle.pushes IN ACCESS EXCLUSIVE MODE")
        .await
        .unwrap();
    let answer = json!({"resolution": "answered", "value": "approve"});
    for _ in 0..CLIENTS {
        let request = stage
            .alice
            .request(http::Method::POST, &format!("/v1/messages/{id}/resolve"))
            .timeout(Duration::from_millis(100))
            .header("content-type", "application/json")
            .body(answer.to_string());
        assert!(
            Reply::try_of(request).await.is_err(),
            "it was answered in spite of the lock"
        );
    }
    locked.rollback().await.unwrap();
    let open = "SELECT count(*) FROM pg_stat_activity
                WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL
                    AND application_name LIKE 'hub-%'";
    eventually("no transaction to be open", || async {
        (watcher.query_one(open, &[]).await.unwrap().get::<_, i64>(0) == 0).then_some(())
    })
    .await;
    let read = stage.agent.message(&id).await.expect(200);
    assert!(["open", "answered"].contains(&read["status"].as_str().unwrap()));
}
