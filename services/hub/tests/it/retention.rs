//! How long a message stays (§8.2, §14.2, design rule 12): from its terminal on, never shorter than advertised; then its
//! response track ends, and a grace later its content goes and 410 stays.

use hub_testkit::{Answer, TestHub, envelope, eventually};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::stage::{AGENT, SECRET_REF, Stage};

const RETENTION: &str = "HUB_RETENTION_SECONDS";
const GRACE: &str = "HUB_RETENTION_GRACE_SECONDS";
const KEYS: &str = "HUB_IDEMPOTENCY_TTL_SECONDS";

/// A word that is in every part of the messages here, and nowhere else.
const CANARY: &str = "canaryword";

#[tokio::test]
async fn what_nobody_fetched_expires_and_goes_and_what_is_open_stays() {
    let hub = TestHub::builder().set(RETENTION, 2).set(GRACE, 3).start().await;
    let stage = Stage::on(hub).await;
    let seen = answered(&stage, &with_canary(stage.confirm())).await;
    stage.agent.message(&seen).await.expect(200);
    let open = stage.agent.submitted(&stage.confirm()).await;
    let notify = stage.agent.submitted(&with_canary(envelope::notify(AGENT))).await;
    let unseen_ask = with_canary(stage.confirm());
    let unseen = answered(&stage, &unseen_ask).await;

    // A person still reads what the agent never will; to the agent it is gone with its retention.
    eventually("the response track to expire", || async {
        let body = stage.alice.message(&unseen).await.expect(200);
        assert_eq!(body["status"], "answered");
        (body["delivery"] == json!({"state": "expired"})).then_some(())
    })
    .await;
    stage.agent.message(&unseen).await.expect_error(410, "gone");
    let seen_body = stage.agent.message(&seen).await.expect(200);
    assert_eq!(seen_body["delivery"]["state"], "delivered-to-agent");

    for id in [&notify, &unseen, &seen] {
        eventually("the content to go", || async {
            (stage.alice.message(id).await.status.as_u16() == 410).then_some(())
        })
        .await;
        expect_gone(&stage, id).await;
    }
    assert_eq!(stage.tables_with(CANARY).await, Vec::<String>::new());
    let listed = stage.alice.messages("").await.expect(200);
    let ids: Vec<&Value> = listed["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| &message["id"])
        .collect();
    assert_eq!(ids, [&json!(open)], "only what is open is left");
    stage.alice.answer(&open, "approve").await.expect(200);

    // A key outlives its message: the submit is still the same one.
    let repeated = stage.agent.submit(&unseen_ask).await;
    assert_eq!(repeated.expect(202)["status"], "answered");
    assert_eq!(repeated.text_at("id"), unseen);
    let mut changed = unseen_ask;
    changed["title"] = json!("another question?");
    stage
        .agent
        .submit(&changed)
        .await
        .expect_error(409, "idempotency_conflict");
}

/// The one stands first in every chunk, and may not be deleted, for whatever reason.
#[tokio::test]
async fn a_message_that_cannot_be_erased_keeps_no_other() {
    let hub = TestHub::builder().set(RETENTION, 1).set(GRACE, 0).start().await;
    let stage = Stage::on(hub).await;
    let refuse = format!(
        "CREATE FUNCTION lifecycle.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
         BEGIN RAISE EXCEPTION 'refused by the test'; END $$;
         CREATE TRIGGER refuse BEFORE DELETE ON lifecycle.envelopes FOR EACH ROW
         WHEN (old.envelope LIKE '%{CANARY}%') EXECUTE FUNCTION lifecycle.refuse()"
    );
    let database = stage.hub.database().connect().await;
    database.batch_execute(&refuse).await.unwrap();
    let stuck = stage.agent.submitted(&with_canary(envelope::notify(AGENT))).await;
    let mut others = Vec::new();
    for _ in 0..3 {
        others.push(stage.agent.submitted(&envelope::notify(AGENT)).await);
    }
    for id in &others {
        eventually("the others to go", || async {
            (stage.alice.message(id).await.status.as_u16() == 410).then_some(())
        })
        .await;
    }
    stage.alice.message(&stuck).await.expect(200);
}

#[tokio::test]
async fn before_minor_5_the_track_does_not_expire() {
    let hub = TestHub::builder()
        .set(RETENTION, 1)
        .set(GRACE, 3600)
        .start()
        .await;
    let stage = Stage::on(hub).await;
    let mut old = stage.confirm();
    old["ma2h_version"] = json!("0.4");
    let old = answered(&stage, &old).await;
    let new = answered(&stage, &stage.confirm()).await;
    // The later one is looked at later.
    eventually("the newer message's track to expire", || async {
        let body = stage.alice.message(&new).await.expect(200);
        (body["delivery"]["state"] == "expired").then_some(())
    })
    .await;
    assert_eq!(stage.alice.message(&old).await.expect(200).get("delivery"), None);
    let body = stage.agent.message(&old).await.expect(200);
    assert_eq!(body["delivery"]["state"], "delivered-to-agent");
}

#[tokio::test]
async fn what_expired_is_not_pushed_any_more() {
    let hub = TestHub::builder()
        .set(RETENTION, 1)
        .set(GRACE, 3600)
        .set("HUB_CALLBACK_MAX_DELAY_MS", 200)
        .set("HUB_CALLBACK_MAX_ATTEMPTS", 100)
        .start()
        .await;
    let stage = Stage::on(hub).await;
    stage.sink.always(Answer::Status(503));
    let id = answered(&stage, &stage.confirm_with_push()).await;
    eventually("the push to end", || async {
        (stage.alice.attempts(&id).await.expect(200)["state"] == "expired").then_some(())
    })
    .await;
    stage.sink.always(Answer::Status(204));
    let body = stage.alice.message(&id).await.expect(200);
    assert_eq!(body["delivery"], json!({"state": "expired"}));
    let attempts = stage.alice.attempts(&id).await.expect(200);
    assert!(
        attempts["attempts"]
            .as_array()
            .unwrap()
            .iter()
            .all(|attempt| attempt["outcome"] == "retry")
    );
    assert_eq!(attempts.get("next_attempt_at"), None);
}

#[tokio::test]
async fn an_account_keeps_its_messages_longer() {
    let hub = TestHub::builder().set(RETENTION, 1).set(GRACE, 0).start().await;
    let stage = Stage::on(hub).await;
    stage.account.set_policy(json!({"retention_days": 2})).await;
    let other = stage.hub.account("other").await;
    let kept = answered(&stage, &stage.confirm()).await;
    let agent = other.agent(AGENT).await;
    let human = other.human("alice", "operator").await;
    let gone = agent.submitted(&envelope::confirm(AGENT, "human:alice")).await;
    human.answer(&gone, "approve").await.expect(200);
    eventually("the other account's message to go", || async {
        (human.message(&gone).await.status.as_u16() == 410).then_some(())
    })
    .await;
    // Looked at before the other was, and put off by two days.
    stage.alice.message(&kept).await.expect(200);
    let database = stage.hub.database().connect().await;
    let sql = "SELECT kept_from - terminal_at = interval '2 days' - interval '1 second' AS put_off
               FROM lifecycle.messages WHERE account = $1 AND message_id = $2";
    let row = database
        .query_one(sql, &[&stage.account.id(), &kept])
        .await
        .unwrap();
    assert_eq!(row.get::<_, Option<bool>>("put_off"), Some(true));

    stage.account.set_policy(json!({"retention_days": null})).await;
    let shorter = json!({"policy": {"retention_days": 0}});
    let patched = stage
        .account
        .admin()
        .patch(&stage.account.path(""), &shorter)
        .await;
    patched.expect_error(422, "invalid_field");
}

#[tokio::test]
async fn an_owner_deletes_what_has_ended() {
    let stage = Stage::in_process().await;
    let owner = stage.account.human("olga", "owner").await;
    stage.sink.always(Answer::Status(400));
    let mut ask = with_canary(stage.confirm());
    ask = envelope::with_hmac_push(ask, &stage.callback_url(), SECRET_REF);
    let id = stage.agent.submitted(&ask).await;
    let path = format!("/v1/messages/{id}");
    owner.delete(&path).await.expect_error(409, "conflict");
    stage
        .alice
        .resolve(
            &id,
            &json!({"resolution": "answered", "value": "approve", "comment": CANARY}),
        )
        .await
        .expect(200);
    eventually("the push to end", || async {
        (stage.alice.attempts(&id).await.expect(200)["state"] == "refused").then_some(())
    })
    .await;
    assert!(!stage.tables_with(CANARY).await.is_empty());

    stage
        .alice
        .delete(&path)
        .await
        .expect_error(403, "not_authorized");
    stage
        .agent
        .delete(&path)
        .await
        .expect_error(403, "not_authorized");
    owner
        .delete("/v1/messages/msg_unknown")
        .await
        .expect_error(404, "not_found");
    owner.delete(&path).await.expect(204);
    expect_gone(&stage, &id).await;
    owner.delete(&path).await.expect_error(410, "gone");
    assert_eq!(stage.tables_with(CANARY).await, Vec::<String>::new());

    let stranger = stage.account.agent("other/agent").await;
    stranger.message(&id).await.expect_error(404, "not_found");
    stranger.cancel(&id).await.expect_error(404, "not_found");
    let elsewhere = stage.hub.account("elsewhere").await.human("alice", "owner").await;
    elsewhere.message(&id).await.expect_error(404, "not_found");

    let repeated = stage.agent.submit(&ask).await;
    assert_eq!(
        (repeated.expect(202)["status"].clone(), repeated.text_at("id")),
        (json!("answered"), id.clone())
    );
    let audit = owner.get(&stage.account.path("/audit")).await.expect(200);
    let written = audit["events"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["target"] == id.as_str());
    let written: Vec<(&Value, &Value)> = written.map(|event| (&event["actor"], &event["action"])).collect();
    assert_eq!(written, [(&json!("human:olga"), &json!("message.delete"))]);
}

/// Pushes that fail, redeliveries, reads, deletions and retention meet on the same messages.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_meets_an_end_leaves_nothing_behind_and_nobody_is_told_of_a_failure() {
    let hub = TestHub::builder()
        .set(RETENTION, 1)
        .set(GRACE, 1)
        .set("HUB_CALLBACK_FIRST_DELAY_MS", 1)
        .set("HUB_CALLBACK_MAX_DELAY_MS", 20)
        .start()
        .await;
    let stage = Stage::on(hub).await;
    stage.sink.always(Answer::Status(503));
    let owner = stage.account.human("olga", "owner").await;
    let mut messages = JoinSet::new();
    for number in 0..40 {
        let (agent, owner) = (stage.agent.clone(), owner.clone());
        let mut ask = with_canary(stage.confirm_with_push());
        ask["request"]["allowed_resolvers"] = json!([owner.address()]);
        messages.spawn(async move {
            let id = agent.submitted(&ask).await;
            owner.answer(&id, "approve").await.expect(200);
            let redeliver = format!("/v1/messages/{id}/redeliver");
            let mut look = 0;
            loop {
                let reply = match (look + number) % 4 {
                    0 => owner.post(&redeliver, &json!({})).await,
                    1 => owner.attempts(&id).await,
                    2 if number % 2 == 0 => agent.message(&id).await,
                    3 if look > 12 => owner.delete(&format!("/v1/messages/{id}")).await,
                    _ => owner.message(&id).await,
                };
                match reply.status.as_u16() {
                    200 | 202 | 204 | 409 => {}
                    410 => return id,
                    other => panic!("{other}: {}", reply.text),
                }
                look += 1;
            }
        });
    }
    for id in messages.join_all().await {
        stage.alice.message(&id).await.expect_error(410, "gone");
    }
    let database = stage.hub.database().connect().await;
    for table in ["messages", "envelopes", "pushes", "push_attempts"] {
        let sql = format!("SELECT count(*) AS rows FROM lifecycle.{table}");
        let row = database.query_one(&sql, &[]).await.unwrap();
        assert_eq!(row.get::<_, i64>("rows"), 0, "{table}");
    }
}

