//! Acknowledging a Response: the submitter alone, when it has it, and once (§14.3).

use futures_util::future::join_all;
use hub_testkit::client::segment;
use hub_testkit::{Answer, Received, TestHub, eventually};
use serde_json::{Value, json};

use crate::stage::{AGENT, Stage};

async fn ack(stage: &Stage, id: &str, body: &Value) -> hub_testkit::Reply {
    stage.agent.post(&format!("/v1/messages/{id}/ack"), body).await
}

/// An ask that was approved, and that the agent has seen.
async fn seen(stage: &Stage) -> String {
    let id = stage.agent.submitted(&stage.confirm()).await;
    stage.alice.answer(&id, "approve").await.expect(200);
    stage.agent.message(&id).await.expect(200);
    id
}

#[tokio::test]
async fn only_what_the_agent_has_can_be_acknowledged() {
    let stage = Stage::in_process().await;
    let id = stage.agent.submitted(&stage.confirm()).await;
    ack(&stage, &id, &json!({}))
        .await
        .expect_error(409, "not_acknowledgeable");
    stage.alice.answer(&id, "approve").await.expect(200);
    ack(&stage, &id, &json!({}))
        .await
        .expect_error(409, "not_acknowledgeable");
    let read = stage.agent.message(&id).await.expect(200);
    let resolution_id = read["response"]["resolution_id"].clone();

    let other = stage.account.agent("deploybot/other").await;
    let path = format!("/v1/messages/{id}/ack");
    other.post(&path, &json!({})).await.expect_error(404, "not_found");
    stage
        .alice
        .post(&path, &json!({}))
        .await
        .expect_error(403, "not_authorized");
    ack(&stage, &id, &json!({"resolution_id": "res_other"}))
        .await
        .expect_error(422, "invalid_field");
    ack(&stage, &id, &json!({"note": "x".repeat(16 * 1024 + 1)}))
        .await
        .expect_error(422, "invalid_field");
    ack(&stage, &id, &json!({"note": 7}))
        .await
        .expect_error(400, "validation_error");
    let delivery = &stage.alice.message(&id).await.expect(200)["delivery"];
    assert_eq!(delivery["state"], "delivered-to-agent");

    let said = ack(
        &stage,
        &id,
        &json!({"note": "going on", "resolution_id": resolution_id}),
    )
    .await
    .expect(200);
    assert_eq!(said["in_reply_to"], id.as_str());
    assert_eq!(
        (&said["note"], &said["resolution_id"]),
        (&json!("going on"), &resolution_id)
    );
    assert_eq!(said["by"], format!("agent:{AGENT}"));
    for read in [stage.alice.message(&id).await, stage.agent.message(&id).await] {
        let delivery = &read.expect(200)["delivery"];
        assert_eq!(
            (&delivery["state"], &delivery["ack"]),
            (&json!("acknowledged"), &said)
        );
        assert_eq!(delivery["acknowledged_at"], said["acked_at"]);
    }
}

#[tokio::test]
async fn of_many_acknowledgements_the_first_stands() {
    let stage = Stage::in_process().await;
    let id = seen(&stage).await;
    let calls = (0..8).map(|number| {
        let (stage, id) = (&stage, &id);
        async move {
            ack(stage, id, &json!({"note": format!("{number}")}))
                .await
                .expect(200)
        }
    });
    let said = join_all(calls).await;
    for other in &said {
        assert_eq!(other, &said[0]);
    }
    assert_eq!(ack(&stage, &id, &json!({})).await.expect(200), said[0]);
}

/// The agent says so while it is still being told: that is evidence enough.
#[tokio::test]
async fn an_acknowledgement_meets_the_push_that_is_under_way() {
    let stage = Stage::in_process().await;
    stage.sink.always(Answer::Hang);
    let id = stage.agent.submitted(&stage.confirm_with_push()).await;
    stage.alice.answer(&id, "approve").await.expect(200);
    stage.sink.await_received(1).await;
    ack(&stage, &id, &json!({})).await.expect(200);
    let delivery = &stage.alice.message(&id).await.expect(200)["delivery"];
    assert_eq!(delivery["state"], "acknowledged");
    assert!(delivery["delivered_at"].is_string(), "{delivery}");
}

