//! Many want to end one ask at once: one of them does, and everybody is told the same.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use hub_testkit::{Reply, eventually};
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use crate::stage::Stage;

const PARALLEL: usize = 64;
const ROUNDS: usize = 12;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_resolves_cancels_and_the_expiry_one_wins_and_all_are_told_the_same() {
    let stage = Arc::new(Stage::processes(2).await);
    let mut statuses = HashSet::new();
    for round in 0..ROUNDS {
        statuses.insert(one_terminal(&stage, round).await);
    }
    assert!(
        statuses.len() > 1,
        "every round ended as {statuses:?}: they did not race"
    );
}

/// An ask that expires while 64 calls on both gateways try to end it.
async fn one_terminal(stage: &Arc<Stage>, round: usize) -> String {
    // From well before the calls to well after them: each kind of end is to win sometimes.
    let expires_at = OffsetDateTime::now_utc() + Duration::from_millis(150 + 60 * round as u64);
    let mut ask = stage.confirm_with_push();
    ask["expires_at"] = json!(expires_at.format(&Rfc3339).unwrap());
    ask["request"]["default_on_expire"] = json!("deny");
    let id = stage.agent.submitted(&ask).await;

    let mut told = Vec::new();
    for reply in race(stage, &id).await {
        let body = reply.json();
        match reply.status.as_u16() {
            200 => told.push((body["status"].clone(), true)),
            409 => {
                assert_eq!(body["error"]["code"], "already_terminal", "{body}");
                assert_eq!(body["id"], id.as_str());
                assert_eq!(body["resolution"], body["status"]);
                told.push((body["status"].clone(), false));
            }
            other => panic!("{other}: {body}"),
        }
    }
    let (final_status, resolution_id) = outcome(stage, &id).await;
    for (status, _) in &told {
        assert_eq!(status, &final_status, "round {round}: one was told otherwise");
    }
    let winners = told.iter().filter(|(_, won)| *won).count();
    match final_status.as_str().unwrap() {
        // Each resolve is an operation of its own, so one has won.
        "answered" | "declined" => assert_eq!(winners, 1, "round {round}: {told:?}"),
        // A cancel of what is cancelled is told the same success (§8.4).
        "cancelled" => assert!(winners >= 1, "round {round}"),
        "expired" => assert_eq!(winners, 0, "round {round}"),
        other => panic!("an ask ended as {other}"),
    }
    let push = stage
        .sink
        .await_request(&id, |request| request.text().contains(&id))
        .await
        .json();
    assert_eq!(
        (&push["resolution"], &push["resolution_id"]),
        (&final_status, &resolution_id)
    );
    final_status.as_str().unwrap().to_owned()
}

async fn race(stage: &Arc<Stage>, id: &str) -> Vec<Reply> {
    let together = Arc::new(Barrier::new(PARALLEL));
    let mut calls = JoinSet::new();
    for number in 0..PARALLEL {
        let (stage, id, together) = (Arc::clone(stage), id.to_owned(), Arc::clone(&together));
        calls.spawn(async move {
            let gateways = stage.hub.base_urls();
            let gateway = gateways[number % gateways.len()].clone();
            together.wait().await;
            match number % 4 {
                0 => stage.alice.on(&gateway).answer(&id, "approve").await,
                1 => {
                    stage
                        .alice
                        .on(&gateway)
                        .resolve(&id, &json!({"resolution": "declined"}))
                        .await
                }
                2 => stage.alice.on(&gateway).answer(&id, "deny").await,
                _ => stage.agent.on(&gateway).cancel(&id).await,
            }
        });
    }
    calls.join_all().await
}

/// Status and resolution id, which every gateway gives alike, again and again.
async fn outcome(stage: &Stage, id: &str) -> (Value, Value) {
    let mut seen = HashSet::new();
    let mut outcome = None;
    for gateway in stage.hub.base_urls().iter().cycle().take(4) {
        let body = eventually("a terminal status", || async {
            let body = stage.agent.on(gateway).message(id).await.expect(200);
            (body["status"] != "open").then_some(body)
        })
        .await;
        seen.insert((body["status"].to_string(), body["response"].to_string()));
        outcome = Some((body["status"].clone(), body["response"]["resolution_id"].clone()));
    }
    assert_eq!(seen.len(), 1, "read differently: {seen:?}");
    outcome.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_identical_submits_at_once_make_one_message() {
    let stage = Arc::new(Stage::in_process().await);
    let ask = stage.confirm();
    let mut calls = JoinSet::new();
    for _ in 0..50 {
        let (stage, ask) = (Arc::clone(&stage), ask.clone());
        calls.spawn(async move { stage.agent.submit(&ask).await });
    }
    let ids: HashSet<String> = calls
        .join_all()
        .await
        .iter()
        .map(|reply| {
            reply.expect(202);
            reply.text_at("id")
        })
        .collect();
    assert_eq!(ids.len(), 1);

    let mut changed = ask.clone();
    changed["title"] = json!("another question?");
    stage
        .agent
        .submit(&changed)
        .await
        .expect_error(409, "idempotency_conflict");
    let mut restarted = ask;
    restarted["agent"]["run_id"] = json!("run-2");
    assert!(
        ids.contains(&stage.agent.submitted(&restarted).await),
        "a new run recovers the same message"
    );
}

#[tokio::test]
async fn an_answer_after_expiry_loses_to_the_default_also_when_nobody_swept() {
    // A sweeper that never comes: what is overdue is moved by whoever asks.
    let hub = hub_testkit::TestHub::builder()
        .set("HUB_SWEEP_INTERVAL_MS", "3600000")
        .start()
        .await;
    let stage = Stage::on(hub).await;
    let mut ask = stage.confirm();
    let expires_at = OffsetDateTime::now_utc() + Duration::from_millis(300);
    ask["expires_at"] = json!(expires_at.format(&Rfc3339).unwrap());
    ask["request"]["default_on_expire"] = json!("deny");
    let [answered, cancelled, read] = [
        stage.agent.submitted(&ask).await,
        keyed(&stage, &ask).await,
        keyed(&stage, &ask).await,
    ];
    // The hub's word, not this test's clock, says when it is over.
    eventually("the expiry", || async {
        (stage.agent.message(&read).await.expect(200)["status"] == "expired").then_some(())
    })
    .await;

    let late = stage.alice.answer(&answered, "approve").await;
    late.expect_error(409, "already_terminal");
    assert_eq!(late.json()["resolution"], "expired");
    stage
        .agent
        .cancel(&cancelled)
        .await
        .expect_error(409, "already_terminal");
    for id in [answered, cancelled, read] {
        let body = stage.agent.message(&id).await.expect(200);
        let response = &body["response"];
        assert_eq!(
            (&body["status"], &response["defaulted"]),
            (&json!("expired"), &json!(true))
        );
        assert_eq!(response["response"]["value"], "deny");
        assert_eq!(response["response"]["actor"], "system:default_on_expire");
    }
}

async fn keyed(stage: &Stage, ask: &Value) -> String {
    let mut ask = ask.clone();
    ask["idempotency_key"] = json!(hub_testkit::unique());
    stage.agent.submitted(&ask).await
}