#[tokio::test]
async fn a_key_lives_its_time_and_as_long_as_its_message_is_open() {
    let hub = TestHub::builder().set(KEYS, 1).start().await;
    let stage = Stage::on(hub).await;
    let (open, ended) = (stage.confirm(), stage.confirm());
    let id = stage.agent.submitted(&open).await;
    let first = answered(&stage, &ended).await;
    let keys = || async {
        let database = stage.hub.database().connect().await;
        let sql = "SELECT count(*) AS keys, count(postponed_until) AS postponed FROM lifecycle.idempotency";
        let row = database.query_one(sql, &[]).await.unwrap();
        (row.get::<_, i64>("keys"), row.get::<_, i64>("postponed"))
    };
    eventually("the keys' time to be over", || async {
        (keys().await == (1, 1)).then_some(())
    })
    .await;
    assert_eq!(stage.agent.submitted(&open).await, id, "its message is open");
    assert_ne!(stage.agent.submitted(&ended).await, first, "its time is over");

    // At once, not only when it is looked at again.
    stage.alice.answer(&id, "approve").await.expect(200);
    assert_ne!(stage.agent.submitted(&open).await, id);
}

/// What tells it from an unknown one stands for long, not for ever.
#[tokio::test]
async fn in_the_end_a_deleted_message_is_as_unknown_as_any() {
    let hub = TestHub::builder()
        .set(KEYS, 3600)
        .set("HUB_TOMBSTONE_SECONDS", 3600);
    let stage = Stage::on(hub.start().await).await;
    let (older, newer) = (
        answered(&stage, &stage.confirm()).await,
        answered(&stage, &stage.confirm()).await,
    );
    let olivia = stage.account.human("olivia", "owner").await;
    for id in [&older, &newer] {
        olivia.delete(&format!("/v1/messages/{id}")).await.expect(204);
        expect_gone(&stage, id).await;
    }
    let database = stage.hub.database().connect().await;
    let age = "UPDATE lifecycle.tombstones SET erased_at = now() - interval '1 hour' WHERE message_id = $1";
    database.execute(age, &[&older]).await.unwrap();
    eventually("the tombstone to go", || async {
        (stage.agent.message(&older).await.status == 404).then_some(())
    })
    .await;
    stage.alice.message(&older).await.expect_error(404, "not_found");
    expect_gone(&stage, &newer).await;
}

