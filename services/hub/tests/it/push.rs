//! How pushes are tried again, given up, and reported.

use std::time::Duration;

use hub_testkit::{Answer, CallbackSink, TestHub, envelope, eventually, segment};
use serde_json::{Value, json};

use crate::stage::{AGENT, SECRET_REF, Stage, address_classes};

#[tokio::test]
async fn a_5xx_is_tried_again_with_a_fresh_signature_until_it_is_taken() {
    let stage = Stage::in_process().await;
    stage
        .sink
        .then([Answer::Status(503), Answer::Status(500), Answer::Close]);
    let id = answered_ask(&stage).await;
    let attempts = settled(&stage, &id, "delivered").await;

    let outcomes: Vec<&Value> = attempts.iter().map(|attempt| &attempt["outcome"]).collect();
    assert_eq!(outcomes, ["retry", "retry", "retry", "delivered"]);
    let statuses: Vec<&Value> = attempts.iter().map(|attempt| &attempt["status"]).collect();
    assert_eq!(statuses, [&json!(503), &json!(500), &Value::Null, &json!(204)]);
    let numbers: Vec<&Value> = attempts.iter().map(|attempt| &attempt["number"]).collect();
    assert_eq!(numbers, [1, 2, 3, 4]);
    for pair in attempts.windows(2) {
        let (planned, began) = (&pair[0]["next_attempt_at"], &pair[1]["at"]);
        // Of one form and one length, so that they sort by time.
        assert!(planned.as_str().unwrap() <= began.as_str().unwrap(), "{pair:?}");
    }
    assert_eq!(attempts[3].get("next_attempt_at"), None);

    let pushes = stage.sink.received();
    let signatures: Vec<&str> = pushes
        .iter()
        .map(|push| push.header("ma2h-signature").unwrap())
        .collect();
    for (at, signature) in signatures.iter().enumerate() {
        assert!(
            !signatures[..at].contains(signature),
            "a signature was used twice"
        );
    }
    assert!(
        pushes.iter().all(|push| push.body == pushes[0].body),
        "attempts of one resolution differ"
    );
    let read = stage.alice.message(&id).await.expect(200);
    assert_eq!(read["delivery"]["state"], "delivered-to-agent");
    let classes = address_classes(&stage.hub, &id).await;
    assert_eq!(classes, vec![Some("loopback".to_owned()); 4]);
}

#[tokio::test]
async fn what_is_no_success_and_no_5xx_is_final() {
    let stage = Stage::in_process().await;
    let elsewhere = CallbackSink::http().await;
    let answers = [
        Answer::Status(400),
        Answer::Status(404),
        Answer::Status(408),
        Answer::Status(410),
        Answer::Status(429),
        Answer::redirect(302, elsewhere.url("/followed")),
        Answer::redirect(307, elsewhere.url("/followed")),
    ];
    for answer in answers {
        let what = format!("{answer:?}");
        stage.sink.then([answer]);
        let id = answered_ask(&stage).await;
        let attempts = settled(&stage, &id, "refused").await;
        assert_eq!(attempts.len(), 1, "{what}");
        assert_eq!(attempts[0]["outcome"], "refused", "{what}");
        let pulled = stage.agent.message(&id).await.expect(200);
        assert_eq!(
            pulled["response"]["response"]["value"], "approve",
            "{what}: it stays to be pulled"
        );
    }
    assert!(elsewhere.received().is_empty(), "a redirect was followed");
}

#[tokio::test]
async fn a_host_that_never_answers_well_is_given_up_at_the_cap() {
    let hub = TestHub::builder()
        .set("HUB_CALLBACK_MAX_ATTEMPTS", "5")
        .set("HUB_CALLBACK_TIMEOUT_MS", "300")
        .start()
        .await;
    let stage = Stage::on(hub).await;
    stage.sink.then([Answer::Hang]);
    stage.sink.always(Answer::Status(502));
    let id = answered_ask(&stage).await;
    let attempts = settled(&stage, &id, "exhausted").await;
    assert_eq!(attempts.len(), 5);
    assert_eq!(attempts[0]["error"], "timeout");
    assert_eq!(attempts[4]["outcome"], "exhausted");
    let pulled = stage.agent.message(&id).await.expect(200);
    assert_eq!(pulled["status"], "answered");
}

