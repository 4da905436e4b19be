//! A person's `Idempotency-Key`: the same key and body within a day are the same operation, whichever answer was lost.

use http::Method;
use hub_testkit::{Answer, Human, Reply, TestHub, eventually};
use serde_json::{Value, json};

use crate::stage::{AGENT, Stage};

async fn keyed(human: &Human, path: &str, key: &str, body: &Value) -> Reply {
    let request = human
        .request(Method::POST, path)
        .header("content-type", "application/json")
        .header("idempotency-key", key);
    Reply::of(request.body(body.to_string())).await
}

#[tokio::test]
async fn an_answer_that_is_sent_again_under_its_key_has_won() {
    let stage = Stage::in_process().await;
    let bob = stage.account.human("bob", "operator").await;
    let mut ask = stage.confirm();
    ask["request"]["allowed_resolvers"] = json!([stage.alice.address(), bob.address()]);
    let id = stage.agent.submitted(&ask).await;
    let path = format!("/v1/messages/{id}/resolve");
    let approve = json!({"resolution": "answered", "value": "approve"});

    // What was refused is no operation yet.
    let wrong = json!({"resolution": "answered", "value": "perhaps"});
    keyed(&stage.alice, &path, "one", &wrong)
        .await
        .expect_error(422, "invalid_field");
    let won = keyed(&stage.alice, &path, "one", &approve).await.expect(200);
    for _ in 0..2 {
        let again = keyed(&stage.alice, &path, "one", &approve).await.expect(200);
        assert_eq!(again, won);
    }
    let spelled = r#"{ "value": "\u0061pprove", "resolution": "answered" }"#;
    let request = stage.alice.request(Method::POST, &path);
    let request = request
        .header("content-type", "application/json")
        .header("idempotency-key", "one");
    assert_eq!(Reply::of(request.body(spelled)).await.expect(200), won);

    let deny = json!({"resolution": "answered", "value": "deny"});
    keyed(&stage.alice, &path, "one", &deny)
        .await
        .expect_error(409, "idempotency_conflict");
    for (human, key) in [(&stage.alice, "two"), (&bob, "one")] {
        keyed(human, &path, key, &approve)
            .await
            .expect_error(409, "already_terminal");
    }
    keyed(&stage.alice, &path, "", &approve)
        .await
        .expect_error(400, "validation_error");
    let told = stage.agent.message(&id).await.expect(200);
    assert_eq!(told["response"]["resolution_id"], won["resolution_id"]);

    // The same key is another operation at another message.
    let other = stage.agent.submitted(&stage.confirm()).await;
    let path = format!("/v1/messages/{other}/resolve");
    keyed(&stage.alice, &path, "one", &approve).await.expect(200);
}

#[tokio::test]
async fn a_push_is_put_back_once_for_a_key() {
    let hub = TestHub::builder()
        .set("HUB_CALLBACK_MAX_ATTEMPTS", 1)
        .set("HUB_CALLBACK_BREAKER_FAILURES", 1_000_000);
    let stage = Stage::on(hub.start().await).await;
    stage.sink.always(Answer::Status(503));
    let id = stage.agent.submitted(&stage.confirm_with_push()).await;
    stage.alice.answer(&id, "approve").await.expect(200);
    let one = format!("/v1/messages/{id}/redeliver");
    let all = "/v1/redeliver?state=exhausted";

    let mut generation = given_up(&stage, &id, 1).await;
    for path in [one.as_str(), all] {
        for _ in 0..3 {
            keyed(&stage.alice, path, "one", &json!({})).await.expect(202);
            // What a call puts back is tried, and given up, before the next one.
            given_up(&stage, &id, generation + 1).await;
        }
        generation += 1;
        keyed(&stage.alice, path, "two", &json!({})).await.expect(202);
        generation += 1;
        given_up(&stage, &id, generation).await;
        // The row remembers the last of them.
        keyed(&stage.alice, path, "two", &json!({})).await.expect(202);
        assert_eq!(given_up(&stage, &id, generation).await, generation);

        // A day later the key names another operation.
        let database = stage.hub.database().connect().await;
        let later = "UPDATE lifecycle.pushes SET redelivered_at = redelivered_at - interval '1 day'";
        database.batch_execute(later).await.unwrap();
        keyed(&stage.alice, path, "two", &json!({})).await.expect(202);
        generation += 1;
        given_up(&stage, &id, generation).await;
    }
    // One attempt for each time that it was put back.
    assert_eq!(stage.sink.received().len() as u64, generation);
}

/// What is on its way is not refused because it could not be written down: without a key it would be sent twice.
#[tokio::test]
async fn what_was_sent_is_told_and_written_down_later() {
    let stage = Stage::in_process().await;
    let database = stage.hub.database().connect().await;
    let away = "ALTER TABLE directory.audit RENAME TO audit_away";
    database.batch_execute(away).await.unwrap();
    let to = format!("agent:{AGENT}");
    let directive = json!({"to": to, "title": "Stop"});
    let broadcast = json!({"to": [to], "title": "Stop"});
    let directive = stage.alice.post("/v1/directives", &directive).await.expect(201);
    let broadcast = stage.alice.post("/v1/broadcasts", &broadcast).await.expect(202);
    let back = "ALTER TABLE directory.audit_away RENAME TO audit";
    database.batch_execute(back).await.unwrap();

    let path = stage.account.path("/audit?limit=100");
    for (action, id) in [
        ("directive.send", &directive["directive"]["id"]),
        ("broadcast.send", &broadcast["broadcast"]["id"]),
    ] {
        let event = eventually("it to be written down", || async {
            let audit = stage.account.admin().get(&path).await.expect(200);
            let events = audit["events"].as_array().unwrap();
            events.iter().find(|event| event["target"] == *id).cloned()
        })
        .await;
        assert_eq!(
            (&event["action"], &event["actor"]),
            (&json!(action), &json!("human:alice"))
        );
    }
}

/// Waits until a push is given up that has been put back so often; the generation of its last attempt.
async fn given_up(stage: &Stage, id: &str, generation: u64) -> u64 {
    eventually("the push to be given up", || async {
        let body = stage.alice.attempts(id).await.expect(200);
        let attempts = body["attempts"].as_array().unwrap();
        let last = attempts.last().and_then(|last| last["generation"].as_u64());
        last.filter(|last| body["state"] == "exhausted" && *last >= generation)
    })
    .await
}