/// Of an agent that submits no more, or is no more.
#[tokio::test]
async fn a_rate_budget_goes_long_after_its_minute() {
    let hub = TestHub::builder().set("HUB_RATE_LIMIT_REQUESTS_PER_MINUTE", 60);
    let stage = Stage::on(hub.start().await).await;
    let busy = stage.account.agent("deploybot/busy").await;
    for agent in [&stage.agent, &busy] {
        agent.submitted(&envelope::notify(agent.id())).await;
    }
    let database = stage.hub.database().connect().await;
    let age = "UPDATE lifecycle.budgets SET resets_at = now() - interval '2 hours' WHERE agent = $1";
    assert_eq!(database.execute(age, &[&AGENT]).await.unwrap(), 1);
    eventually("the budget to go", || async {
        let sql = "SELECT agent FROM lifecycle.budgets WHERE account = $1";
        let rows = database.query(sql, &[&stage.account.id()]).await.unwrap();
        let agents: Vec<String> = rows.iter().map(|row| row.get("agent")).collect();
        (agents == [busy.id()]).then_some(())
    })
    .await;
    // It begins anew.
    stage.agent.submitted(&envelope::notify(AGENT)).await;
}

/// The word in everything an agent writes.
fn with_canary(mut envelope: Value) -> Value {
    for member in ["title", "body"] {
        envelope[member] = json!(format!("about {CANARY}"));
    }
    envelope["tags"] = json!([CANARY]);
    envelope["state"] = json!({"of": CANARY});
    envelope
}

async fn answered(stage: &Stage, ask: &Value) -> String {
    let id = stage.agent.submitted(ask).await;
    stage.alice.answer(&id, "approve").await.expect(200);
    id
}

/// Every call on the message says that it was there.
async fn expect_gone(stage: &Stage, id: &str) {
    stage.agent.message(id).await.expect_error(410, "gone");
    stage.agent.wait(id, 5).await.expect_error(410, "gone");
    stage.agent.cancel(id).await.expect_error(410, "gone");
    stage.alice.message(id).await.expect_error(410, "gone");
    stage.alice.answer(id, "approve").await.expect_error(410, "gone");
    stage.alice.attempts(id).await.expect_error(410, "gone");
}
