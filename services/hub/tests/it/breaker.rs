//! A host that fails: its pushes are held and kept, nobody else's wait for it, and it is sent to again once it is back.

use std::collections::BTreeMap;

use hub_testkit::{Answer, CallbackSink, Human, TestHub, TestHubBuilder, client, envelope, eventually};
use serde_json::{Value, json};

use crate::stage::{AGENT, SECRET, SECRET_REF, Stage};

#[tokio::test]
async fn a_host_that_hangs_is_held_and_no_other_waits_for_it() {
    let hub = impatient().set("HUB_CALLBACK_TIMEOUT_MS", 300);
    let stage = Stage::on(hub.start().await).await;
    let dead = CallbackSink::http().await;
    stage.account.approve_host(AGENT, &dead.host()).await;
    dead.always(Answer::Hang);
    let owed = answered(&stage, &dead, 40).await;
    for id in &owed[20..] {
        state(&stage, id, "held").await;
    }
    for id in answered(&stage, &stage.sink, 20).await {
        state(&stage, &id, "delivered").await;
    }
    assert!(
        paused(&stage, &stage.alice_as_owner().await, &dead)
            .await
            .is_null()
    );

    dead.always(Answer::Status(204));
    for id in &owed {
        let attempts = state(&stage, id, "delivered").await;
        assert_eq!(count(&attempts, "delivered"), 1, "{attempts:?}");
    }
}

/// Nothing has failed yet, so no breaker is open: what the host has no room for rests all the same.
#[tokio::test]
async fn what_a_stuck_host_has_no_room_for_is_held_until_it_answers() {
    let hub = impatient()
        .set("HUB_CALLBACK_TIMEOUT_MS", 3000)
        .set("HUB_CALLBACK_PER_HOST_MAX", 2)
        .set("HUB_CALLBACK_BREAKER_FAILURES", 1_000_000);
    let stage = Stage::on(hub.start().await).await;
    stage.sink.always(Answer::Hang);
    let owed = answered(&stage, &stage.sink, 12).await;
    // Those before it fill the room that a claim may give.
    state(&stage, &owed[11], "held").await;
    stage.sink.always(Answer::Status(204));
    for id in &owed {
        state(&stage, id, "delivered").await;
    }
}

#[tokio::test]
async fn a_host_that_fails_for_long_is_paused_and_the_owner_told_and_resumes_it() {
    let hub = pausing().set("HUB_CALLBACK_PAUSE_PROBE_SECONDS", 3600);
    let stage = Stage::on(hub.start().await).await;
    let olivia = stage.alice_as_owner().await;
    stage.sink.always(Answer::Status(503));
    let owed = answered(&stage, &stage.sink, 10).await;
    let pause = until_paused(&stage, &olivia).await;
    assert_eq!(pause["by"], "system:hub");
    assert!(
        pause["probe_at"].is_string() && pause["at"].is_string(),
        "{pause}"
    );
    for id in &owed {
        let attempts = state(&stage, id, "held").await;
        assert_eq!(count(&attempts, "exhausted"), 0, "{attempts:?}");
    }
    told_once(&stage, &olivia).await;

    let before = stage.sink.received().len();
    stage.sink.always(Answer::Status(204));
    let resumed = olivia
        .post(&action(&stage, &stage.sink, "resume"), &json!({}))
        .await;
    assert_eq!(resumed.expect(200)["callback_host"].get("paused"), None);
    for id in &owed {
        state(&stage, id, "delivered").await;
    }
    let arrived = arrivals(&stage.sink, before);
    assert_eq!(arrived.len(), owed.len());
    assert!(arrived.values().all(|times| *times == 1), "{arrived:?}");
    assert_eq!(audited(&stage, &olivia).await, ["callback_host.resume"]);
}

#[tokio::test]
async fn a_paused_host_that_is_back_resumes_by_itself() {
    let hub = pausing().set("HUB_CALLBACK_PAUSE_PROBE_SECONDS", 1);
    let stage = Stage::on(hub.start().await).await;
    let olivia = stage.alice_as_owner().await;
    stage.sink.always(Answer::Close);
    let owed = answered(&stage, &stage.sink, 10).await;
    until_paused(&stage, &olivia).await;
    told_once(&stage, &olivia).await;

    stage.sink.always(Answer::Status(204));
    for id in &owed {
        let attempts = state(&stage, id, "delivered").await;
        assert_eq!(count(&attempts, "delivered"), 1, "{attempts:?}");
    }
    assert!(paused(&stage, &olivia, &stage.sink).await.is_null());
    assert_eq!(audited(&stage, &olivia).await, [""; 0]);
}