/// A person has it pushed again meanwhile, to a host that nothing is sent to: the attempt before is what the agent answers.
#[tokio::test]
async fn an_acknowledgement_meets_the_push_that_was_replaced_while_it_was_under_way() {
    let stage = Stage::in_process().await;
    stage.sink.always(Answer::Hang);
    let id = stage.agent.submitted(&stage.confirm_with_push()).await;
    stage.alice.answer(&id, "approve").await.expect(200);
    stage.sink.await_received(1).await;
    let host = segment(&stage.sink.host());
    let pause = stage
        .account
        .agent_path(AGENT, &format!("/callback-hosts/{host}/pause"));
    stage.account.admin().post(&pause, &json!({})).await.expect(200);
    let path = format!("/v1/messages/{id}/redeliver");
    stage.alice.post(&path, &json!({})).await.expect(202);
    let database = stage.hub.database().connect().await;
    let held = "SELECT state = 'held' AS held FROM lifecycle.pushes WHERE account = $1 AND message_id = $2";
    eventually("the new push to be held", || async {
        let row = database
            .query_one(held, &[&stage.account.id(), &id])
            .await
            .unwrap();
        row.get::<_, bool>("held").then_some(())
    })
    .await;
    ack(&stage, &id, &json!({})).await.expect(200);
    let delivery = &stage.alice.message(&id).await.expect(200)["delivery"];
    assert_eq!(delivery["state"], "acknowledged");
}

/// Its handler took longer than the hub waits, so that the attempt counts as failed. Who names the resolution has it.
#[tokio::test]
async fn an_acknowledgement_may_come_after_the_attempt_that_brought_the_response() {
    let hub = TestHub::builder()
        .set("HUB_CALLBACK_TIMEOUT_MS", 500)
        .set("HUB_CALLBACK_FIRST_DELAY_MS", 600_000)
        .set("HUB_CALLBACK_MAX_DELAY_MS", 600_000);
    let stage = Stage::on(hub.start().await).await;
    stage.sink.always(Answer::Hang);
    let id = stage.agent.submitted(&stage.confirm_with_push()).await;
    stage.alice.answer(&id, "approve").await.expect(200);
    let is_its = |push: &Received| push.json()["in_reply_to"] == id.as_str();
    let resolution_id = stage.sink.await_request("the push", is_its).await.json()["resolution_id"].clone();
    eventually("the attempt to have failed", || async {
        let attempts = stage.alice.attempts(&id).await.expect(200);
        (attempts["attempts"][0]["outcome"] == "retry").then_some(())
    })
    .await;
    let whichever = ack(&stage, &id, &json!({})).await;
    whichever.expect_error(409, "not_acknowledgeable");
    let another = ack(&stage, &id, &json!({"resolution_id": "res_another"})).await;
    another.expect_error(422, "invalid_field");
    ack(&stage, &id, &json!({"resolution_id": resolution_id}))
        .await
        .expect(200);
    let delivery = &stage.alice.message(&id).await.expect(200)["delivery"];
    assert_eq!(delivery["state"], "acknowledged");
}

#[tokio::test]
async fn what_will_never_be_seen_cannot_be_acknowledged() {
    let hub = TestHub::builder()
        .set("HUB_RETENTION_SECONDS", 1)
        .set("HUB_RETENTION_GRACE_SECONDS", 600);
    let stage = Stage::on(hub.start().await).await;
    let id = stage.agent.submitted(&stage.confirm()).await;
    stage.alice.answer(&id, "approve").await.expect(200);
    eventually("the response track to expire", || async {
        let read = stage.alice.message(&id).await.expect(200);
        (read["delivery"]["state"] == "expired").then_some(())
    })
    .await;
    ack(&stage, &id, &json!({})).await.expect_error(410, "gone");
}
