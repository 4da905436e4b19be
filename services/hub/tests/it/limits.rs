//! What an agent may submit (§8.6): so many messages a minute, counted once over all gateways, and so many open ones.

use http::Method;
use hub_platform::db::Tier;
use hub_testkit::{Reply, TestHub, envelope};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::stage::{AGENT, Stage};

const RATE: &str = "HUB_RATE_LIMIT_REQUESTS_PER_MINUTE";
const INTER_AGENT_RATE: &str = "HUB_RATE_LIMIT_INTER_AGENT_REQUESTS_PER_MINUTE";
const DEPTH: &str = "HUB_RATE_LIMIT_INBOX_DEPTH";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rate_is_counted_once_over_all_gateways_and_a_flood_stays_at_the_edge() {
    let mut stage = Stage::on(TestHub::builder().set(RATE, 7).processes(2).await).await;
    let first = stage.confirm();
    let id = stage.agent.submitted(&first).await;

    let mut calls = JoinSet::new();
    for number in 0..30 {
        let agent = stage.agent.on(&stage.hub.base_urls()[number % 2]);
        calls.spawn(async move { agent.submit(&envelope::notify(AGENT)).await });
    }
    let (accepted, refused): (Vec<Reply>, Vec<Reply>) = calls
        .join_all()
        .await
        .into_iter()
        .partition(|reply| reply.status.is_success());
    assert_eq!(accepted.len(), 6, "one was accepted before");
    refused.iter().for_each(expect_to_come_again);

    // Both gateways know by now: nothing they are sent reaches lifecycle, however it looks. What did would wait here.
    let mut database = stage.hub.database().connect().await;
    let locked = database.transaction().await.unwrap();
    let lock = "LOCK TABLE lifecycle.budgets IN ACCESS EXCLUSIVE MODE";
    locked.batch_execute(lock).await.unwrap();
    for gateway in stage.hub.base_urls() {
        let agent = stage.agent.on(gateway);
        for _ in 0..10 {
            expect_to_come_again(&agent.submit(&envelope::notify(AGENT)).await);
        }
        expect_to_come_again(&agent.submit(&first).await);
        expect_to_come_again(
            &agent
                .send_text(Method::POST, "/v1/messages", "{".repeat(200_000))
                .await,
        );
    }
    locked.rollback().await.unwrap();
    stage.agent.message(&id).await.expect(200);
    let other = stage.account.agent("other/agent").await;
    other.submitted(&envelope::notify("other/agent")).await;

    // The minute is over, and a gateway that has forgotten asks again: a repeated submit recovers its message.
    database
        .batch_execute("UPDATE lifecycle.budgets SET resets_at = statement_timestamp()")
        .await
        .unwrap();
    stage.hub.tiers().kill(Tier::Gateway, 0).await;
    stage.hub.tiers().restart(Tier::Gateway, 0);
    stage.hub.await_ready().await;
    assert_eq!(stage.agent.submitted(&first).await, id);
    assert_eq!(spent(&stage).await, 1, "a repeated submit is charged as well");
}

#[tokio::test]
async fn what_a_call_is_refused_for_decides_whether_it_is_charged() {
    let stage = Stage::on(TestHub::builder().set(RATE, 3).start().await).await;
    // Shape and identity come before the rate.
    let mut of_other = stage.confirm();
    of_other["agent"]["id"] = json!("other/agent");
    for _ in 0..3 {
        stage
            .agent
            .send_text(Method::POST, "/v1/messages", "{}")
            .await
            .expect_error(400, "validation_error");
        stage
            .agent
            .submit(&of_other)
            .await
            .expect_error(403, "agent_id_mismatch");
    }
    // What the world refuses comes after it.
    let mut late = stage.confirm();
    late["expires_at"] = json!("2020-01-01T00:00:00Z");
    stage.agent.submit(&late).await.expect_error(422, "invalid_field");
    let mut ambiguous = envelope::select(AGENT, &stage.alice.address());
    ambiguous["request"]["options"][1]["value"] = json!("ship");
    stage
        .agent
        .submit(&ambiguous)
        .await
        .expect_error(422, "invalid_field");
    let ask = stage.confirm();
    stage.agent.submitted(&ask).await;
    expect_to_come_again(&stage.agent.submit(&ask).await);
}