#[tokio::test]
async fn looks_at_a_paused_host_give_no_push_up() {
    let hub = pausing()
        .set("HUB_CALLBACK_PAUSE_PROBE_SECONDS", 1)
        .set("HUB_CALLBACK_MAX_ATTEMPTS", 40);
    let stage = Stage::on(hub.start().await).await;
    let olivia = stage.alice_as_owner().await;
    stage.sink.always(Answer::Status(500));
    let owed = answered(&stage, &stage.sink, 4).await;
    until_paused(&stage, &olivia).await;
    let before = stage.sink.received().len();
    stage.sink.await_received(before + 2).await;
    for id in &owed {
        let attempts = state(&stage, id, "held").await;
        assert_eq!(count(&attempts, "exhausted"), 0, "{attempts:?}");
    }
}

/// What is refused before it is sent says nothing of the host.
#[tokio::test]
async fn a_host_that_is_taken_back_from_one_agent_stays_paused_for_the_other() {
    const OTHER: &str = "deploybot/other";
    let hub = pausing().set("HUB_CALLBACK_PAUSE_PROBE_SECONDS", 1);
    let stage = Stage::on(hub.start().await).await;
    let olivia = stage.alice_as_owner().await;
    let other = stage.account.agent(OTHER).await;
    stage.account.approve_host(OTHER, &stage.sink.host()).await;
    stage.account.put_secret(OTHER, SECRET_REF, SECRET).await;
    stage.sink.always(Answer::Status(503));
    answered(&stage, &stage.sink, 2).await;
    let pause = until_paused(&stage, &olivia).await;

    let ask = envelope::confirm(OTHER, &stage.alice.address());
    let ask = envelope::with_hmac_push(ask, &stage.callback_url(), SECRET_REF);
    let owed = other.submitted(&ask).await;
    stage.alice.answer(&owed, "approve").await.expect(200);
    state(&stage, &owed, "held").await;
    let host = client::segment(&stage.sink.host());
    let path = stage
        .account
        .agent_path(OTHER, &format!("/callback-hosts/{host}"));
    stage.account.admin().delete(&path).await.expect(204);
    // In its turn it is sent to look whether the host is back.
    let attempts = state(&stage, &owed, "refused").await;
    assert_eq!(attempts.last().unwrap()["error"], "host_not_verified");
    let stands = paused(&stage, &olivia, &stage.sink).await;
    assert_eq!(stands["at"], pause["at"], "the pause has ended: {stands}");
}

#[tokio::test]
async fn an_owner_pauses_a_host_and_what_is_owed_waits() {
    let stage = Stage::in_process().await;
    let olivia = stage.alice_as_owner().await;
    let pause = action(&stage, &stage.sink, "pause");
    stage
        .alice
        .post(&pause, &json!({}))
        .await
        .expect_error(403, "not_authorized");
    let unknown = stage
        .account
        .agent_path(AGENT, "/callback-hosts/unknown.example/pause");
    olivia
        .post(&unknown, &json!({}))
        .await
        .expect_error(404, "not_found");

    let host = olivia.post(&pause, &json!({})).await.expect(200)["callback_host"].clone();
    assert_eq!(host["paused"]["by"], olivia.address());
    assert_eq!(host["paused"].get("probe_at"), None, "only a person resumes it");
    let owed = answered(&stage, &stage.sink, 5).await;
    for id in &owed {
        assert_eq!(state(&stage, id, "held").await, [Value::Null; 0]);
    }
    assert!(stage.sink.received().is_empty());

    let resume = action(&stage, &stage.sink, "resume");
    for _ in 0..2 {
        olivia.post(&resume, &json!({})).await.expect(200);
    }
    for id in &owed {
        state(&stage, id, "delivered").await;
    }
    assert!(arrivals(&stage.sink, 0).values().all(|times| *times == 1));
    let events = audited(&stage, &olivia).await;
    assert_eq!(
        events,
        [
            "callback_host.resume",
            "callback_host.resume",
            "callback_host.pause"
        ]
    );
}

#[tokio::test]
async fn no_agent_can_pass_for_the_hub() {
    let stage = Stage::in_process().await;
    let agents = stage.account.path("/agents");
    let created = stage
        .account
        .admin()
        .post(&agents, &json!({"id": "system:hub"}))
        .await;
    created.expect_error(422, "invalid_field");
    let mut forged = stage.confirm();
    forged["agent"]["id"] = json!("system:hub");
    stage
        .agent
        .submit(&forged)
        .await
        .expect_error(403, "agent_id_mismatch");
}