#[tokio::test]
async fn a_push_is_given_up_when_its_time_is_over_however_many_attempts_are_left() {
    const ATTEMPTS_MAX: usize = 1000;
    let hub = TestHub::builder()
        .set("HUB_CALLBACK_MAX_DURATION_SECONDS", 1)
        .set("HUB_CALLBACK_MAX_ATTEMPTS", ATTEMPTS_MAX)
        .set("HUB_CALLBACK_MAX_DELAY_MS", 100)
        .set("HUB_RELAY_INTERVAL_MS", 20)
        // Not held: that time would not count.
        .set("HUB_CALLBACK_BREAKER_FAILURES", 1_000_000)
        .start()
        .await;
    let stage = Stage::on(hub).await;
    stage.sink.always(Answer::Status(503));
    let id = answered_ask(&stage).await;
    let attempts = settled(&stage, &id, "exhausted").await;
    assert!(attempts.len() < ATTEMPTS_MAX, "{}", attempts.len());
    // Given up after this one, or before another.
    let last = &attempts.last().unwrap()["outcome"];
    assert!(last == "exhausted" || last == "retry", "{last}");
    let pulled = stage.agent.message(&id).await.expect(200);
    assert_eq!(pulled["response"]["response"]["value"], "approve");
}

#[tokio::test]
async fn a_slow_host_costs_only_its_own_pushes() {
    let hub = TestHub::builder()
        .set("HUB_CALLBACK_TIMEOUT_MS", "20000")
        .start()
        .await;
    let stage = Stage::on(hub).await;
    let slow = CallbackSink::http().await;
    slow.always(Answer::Status(204).after(Duration::from_secs(15)));
    stage.account.approve_host(AGENT, &slow.host()).await;
    for _ in 0..100 {
        let ask = envelope::with_hmac_push(stage.confirm(), &slow.url("/slow"), SECRET_REF);
        let id = stage.agent.submitted(&ask).await;
        stage.alice.answer(&id, "approve").await.expect(200);
    }
    slow.await_received(1).await;
    for _ in 0..20 {
        answered_ask(&stage).await;
    }
    stage.sink.await_received(20).await;
}

#[tokio::test]
async fn a_callback_needs_a_host_that_is_approved_for_the_agent() {
    let stage = Stage::in_process().await;
    let other = stage.account.agent("other/agent").await;
    let mut of_other = stage.confirm_with_push();
    of_other["agent"]["id"] = json!("other/agent");
    let message = other.submit(&of_other).await.expect_error(422, "invalid_field");
    assert!(message.contains("request.callback.url"), "{message}");

    let unknown = envelope::with_hmac_push(stage.confirm(), "https://evil.example/x", SECRET_REF);
    stage
        .agent
        .submit(&unknown)
        .await
        .expect_error(422, "invalid_field");
    assert_eq!(
        stage.agent.messages("").await.expect(200)["messages"],
        json!([]),
        "nothing came of it"
    );

    // Its key is free again: the mended ask is a first submit.
    let mut mended = unknown;
    mended["request"]["callback"]["url"] = json!(stage.callback_url());
    stage.agent.submitted(&mended).await;
}

#[tokio::test]
async fn a_host_whose_approval_is_withdrawn_is_not_contacted() {
    let stage = Stage::in_process().await;
    let id = stage.agent.submitted(&stage.confirm_with_push()).await;
    let host = hub_testkit::client::segment(&stage.sink.host());
    let path = stage
        .account
        .agent_path(AGENT, &format!("/callback-hosts/{host}"));
    assert!(stage.account.admin().delete(&path).await.status.is_success());
    stage.alice.answer(&id, "approve").await.expect(200);
    let attempts = settled(&stage, &id, "refused").await;
    assert_eq!(attempts[0]["error"], "host_not_verified");
    assert!(stage.sink.received().is_empty());
}