#[tokio::test]
async fn an_account_sets_its_rate_beneath_the_deployments() {
    for deployment in [0, 4] {
        let stage = Stage::on(TestHub::builder().set(RATE, deployment).start().await).await;
        stage
            .account
            .set_policy(json!({"rate_limit": {"requests_per_minute": 2}}))
            .await;
        let elsewhere = stage.hub.account("elsewhere").await.agent(AGENT).await;
        for (agent, per_minute) in [(&stage.agent, 2), (&elsewhere, deployment)] {
            for _ in 0..per_minute {
                agent.submitted(&envelope::notify(AGENT)).await;
            }
            let next = agent.submit(&envelope::notify(AGENT)).await;
            if per_minute == 0 {
                next.expect(202);
            } else {
                expect_to_come_again(&next);
            }
        }
    }
}

#[tokio::test]
async fn addressed_messages_have_a_budget_of_their_own_where_one_is_set() {
    let apart = Stage::on(
        TestHub::builder()
            .set(RATE, 2)
            .set(INTER_AGENT_RATE, 1)
            .start()
            .await,
    )
    .await;
    assert_ne!(apart.agent.submit(&addressed()).await.status.as_u16(), 429);
    expect_to_come_again(&apart.agent.submit(&addressed()).await);
    apart.agent.submitted(&envelope::notify(AGENT)).await;
    apart.agent.submitted(&envelope::notify(AGENT)).await;
    expect_to_come_again(&apart.agent.submit(&envelope::notify(AGENT)).await);

    let shared = Stage::on(TestHub::builder().set(RATE, 2).start().await).await;
    assert_ne!(shared.agent.submit(&addressed()).await.status.as_u16(), 429);
    shared.agent.submitted(&envelope::notify(AGENT)).await;
    expect_to_come_again(&shared.agent.submit(&addressed()).await);
    expect_to_come_again(&shared.agent.submit(&envelope::notify(AGENT)).await);
}

#[tokio::test]
async fn open_messages_are_bounded_for_each_agent() {
    let stage = Stage::on(TestHub::builder().set(DEPTH, 3).start().await).await;
    let asks: Vec<Value> = (0..3).map(|_| stage.confirm()).collect();
    let mut ids = Vec::new();
    for ask in &asks {
        ids.push(stage.agent.submitted(ask).await);
    }
    let refused = stage.agent.submit(&stage.confirm()).await;
    expect_to_come_again(&refused);
    assert!(refused.text.contains("inbox_depth"), "{}", refused.text);
    let listed = stage.agent.messages("").await.expect(200);
    assert_eq!(
        listed["messages"].as_array().unwrap().len(),
        3,
        "nothing came of it"
    );

    // The key comes before the world; what does not wait for anyone takes no room; each agent has its own.
    assert_eq!(stage.agent.submitted(&asks[0]).await, ids[0]);
    stage.agent.submitted(&envelope::notify(AGENT)).await;
    let other = stage.account.agent("other/agent").await;
    other
        .submitted(&envelope::confirm("other/agent", "human:alice"))
        .await;

    stage.alice.answer(&ids[0], "approve").await.expect(200);
    stage.agent.submitted(&stage.confirm()).await;
    expect_to_come_again(&stage.agent.submit(&stage.confirm()).await);

    stage
        .account
        .set_policy(json!({"rate_limit": {"inbox_depth": 2}}))
        .await;
    stage.agent.cancel(&ids[1]).await.expect(200);
    expect_to_come_again(&stage.agent.submit(&stage.confirm()).await);
    stage.agent.cancel(&ids[2]).await.expect(200);
    stage.agent.submitted(&stage.confirm()).await;
}

#[tokio::test]
async fn limits_are_advertised_as_they_are_enforced() {
    let limited = TestHub::builder().set(RATE, 7).start().await;
    let document = limited.anonymous().get("/.well-known/ma2h").await.expect(200);
    assert_eq!(document["rate_limit"], json!({"requests_per_minute": 7}));
}

/// A notify to another agent.
fn addressed() -> Value {
    let mut envelope = envelope::notify(AGENT);
    envelope["to"] = json!("agent:other/agent");
    envelope
}

#[track_caller]
fn expect_to_come_again(reply: &Reply) {
    reply.expect_error(429, "rate_limited");
    let seconds: u32 = reply.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=61).contains(&seconds), "retry-after: {seconds}");
}

/// What is charged to the agent, as the database has it.
async fn spent(stage: &Stage) -> i64 {
    let database = stage.hub.database().connect().await;
    let sql = "SELECT spent FROM lifecycle.budgets WHERE account = $1 AND agent = $2";
    let row = database
        .query_one(sql, &[&stage.account.id(), &AGENT])
        .await
        .unwrap();
    row.get("spent")
}