#[tokio::test]
async fn a_retry_after_is_honoured_within_bounds() {
    let hub = TestHub::builder().set("HUB_CALLBACK_MAX_DELAY_MS", 1000);
    let stage = Stage::on(hub.start().await).await;
    stage
        .sink
        .then([Answer::retry_after(1), Answer::retry_after(86_400)]);
    let id = answered(&stage, &stage.sink, 1).await.remove(0);
    state(&stage, &id, "delivered").await;
    let at: Vec<_> = stage.sink.received().iter().map(|push| push.at).collect();
    // Both are the longest pause, and the first retry alone would have come after the shortest.
    for pair in at.windows(2) {
        assert!((pair[1] - pair[0]).whole_milliseconds() >= 1000, "{at:?}");
    }
}

/// A hub whose breakers open soon, and which gives up late.
fn impatient() -> TestHubBuilder {
    TestHub::builder()
        .set("HUB_CALLBACK_BREAKER_FAILURES", 3)
        .set("HUB_CALLBACK_MAX_ATTEMPTS", 1000)
        .set("HUB_CALLBACK_MAX_DELAY_MS", 300)
}

/// The same, and it pauses what has failed for a second.
fn pausing() -> TestHubBuilder {
    impatient().set("HUB_CALLBACK_PAUSE_AFTER_SECONDS", 1)
}

impl Stage {
    async fn alice_as_owner(&self) -> Human {
        self.account.human("olivia", "owner").await
    }
}

/// Asks that alice has approved, pushed to this sink.
async fn answered(stage: &Stage, sink: &CallbackSink, count: usize) -> Vec<String> {
    let mut ids = Vec::new();
    for _ in 0..count {
        let ask = envelope::with_hmac_push(stage.confirm(), &sink.url("/resume"), SECRET_REF);
        let id = stage.agent.submitted(&ask).await;
        stage.alice.answer(&id, "approve").await.expect(200);
        ids.push(id);
    }
    ids
}

/// The attempts, once the push has come to this state.
async fn state(stage: &Stage, id: &str, state: &str) -> Vec<Value> {
    eventually(&format!("the push to be {state}"), || async {
        let body = stage.alice.attempts(id).await.expect(200);
        (body["state"] == state).then(|| body["attempts"].as_array().cloned().unwrap_or_default())
    })
    .await
}

fn count(attempts: &[Value], outcome: &str) -> usize {
    attempts
        .iter()
        .filter(|attempt| attempt["outcome"] == outcome)
        .count()
}

/// How often each Response came in after the first `before` requests.
fn arrivals(sink: &CallbackSink, before: usize) -> BTreeMap<String, usize> {
    let mut times = BTreeMap::new();
    for push in &sink.received()[before..] {
        let id = push.json()["in_reply_to"].as_str().unwrap().to_owned();
        *times.entry(id).or_default() += 1;
    }
    times
}

fn action(stage: &Stage, sink: &CallbackSink, action: &str) -> String {
    let host = client::segment(&sink.host());
    stage
        .account
        .agent_path(AGENT, &format!("/callback-hosts/{host}/{action}"))
}

/// What is said of a host's pause; null where it is not paused.
async fn paused(stage: &Stage, owner: &Human, sink: &CallbackSink) -> Value {
    let listed = owner
        .get(&stage.account.agent_path(AGENT, "/callback-hosts"))
        .await
        .expect(200);
    let hosts = listed["callback_hosts"].as_array().unwrap().iter();
    hosts
        .filter(|host| host["host"] == sink.host())
        .map(|host| host["paused"].clone())
        .next()
        .unwrap()
}

async fn until_paused(stage: &Stage, owner: &Human) -> Value {
    eventually("the host to be paused", || async {
        let pause = paused(stage, owner, &stage.sink).await;
        (!pause.is_null()).then_some(pause)
    })
    .await
}

/// Waits for the hub's word in the owner's inbox.
async fn told_once(stage: &Stage, owner: &Human) {
    let notices = eventually("a notify of the pause", || async {
        let list = owner.messages("?type=notify").await.expect(200);
        let notices = list["messages"].as_array().unwrap().clone();
        (!notices.is_empty()).then_some(notices)
    })
    .await;
    assert_eq!(notices.len(), 1, "{notices:?}");
    let id = notices[0]["id"].as_str().unwrap();
    let notice = owner.message(id).await.expect(200);
    let text = notice.to_string();
    assert!(
        text.contains("system:hub") && text.contains(&stage.sink.host()),
        "{text}"
    );
    assert!(
        notice["rendered"]["body_html"]
            .as_str()
            .unwrap()
            .contains("Every answer owed"),
        "{text}"
    );
    stage.agent.message(id).await.expect_error(404, "not_found");
}

/// What was done to callback hosts by hand, newest first.
async fn audited(stage: &Stage, owner: &Human) -> Vec<String> {
    let audit = owner.get(&stage.account.path("/audit")).await.expect(200);
    let actions = audit["events"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["actor"] == owner.address());
    actions
        .map(|event| event["action"].as_str().unwrap().to_owned())
        .collect()
}