#[tokio::test]
async fn a_trace_goes_through_to_the_callback() {
    let stage = Stage::processes(1).await;
    let id = stage.agent.submitted(&stage.confirm_with_push()).await;
    let trace = "0af7651916cd43dd8448eb211c80319c";
    let request = stage
        .alice
        .request(http::Method::POST, &format!("/v1/messages/{id}/resolve"))
        .header("traceparent", format!("00-{trace}-b7ad6b7169203331-01"))
        .header("content-type", "application/json")
        .body(json!({"resolution": "answered", "value": "approve"}).to_string());
    hub_testkit::Reply::of(request).await.expect(200);
    let push = stage.sink.await_received(1).await.remove(0);
    let traceparent = push
        .header("traceparent")
        .expect("a push carries the trace context");
    assert!(traceparent.starts_with(&format!("00-{trace}-")), "{traceparent}");
}

/// Its workers died in each of them, or could not make them.
#[tokio::test]
async fn a_push_whose_attempts_tell_of_no_outcome_is_given_up() {
    let stage = Stage::in_process().await;
    let host = segment(&stage.sink.host());
    let to_host = async |verb: &str| {
        let path = stage
            .account
            .agent_path(AGENT, &format!("/callback-hosts/{host}/{verb}"));
        stage.account.admin().post(&path, &json!({})).await.expect(200)
    };
    to_host("pause").await;
    let id = answered_ask(&stage).await;
    settled(&stage, &id, "held").await;
    let database = stage.hub.database().connect().await;
    let begun = "UPDATE lifecycle.pushes SET attempts = 1000, started_at = statement_timestamp()";
    database.batch_execute(begun).await.unwrap();
    to_host("resume").await;

    let attempts = settled(&stage, &id, "exhausted").await;
    assert_eq!(attempts.len(), 1);
    assert_eq!(
        (&attempts[0]["outcome"], &attempts[0]["error"]),
        (&json!("exhausted"), &json!("no_outcome"))
    );
    assert!(stage.sink.received().is_empty());
}

/// The hub was away for two days between two attempts: what it advertised was a day.
#[tokio::test]
async fn nothing_is_tried_when_its_time_is_over() {
    let hub = TestHub::builder()
        .set("HUB_CALLBACK_FIRST_DELAY_MS", 4000)
        .set("HUB_CALLBACK_MAX_DELAY_MS", 4000)
        .start()
        .await;
    let stage = Stage::on(hub).await;
    stage.sink.then([Answer::Status(503)]);
    let id = answered_ask(&stage).await;
    let attempted = || async {
        let body = stage.alice.attempts(&id).await.expect(200);
        (body["attempts"][0]["outcome"] == "retry").then_some(())
    };
    eventually("the first attempt to fail", attempted).await;
    let database = stage.hub.database().connect().await;
    let away = "UPDATE lifecycle.pushes SET started_at = started_at - interval '2 days'";
    database.batch_execute(away).await.unwrap();

    let attempts = settled(&stage, &id, "exhausted").await;
    assert_eq!(attempts.len(), 1, "{attempts:?}");
    assert_eq!(stage.sink.received().len(), 1);
}

/// An ask that alice has approved, pushed to the sink.
async fn answered_ask(stage: &Stage) -> String {
    let id = stage.agent.submitted(&stage.confirm_with_push()).await;
    stage.alice.answer(&id, "approve").await.expect(200);
    id
}

/// The attempts, once the push has come to this state.
async fn settled(stage: &Stage, id: &str, state: &str) -> Vec<Value> {
    eventually(&format!("the push to be {state}"), || async {
        let body = stage.alice.attempts(id).await.expect(200);
        (body["state"] == state).then(|| body["attempts"].as_array().cloned().unwrap_or_default())
    })
    .await
}
