//! Who is there (§15): what is told of an agent, and what outlives it.

use hub_testkit::{TestHub, eventually, segment};
use serde_json::{Value, json};

use crate::stage::{AGENT, Stage};

#[tokio::test]
async fn who_is_no_agent_of_the_account_was_never_heard_from() {
    let stage = Stage::in_process().await;
    stage.agent.get("/v1/inbox").await.expect(200);
    eventually("the agent to be seen", || async {
        (presence(&stage, AGENT).await["state"] == "online").then_some(())
    })
    .await;

    delete(&stage, AGENT).await;
    expect_unknown(&stage, AGENT).await;
    // As by a sign of life that was on its way meanwhile.
    heard_from(&stage, AGENT).await;
    expect_unknown(&stage, AGENT).await;
    heard_from(&stage, "never/was").await;
    expect_unknown(&stage, "never/was").await;
}

#[tokio::test]
async fn an_agent_is_not_there_because_one_of_its_id_was() {
    let stage = Stage::in_process().await;
    let id = "again/worker";
    heard_from(&stage, id).await;
    let again = stage.account.agent(id).await;
    expect_unknown(&stage, id).await;
    let listed = stage.alice.get("/v1/agents").await.expect(200);
    let agents = listed["agents"].as_array().unwrap();
    let one = agents.iter().find(|agent| agent["id"] == id).unwrap();
    assert_eq!(one["presence"]["state"], "unknown", "{listed}");

    again.get("/v1/inbox").await.expect(200);
    eventually("the new agent to be seen", || async {
        (presence(&stage, id).await["state"] == "online").then_some(())
    })
    .await;
}

#[tokio::test]
async fn what_is_known_of_who_is_gone_is_forgotten() {
    let hub = TestHub::builder()
        .set("HUB_PRESENCE_SWEEP_INTERVAL_MS", 50)
        .set("HUB_PRESENCE_FRESHNESS_SECONDS", 1)
        .set("HUB_STREAM_MAX_HOLD_SECONDS", 1)
        .start()
        .await;
    let stage = Stage::on(hub).await;
    for id in [AGENT, "gone/one", "gone/two"] {
        heard_from(&stage, id).await;
    }
    eventually("those that are gone to be forgotten", || async {
        (known(&stage).await == [AGENT]).then_some(())
    })
    .await;
    assert_eq!(presence(&stage, AGENT).await["state"], "offline");
}

async fn presence(stage: &Stage, agent: &str) -> Value {
    let path = format!("/v1/agents/{}/presence", segment(agent));
    stage.alice.get(&path).await.expect(200)
}

async fn expect_unknown(stage: &Stage, agent: &str) {
    let told = presence(stage, agent).await;
    assert_eq!(
        (&told["state"], told.get("last_seen")),
        (&json!("unknown"), None),
        "{told}"
    );
}

async fn delete(stage: &Stage, agent: &str) {
    let path = stage.account.agent_path(agent, "");
    stage.account.admin().delete(&path).await.expect(204);
}

/// As presence writes it down.
async fn heard_from(stage: &Stage, agent: &str) {
    let database = stage.hub.database().connect().await;
    let sql =
        "INSERT INTO presence.principals (account, agent, last_seen) VALUES ($1, $2, statement_timestamp())
               ON CONFLICT (account, agent) DO UPDATE SET last_seen = excluded.last_seen";
    let account = stage.account.id();
    database.execute(sql, &[&account, &agent]).await.unwrap();
}

/// Of whom anything is known.
async fn known(stage: &Stage) -> Vec<String> {
    let database = stage.hub.database().connect().await;
    let sql = "SELECT agent FROM presence.principals ORDER BY agent";
    let rows = database.query(sql, &[]).await.unwrap();
    rows.iter().map(|row| row.get("agent")).collect()
}
