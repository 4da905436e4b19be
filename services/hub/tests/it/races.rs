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

use crate::persistent::Persistent;
use crate::stage::Stage;

const PARALLEL: usize = 64;
const ROUNDS: u32 = 24;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_resolves_cancels_and_the_expiry_one_wins_and_all_are_told_the_same() {
    let stage = Stage::processes(2).await;
    let mut statuses = HashSet::new();
    for round in 0..ROUNDS {
        // From well before the calls to well after them: each kind of end is to win sometimes.
        let race = Race::start(
            &stage,
            Duration::from_millis(100) + Duration::from_millis(40) * round,
        )
        .await;
        statuses.insert(race.settle(&stage).await);
    }
    assert!(
        statuses.len() > 1,
        "every round ended as {statuses:?}: they did not race"
    );
}

/// An ask that expires while 64 calls, spread over all gateways, try to end it.
pub(crate) struct Race {
    id: String,
    calls: JoinSet<Reply>,
}

impl Race {
    pub(crate) async fn start(stage: &Stage, expires_in: Duration) -> Self {
        let id = expiring_ask(stage, expires_in).await;
        let agent = Persistent::new(&stage.agent, stage.hub.base_urls());
        let alice = Persistent::new(&stage.alice, stage.hub.base_urls());

        let together = Arc::new(Barrier::new(PARALLEL));
        let mut calls = JoinSet::new();
        for number in 0..PARALLEL {
            let (resolve, cancel) = (
                format!("/v1/messages/{id}/resolve"),
                format!("/v1/messages/{id}/cancel"),
            );
            let (agent, alice, together) = (agent.clone(), alice.clone(), Arc::clone(&together));
            calls.spawn(async move {
                together.wait().await;
                let answered = |value: &str| json!({"resolution": "answered", "value": value});
                match number % 4 {
                    0 => alice.post(number, &resolve, &answered("approve")).await,
                    1 => {
                        alice
                            .post(number, &resolve, &json!({"resolution": "declined"}))
                            .await
                    }
                    2 => alice.post(number, &resolve, &answered("deny")).await,
                    _ => agent.post(number, &cancel, &json!({})).await,
                }
            });
        }
        Self { id, calls }
    }

    /// Holds what all were told against what is so, and returns how it ended.
    pub(crate) async fn settle(self, stage: &Stage) -> String {
        let Self { id, calls } = self;
        let told: Vec<(Value, bool)> = calls
            .join_all()
            .await
            .iter()
            .map(|reply| told(reply, &id))
            .collect();
        let (status, resolution_id) = outcome(stage, &id).await;
        for (said, _) in &told {
            assert_eq!(said, &status, "{id}: one was told otherwise");
        }
        let winners = told.iter().filter(|(_, won)| *won).count();
        match status.as_str().unwrap() {
            // Each resolve is an operation of its own: one has won. (The one whose answer a crash took with it asks
            // again, as a new operation, and is told what is so.)
            "answered" | "declined" => assert!(winners <= 1, "{id}: {told:?}"),
            // A cancel of what is cancelled is told the same success (§8.4).
            "cancelled" => assert!(winners >= 1, "{id}"),
            "expired" => assert_eq!(winners, 0, "{id}"),
            other => panic!("an ask ended as {other}"),
        }
        let push = stage
            .sink
            .await_request(&id, |request| request.text().contains(&id))
            .await
            .json();
        assert_eq!(
            (&push["resolution"], &push["resolution_id"]),
            (&status, &resolution_id)
        );
        status.as_str().unwrap().to_owned()
    }
}

/// On a busy machine an ask may be over before it arrives: it is given longer then.
async fn expiring_ask(stage: &Stage, mut expires_in: Duration) -> String {
    let mut ask = stage.confirm_with_push();
    ask["request"]["default_on_expire"] = json!("deny");
    loop {
        let expires_at = OffsetDateTime::now_utc() + expires_in;
        ask["expires_at"] = json!(expires_at.format(&Rfc3339).unwrap());
        let reply = stage.agent.submit(&ask).await;
        if reply.status.as_u16() == 202 {
            return reply.text_at("id");
        }
        reply.expect_error(422, "invalid_field");
        expires_in *= 2;
    }
}

/// The status that an answer names, and whether it says that this call brought it about.
fn told(reply: &Reply, id: &str) -> (Value, bool) {
    let body = reply.json();
    match reply.status.as_u16() {
        200 => (body["status"].clone(), true),
        409 => {
            assert_eq!(body["error"]["code"], "already_terminal", "{body}");
            assert_eq!(body["id"], id);
            assert_eq!(body["resolution"], body["status"]);
            (body["status"].clone(), false)
        }
        other => panic!("{other}: {body}"),
    }
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
async fn fifty_identical_submits_at_once_over_two_gateways_make_one_message() {
    let stage = Stage::processes(2).await;
    let ask = stage.confirm();
    let mut calls = JoinSet::new();
    for gateway in stage.hub.base_urls().iter().cycle().take(50) {
        let (agent, ask) = (stage.agent.on(gateway), ask.clone());
        calls.spawn(async move { agent.submit(&ask).await });
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
    assert_eq!(kept(&stage).await, [1, 1, 1]);
}

/// How many messages, envelopes and idempotency keys there are of the account.
async fn kept(stage: &Stage) -> [i64; 3] {
    let database = stage.hub.database().connect().await;
    let count = "SELECT (SELECT count(*) FROM lifecycle.messages WHERE account = $1),
                     (SELECT count(*) FROM lifecycle.envelopes WHERE account = $1),
                     (SELECT count(*) FROM lifecycle.idempotency WHERE account = $1)";
    let row = database.query_one(count, &[&stage.account.id()]).await.unwrap();
    [row.get(0), row.get(1), row.get(2)]
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
    let expires_at = OffsetDateTime::now_utc() + Duration::from_secs(4);
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

#[tokio::test]
async fn what_has_expired_is_listed_also_when_nobody_swept() {
    let hub = hub_testkit::TestHub::builder()
        .set("HUB_SWEEP_INTERVAL_MS", "3600000")
        .start()
        .await;
    let stage = Stage::on(hub).await;
    let mut ask = stage.confirm();
    let expires_at = OffsetDateTime::now_utc() + Duration::from_secs(2);
    ask["expires_at"] = json!(expires_at.format(&Rfc3339).unwrap());
    let [unread, read] = [keyed(&stage, &ask).await, keyed(&stage, &ask).await];
    eventually("the expiry", || async {
        (stage.agent.message(&read).await.expect(200)["status"] == "expired").then_some(())
    })
    .await;
    let listed = stage.alice.messages("?status=expired").await.expect(200);
    let messages = listed["messages"].as_array().unwrap().iter();
    let ids: Vec<_> = messages.map(|message| message["id"].as_str().unwrap()).collect();
    assert_eq!(ids, [read, unread], "{listed}");
}

async fn keyed(stage: &Stage, ask: &Value) -> String {
    let mut ask = ask.clone();
    ask["idempotency_key"] = json!(hub_testkit::unique());
    stage.agent.submitted(&ask).await
}
