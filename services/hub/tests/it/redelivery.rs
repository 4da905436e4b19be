//! A person has Responses pushed again: a new generation with a fresh budget and signature, whatever came before.

use std::time::Duration;

use futures_util::future::join_all;
use hub_testkit::{Answer, CallbackSink, TestHub, TestHubBuilder, envelope, eventually};
use serde_json::{Value, json};

use crate::stage::{AGENT, SECRET_REF, Stage};
use crate::visitor::{Visitor, value};

#[tokio::test]
async fn one_is_pushed_again_with_a_fresh_budget_and_signature() {
    let stage = exhausting().await;
    stage.sink.always(Answer::Status(503));
    let id = answered(&stage, &stage.callback_url()).await;
    state(&stage, &id, "exhausted").await;

    stage.sink.then([Answer::Status(503)]);
    stage.sink.always(Answer::Status(204));
    let path = format!("/v1/messages/{id}/redeliver");
    let reply = stage.alice.post(&path, &json!({})).await.expect(202);
    assert_eq!(reply, json!({"id": id, "state": "due"}));
    let attempts = state(&stage, &id, "delivered").await;
    let attempts: Vec<(u64, u64, &str)> = attempts
        .iter()
        .map(|attempt| {
            let number = |name: &str| attempt[name].as_u64().unwrap();
            (
                number("generation"),
                number("number"),
                attempt["outcome"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        attempts,
        [
            (1, 1, "retry"),
            (1, 2, "exhausted"),
            (2, 1, "retry"),
            (2, 2, "delivered")
        ],
        "the budget is fresh, and what came before goes on standing"
    );
    let pushes = stage.sink.received();
    assert!(pushes.iter().all(|push| push.body == pushes[0].body));
    assert_ne!(
        pushes[1].header("ma2h-signature"),
        pushes[3].header("ma2h-signature")
    );
    assert_eq!(
        stage.alice.message(&id).await.expect(200)["delivery"]["state"],
        "delivered-to-agent"
    );

    // What was delivered can be asked for again.
    stage.alice.post(&path, &json!({})).await.expect(202);
    stage.sink.await_received(5).await;
}

#[tokio::test]
async fn a_late_outcome_of_the_attempt_before_changes_nothing() {
    let hub = TestHub::builder()
        .set("HUB_CALLBACK_TIMEOUT_MS", 10_000)
        .start()
        .await;
    let stage = Stage::on(hub).await;
    let slow = || Answer::Status(204).after(Duration::from_secs(1));
    stage.sink.then([slow(), Answer::Status(400), slow()]);
    let id = answered(&stage, &stage.callback_url()).await;
    stage.sink.await_received(1).await;
    redeliver(&stage, &id).await;
    state(&stage, &id, "refused").await;
    // Of two that take as long the one asked later is settled later.
    let later = answered(&stage, &stage.callback_url()).await;
    state(&stage, &later, "delivered").await;

    let attempts = state(&stage, &id, "refused").await;
    assert_eq!(attempts.len(), 1, "{attempts:?}");
    assert_eq!(
        (&attempts[0]["generation"], &attempts[0]["outcome"]),
        (&json!(2), &json!("refused"))
    );
    assert_eq!(stage.alice.message(&id).await.expect(200).get("delivery"), None);
}

#[tokio::test]
async fn all_that_were_given_up_are_pushed_again_of_one_host_or_of_all() {
    let stage = exhausting().await;
    let other = CallbackSink::http().await;
    stage.account.approve_host(AGENT, &other.host()).await;
    stage.sink.always(Answer::Status(503));
    other.always(Answer::Status(503));
    let mut given_up = Vec::new();
    for number in 0..6 {
        let url = if number % 3 == 0 {
            other.url("/resume")
        } else {
            stage.callback_url()
        };
        given_up.push(answered(&stage, &url).await);
    }
    for id in &given_up {
        state(&stage, id, "exhausted").await;
    }
    stage.sink.then([Answer::Status(400)]);
    stage.sink.always(Answer::Status(204));
    other.always(Answer::Status(204));
    let refused = answered(&stage, &stage.callback_url()).await;
    state(&stage, &refused, "refused").await;

    let host = hub_testkit::client::segment(&other.host());
    assert_eq!(
        redeliver_all(&stage, "?state=exhausted&host=unknown.example").await,
        0
    );
    assert_eq!(
        redeliver_all(&stage, &format!("?state=exhausted&host={host}")).await,
        2
    );
    for number in [0, 3] {
        state(&stage, &given_up[number], "delivered").await;
    }
    state(&stage, &given_up[1], "exhausted").await;
    assert_eq!(redeliver_all(&stage, "?state=exhausted").await, 4);
    for id in &given_up {
        state(&stage, id, "delivered").await;
    }
    assert_eq!(redeliver_all(&stage, "").await, 0);
    let attempts = state(&stage, &refused, "refused").await;
    assert_eq!(attempts.len(), 1, "what was refused was not given up");
}

/// What it has put back is no longer given up.
#[tokio::test]
async fn one_call_puts_back_so_many_and_the_next_goes_on() {
    let hub = exhausting_hub().set("HUB_CALLBACK_REDELIVER_MAX", 2);
    let stage = Stage::on(hub.start().await).await;
    stage.sink.always(Answer::Status(503));
    let mut given_up = Vec::new();
    for _ in 0..3 {
        given_up.push(answered(&stage, &stage.callback_url()).await);
    }
    for id in &given_up {
        state(&stage, id, "exhausted").await;
    }
    stage.sink.always(Answer::Status(204));
    for (redelivering, more) in [(2, true), (1, false), (0, false)] {
        let reply = stage.alice.post("/v1/redeliver", &json!({})).await.expect(202);
        assert_eq!(reply, json!({"redelivering": redelivering, "more": more}));
    }
    for id in &given_up {
        state(&stage, id, "delivered").await;
    }
}

#[tokio::test]
async fn who_may_have_what_pushed_again() {
    let stage = Stage::in_process().await;
    let viewer = stage.account.human("victor", "viewer").await;
    let open = stage.agent.submitted(&stage.confirm_with_push()).await;
    let pulled = stage.agent.submitted(&stage.confirm()).await;
    stage.alice.answer(&pulled, "approve").await.expect(200);
    let elsewhere = stage
        .hub
        .account("elsewhere")
        .await
        .human("alice", "operator")
        .await;
    let path = |id: &str| format!("/v1/messages/{id}/redeliver");
    let cases = [
        (&stage.alice, path(&open), 409, "conflict"),
        (&stage.alice, path(&pulled), 409, "conflict"),
        (&stage.alice, path("msg_unknown"), 404, "not_found"),
        (&elsewhere, path(&pulled), 404, "not_found"),
        (&viewer, path(&pulled), 403, "not_authorized"),
        (
            &viewer,
            "/v1/redeliver?state=exhausted".to_owned(),
            403,
            "not_authorized",
        ),
        (
            &stage.alice,
            "/v1/redeliver?state=delivered".to_owned(),
            400,
            "validation_error",
        ),
    ];
    for (human, path, status, code) in cases {
        human.post(&path, &json!({})).await.expect_error(status, code);
    }
    let as_agent = stage.agent.post(&path(&pulled), &json!({})).await;
    as_agent.expect_error(403, "not_authorized");
}

/// By a button of its page, which counts only until there is another attempt.
#[tokio::test]
async fn what_was_given_up_is_sent_again_from_the_browser() {
    let stage = exhausting().await;
    stage.sink.always(Answer::Status(503));
    let id = answered(&stage, &stage.callback_url()).await;
    state(&stage, &id, "exhausted").await;
    let path = format!("/inbox/{id}");
    let again = format!("{path}/redeliver");
    let send = async |visitor: &Visitor, after: &str| {
        let csrf = value(&visitor.page(&path).await, "csrf");
        let sent = visitor.post(&again, &[("csrf", &csrf), ("after", after)]).await;
        (sent.status.as_u16(), sent.header("location").map(str::to_owned))
    };
    let (bob, carol) = (
        stage.account.human("bob", "viewer"),
        stage.account.human("carol", "operator"),
    );
    let alice = Visitor::of(&stage.alice, &stage.hub).await;
    let bob = Visitor::of(&bob.await, &stage.hub).await;
    let carol = Visitor::of(&carol.await, &stage.hub).await;
    assert_eq!(value(&alice.page(&path).await, "after"), "1.2");
    assert!(!bob.page(&path).await.contains("Send again"));
    assert_eq!(send(&bob, "1.2").await, (403, None));
    assert_eq!(alice.post(&again, &[("csrf", "another")]).await.status, 403);

    stage.sink.always(Answer::Status(204));
    let sent = (303, Some(path.clone()));
    let at_once = [&alice, &carol].into_iter().cycle().take(12);
    for told in join_all(at_once.map(|visitor| send(visitor, "1.2"))).await {
        assert_eq!(told, sent);
    }
    let attempts = state(&stage, &id, "delivered").await;
    assert_eq!(attempts[2]["generation"], 2);
    assert!(!alice.page(&path).await.contains("Send again"));
    // A page that was drawn before.
    assert_eq!(send(&carol, "1.2").await, sent);
    assert_eq!(state(&stage, &id, "delivered").await.len(), 3);
    // Whoever had to sign in first comes by a link.
    let linked = alice.get(&again).await;
    assert_eq!(
        (linked.status.as_u16(), linked.header("location")),
        (303, Some(path.as_str()))
    );
}

/// A hub that gives a push up after two attempts.
async fn exhausting() -> Stage {
    Stage::on(exhausting_hub().start().await).await
}

fn exhausting_hub() -> TestHubBuilder {
    TestHub::builder()
        .set("HUB_CALLBACK_MAX_ATTEMPTS", 2)
        .set("HUB_CALLBACK_MAX_DELAY_MS", 100)
}

async fn answered(stage: &Stage, url: &str) -> String {
    let ask = envelope::with_hmac_push(stage.confirm(), url, SECRET_REF);
    let id = stage.agent.submitted(&ask).await;
    stage.alice.answer(&id, "approve").await.expect(200);
    id
}

async fn redeliver(stage: &Stage, id: &str) {
    let path = format!("/v1/messages/{id}/redeliver");
    stage.alice.post(&path, &json!({})).await.expect(202);
}

/// How many are pushed again.
async fn redeliver_all(stage: &Stage, query: &str) -> u64 {
    let reply = stage
        .alice
        .post(&format!("/v1/redeliver{query}"), &json!({}))
        .await;
    reply.expect(202)["redelivering"].as_u64().unwrap()
}

/// The attempts, once the push has come to this state.
async fn state(stage: &Stage, id: &str, state: &str) -> Vec<Value> {
    eventually(&format!("the push to be {state}"), || async {
        let body = stage.alice.attempts(id).await.expect(200);
        (body["state"] == state).then(|| body["attempts"].as_array().cloned().unwrap_or_default())
    })
    .await
}
