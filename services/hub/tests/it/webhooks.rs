//! Directives pushed to their addressee's webhook (§8.7): signed, tried again, and never the source of truth.

use std::time::Duration;

use hub_platform::db::Tier;
use hub_testkit::client::segment;
use hub_testkit::{Answer, CallbackSink, Received, TestHub, eventually};
use ma2h_hub::tiers;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use time::OffsetDateTime;

use crate::claims::sql;
use crate::mailbox::{Drained, ENTRY_SECRET, Post, WORKER, ack, directed, drain, hub_key, ids};

const SECRET_REF: &str = "env:WEBHOOK_SECRET";
const SECRET: &str = "a secret of the webhook's, 0123456789";

/// A worker with a webhook, and what listens there.
struct Hooked {
    post: Post,
    sink: CallbackSink,
}

impl Hooked {
    async fn start() -> Self {
        Self::on(TestHub::start().await).await
    }

    async fn on(hub: TestHub) -> Self {
        let post = Post::on(hub).await;
        let sink = CallbackSink::http().await;
        post.account.approve_host(WORKER, &sink.host()).await;
        post.account.put_secret(WORKER, SECRET_REF, SECRET).await;
        let hooked = Self { post, sink };
        let auth = json!({"scheme": "hmac", "secret_ref": SECRET_REF});
        hooked.put(&auth).await.expect(200);
        hooked
    }

    fn path(&self) -> String {
        self.post.account.agent_path(WORKER, "/webhook")
    }

    fn host_path(&self, rest: &str) -> String {
        let host = segment(&self.sink.host());
        let account = &self.post.account;
        account.agent_path(WORKER, &format!("/callback-hosts/{host}{rest}"))
    }

    async fn put(&self, auth: &Value) -> hub_testkit::Reply {
        let body = json!({"url": self.sink.url("/inbox"), "auth": auth});
        self.post.account.admin().put(&self.path(), &body).await
    }

    async fn host(&self, verb: &str) {
        let path = self.host_path(&format!("/{verb}"));
        self.post
            .account
            .admin()
            .post(&path, &json!({}))
            .await
            .expect(200);
    }

    /// Waits until the track says so.
    async fn await_state(&self, id: &str, state: &str) {
        eventually(&format!("the directive to be {state}"), || async {
            (self.post.state(id).await == state).then_some(())
        })
        .await;
    }

    /// Waits until the push of a directive has come to this.
    async fn await_push(&self, id: &str, state: &str) {
        let database = self.post.hub.database().connect().await;
        let sql = "SELECT state FROM lifecycle.pushes WHERE account = $1 AND message_id = $2";
        eventually(&format!("the push to be {state}"), || async {
            let row = database.query_one(sql, &[&self.post.account.id(), &id]).await;
            (row.unwrap().get::<_, &str>("state") == state).then_some(())
        })
        .await;
    }
}

/// What was pushed, as a drain would give it.
fn pushed(push: &Received) -> Drained {
    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Body {
        directive: Box<RawValue>,
    }
    let body: Body = serde_json::from_slice(&push.body).unwrap();
    let directive: Value = serde_json::from_str(body.directive.get()).unwrap();
    Drained {
        id: directive["id"].as_str().unwrap().to_owned(),
        directive: body.directive.get().to_owned(),
        signature: format!("MA2H-Signature: {}", push.header("ma2h-signature").unwrap()),
    }
}

#[tokio::test]
async fn a_directive_is_pushed_and_stays_in_the_mailbox_until_it_is_acknowledged() {
    let hooked = Hooked::start().await;
    let id = hooked.post.direct("Both ways").await;
    let push = hooked.sink.await_received(1).await.remove(0);
    assert_eq!(push.path, "/inbox");
    let entry = pushed(&push);
    assert_eq!(entry.id, id);
    entry.verify("hmac-sha256", SECRET).unwrap();
    assert!(entry.verify("hmac-sha256", ENTRY_SECRET).is_err());
    hooked.await_state(&id, "delivered").await;
    assert!(hooked.post.track(&id).await["delivered_at"].is_string());

    let drained = drain(&hooked.post.worker, "").await;
    assert_eq!(drained[0].directive, entry.directive, "one text on both ways");
    assert_ne!(drained[0].part("jti"), entry.part("jti"));
    assert_eq!(ack(&hooked.post.worker, std::slice::from_ref(&id)).await, 1);
    assert_eq!(hooked.post.state(&id).await, "acknowledged");
    assert_eq!(hooked.sink.received().len(), 1);
}

#[tokio::test]
async fn a_webhook_authenticates_as_a_callback_does() {
    let hooked = Hooked::start().await;
    let cases = [
        ("bearer", "authorization", format!("Bearer {SECRET}")),
        ("apikey", "x-api-key", SECRET.to_owned()),
    ];
    for (number, (scheme, header, value)) in cases.iter().enumerate() {
        let auth = json!({"scheme": scheme, "token_ref": SECRET_REF});
        hooked.put(&auth).await.expect(200);
        let read = hooked.post.account.admin().get(&hooked.path()).await.expect(200);
        assert_eq!(read, json!({"url": hooked.sink.url("/inbox"), "auth": auth}));
        hooked.post.direct(scheme).await;
        let push = hooked.sink.await_received(number + 1).await.remove(number);
        assert_eq!(push.header(header), Some(value.as_str()));
        pushed(&push).verify("hmac-sha256", ENTRY_SECRET).unwrap();
    }
    // Without a key of its own, an agent's mail is signed with the hub's.
    let entry_key = hooked.post.account.agent_path(WORKER, "/entry-key");
    let admin = hooked.post.account.admin();
    admin
        .put(&entry_key, &json!({"alg": "ed25519"}))
        .await
        .expect(200);
    hooked.post.direct("By the hub").await;
    let push = hooked.sink.await_received(3).await.remove(2);
    let key = hub_key(&hooked.post.hub).await;
    pushed(&push).verify("ed25519", &key).unwrap();
    assert!(push.header("ma2h-key-id").is_some());
}

#[tokio::test]
async fn a_webhook_that_fails_is_tried_again_each_time_with_a_new_nonce() {
    let hooked = Hooked::start().await;
    hooked.sink.then([Answer::Status(503), Answer::Close]);
    let id = hooked.post.direct("Again").await;
    let pushes = hooked.sink.await_received(3).await;
    let entries: Vec<Drained> = pushes.iter().map(pushed).collect();
    for (at, entry) in entries.iter().enumerate() {
        assert_eq!(entry.id, id);
        entry.verify("hmac-sha256", SECRET).unwrap();
        let earlier = &entries[..at];
        assert!(earlier.iter().all(|other| other.part("jti") != entry.part("jti")));
    }
    hooked.await_state(&id, "delivered").await;
}

#[tokio::test]
async fn a_refusal_is_final_and_no_delivery() {
    let hooked = Hooked::start().await;
    hooked.sink.then([Answer::Status(410)]);
    let refused = hooked.post.direct("Refused").await;
    hooked.await_push(&refused, "refused").await;
    let taken = hooked.post.direct("Taken").await;
    hooked.await_state(&taken, "delivered").await;
    assert_eq!(hooked.post.state(&refused).await, "queued");
    assert_eq!(hooked.sink.received().len(), 2);
    assert_eq!(ids(&drain(&hooked.post.worker, "").await), [refused, taken]);
}

/// A drain that could not hand over what it claimed takes back its own delivery, not the push's.
#[tokio::test]
async fn what_a_push_delivered_stays_delivered_when_a_drain_is_taken_back() {
    let hooked = Hooked::start().await;
    hooked.host("pause").await;
    let id = hooked.post.direct("Both ways").await;
    hooked.await_push(&id, "held").await;
    assert_eq!(
        ids(&drain(&hooked.post.worker, "").await),
        std::slice::from_ref(&id)
    );
    hooked.host("resume").await;
    hooked.await_push(&id, "delivered").await;

    let database = hooked.post.hub.database().connect().await;
    let account = hooked.post.account.id();
    let claimed = "SELECT claim_id FROM lifecycle.entries WHERE account = $1 AND entry_id = $2";
    let claimed = database.query_one(claimed, &[&account, &id]).await.unwrap();
    let claim_id: String = claimed.get("claim_id");
    let statements = tiers::statements(Tier::Lifecycle);
    let unclaim = statements.iter().find(|(name, _)| *name == "unclaim entries");
    let values: [&(dyn tokio_postgres::types::ToSql + Sync); 4] =
        [&account, &WORKER, &claim_id, &Vec::<String>::new()];
    let taken_back = database.query(unclaim.unwrap().1, &values).await.unwrap();
    assert_eq!(taken_back.len(), 1);
    assert_eq!(hooked.post.state(&id).await, "delivered");
    assert_eq!(ids(&drain(&hooked.post.worker, "").await), [id]);
}

/// PostgreSQL was away when the webhook took it, and until its time was over. `expired` means that it was never delivered.
#[tokio::test]
async fn what_a_webhook_took_does_not_expire_before_that_is_recorded() {
    let hooked = Hooked::start().await;
    hooked.host("pause").await;
    let taken = hooked.post.direct("Taken").await;
    let untried = hooked.post.direct("Not tried").await;
    hooked.await_push(&taken, "held").await;
    hooked.await_push(&untried, "held").await;
    let database = hooked.post.hub.database().connect().await;
    let account = hooked.post.account.id();
    // As it lies when the attempt's claim has run out and another's has not come to an end either.
    let under_way = "UPDATE lifecycle.pushes
                     SET state = 'due', attempts = 2, started_at = now(), claim_id = 'clm_second', claim_until = now(),
                         due_at = now() + interval '1 hour'
                     WHERE account = $1 AND message_id = $2";
    assert_eq!(database.execute(under_way, &[&account, &taken]).await.unwrap(), 1);
    let over = "UPDATE lifecycle.entries SET drops_at = now() WHERE account = $1";
    assert_eq!(database.execute(over, &[&account]).await.unwrap(), 2);
    hooked.await_state(&untried, "expired").await;
    assert_eq!(hooked.post.state(&taken).await, "queued");
    let listed = hooked
        .post
        .alice
        .get("/v1/directives?state=queued")
        .await
        .expect(200);
    assert_eq!(
        listed["directives"][0]["directive"]["id"],
        taken.as_str(),
        "{listed}"
    );

    let settle = database.prepare(sql("settle pushes")).await.unwrap();
    let (accounts, ids) = (vec![account], vec![taken.as_str()]);
    let (one, pause) = (vec![1_i32], vec![0_i64]);
    let (delivered, status, error) = (vec!["delivered"], vec![Some(204_i32)], vec![None::<&str>]);
    let (not_a_probe, untold) = (vec![false], None::<Vec<String>>);
    let mut values: Vec<&(dyn tokio_postgres::types::ToSql + Sync)> = vec![
        &"clm_first",
        &accounts,
        &ids,
        &one,
        &one,
        &delivered,
        &pause,
        &status,
        &error,
        &one,
        &not_a_probe,
    ];
    // What else may be told of an attempt.
    values.resize(settle.params().len(), &untold);
    assert_eq!(database.query(&settle, &values).await.unwrap().len(), 1);
    hooked.await_push(&taken, "delivered").await;
    assert_eq!(hooked.post.state(&taken).await, "delivered");
    assert_eq!(database.query(&settle, &values).await.unwrap().len(), 0, "once");
}

/// What is over before its push is not pushed; nor is what may expire under way, for then nobody could say which was first.
#[tokio::test]
async fn what_has_ended_is_not_pushed_any_more() {
    let hooked = Hooked::start().await;
    hooked.host("pause").await;
    let acked = hooked.post.direct("Acknowledged").await;
    hooked.await_push(&acked, "held").await;
    assert_eq!(ack(&hooked.post.worker, std::slice::from_ref(&acked)).await, 1);
    let expires_at = OffsetDateTime::now_utc() + Duration::from_secs(5);
    let expires_at = expires_at.format(&time::format_description::well_known::Rfc3339);
    let body = json!({"to": format!("agent:{WORKER}"), "title": "Short", "expires_at": expires_at.unwrap()});
    let short = hooked.post.alice.post("/v1/directives", &body).await.expect(201);
    let short = short["directive"]["id"].as_str().unwrap();
    hooked.await_push(short, "ended").await;

    hooked.host("resume").await;
    hooked.await_push(&acked, "ended").await;
    let next = hooked.post.direct("Next").await;
    hooked.await_state(&next, "delivered").await;
    let pushes = hooked.sink.received();
    assert_eq!(
        pushes.iter().map(|push| pushed(push).id).collect::<Vec<_>>(),
        [next]
    );
    hooked.await_state(short, "expired").await;
}

#[tokio::test]
async fn a_webhook_is_on_a_verified_host_and_its_secret_is_there() {
    let hooked = Hooked::start().await;
    let (account, admin) = (&hooked.post.account, hooked.post.account.admin());
    let other = "orchard/other";
    account.agent(other).await;
    let path = account.agent_path(other, "/webhook");
    let auth = json!({"scheme": "hmac", "secret_ref": SECRET_REF});
    let body = json!({"url": hooked.sink.url("/inbox"), "auth": auth});
    admin.get(&path).await.expect_error(404, "not_found");
    admin.delete(&path).await.expect_error(404, "not_found");
    // What another agent has is of no use.
    let refused = admin.put(&path, &body).await;
    assert!(refused.expect_error(422, "invalid_field").starts_with("url: "));
    account.approve_host(other, &hooked.sink.host()).await;
    let refused = admin.put(&path, &body).await;
    assert!(
        refused
            .expect_error(422, "invalid_field")
            .starts_with("auth.secret_ref: ")
    );
    account.put_secret(other, SECRET_REF, SECRET).await;
    admin.put(&path, &body).await.expect(200);
    // A pending host is no verified one.
    let pending = json!({"host": "pending.example", "method": "well-known"});
    let hosts = account.agent_path(other, "/callback-hosts");
    admin.post(&hosts, &pending).await.expect(201);
    let pending = json!({"url": "https://pending.example/inbox", "auth": auth});
    admin
        .put(&path, &pending)
        .await
        .expect_error(422, "invalid_field");
    assert_eq!(admin.get(&path).await.expect(200), body, "the one before stands");
    let nobody = account.agent_path("orchard/nobody", "/webhook");
    admin.put(&nobody, &body).await.expect_error(404, "not_found");

    hooked
        .post
        .alice
        .get(&path)
        .await
        .expect_error(403, "not_authorized");
    let stranger = hooked.post.hub.account("other").await.human("eve", "owner").await;
    for reply in [stranger.get(&path).await, stranger.put(&path, &body).await] {
        reply.expect_error(404, "not_found");
    }
    let audit = admin.get(&account.path("/audit")).await.expect(200);
    let noted = &audit["events"][0];
    assert_eq!(
        (&noted["action"], &noted["target"], &noted["detail"]["url"]),
        (
            &json!("webhook.put"),
            &json!(format!("agent:{other}")),
            &pending["url"]
        )
    );
}

#[tokio::test]
async fn what_is_owed_to_a_webhook_that_is_taken_back_is_not_pushed() {
    let hooked = Hooked::start().await;
    let admin = hooked.post.account.admin();
    hooked.host("pause").await;
    let first = hooked.post.direct("First").await;
    hooked.await_push(&first, "held").await;
    admin.delete(&hooked.path()).await.expect(204);
    hooked.host("resume").await;
    hooked.await_push(&first, "ended").await;

    // With its host goes the webhook.
    hooked
        .put(&json!({"scheme": "hmac", "secret_ref": SECRET_REF}))
        .await
        .expect(200);
    admin.delete(&hooked.host_path("")).await.expect(204);
    admin.get(&hooked.path()).await.expect_error(404, "not_found");
    hooked.post.direct("Second").await;
    assert_eq!(drain(&hooked.post.worker, "").await.len(), 2);
    assert!(hooked.sink.received().is_empty());
}

/// Nobody resumes the host that it has left.
#[tokio::test]
async fn what_is_held_follows_a_webhook_that_moves() {
    let hooked = Hooked::start().await;
    let (account, admin) = (&hooked.post.account, hooked.post.account.admin());
    let auth = json!({"scheme": "hmac", "secret_ref": SECRET_REF});
    let elsewhere = CallbackSink::http().await;
    account.approve_host(WORKER, &elsewhere.host()).await;
    hooked.host("pause").await;
    let mut held = Vec::new();
    for title in ["First", "Second", "Third"] {
        held.push(hooked.post.direct(title).await);
    }
    for id in &held {
        hooked.await_push(id, "held").await;
    }
    let body = json!({"url": elsewhere.url("/inbox"), "auth": auth});
    admin.put(&hooked.path(), &body).await.expect(200);
    for id in &held {
        hooked.await_push(id, "delivered").await;
    }
    elsewhere.await_received(3).await;

    hooked.put(&auth).await.expect(200);
    let last = hooked.post.direct("Last").await;
    hooked.await_push(&last, "held").await;
    admin.delete(&hooked.path()).await.expect(204);
    hooked.await_push(&last, "ended").await;
    assert!(hooked.sink.received().is_empty());
}

/// Nothing of what was written to the agent of before reaches the next one of its id.
#[tokio::test]
async fn a_webhook_goes_with_its_agent() {
    let hooked = Hooked::start().await;
    let (account, admin) = (&hooked.post.account, hooked.post.account.admin());
    hooked.host("pause").await;
    let before = hooked.post.direct("Before").await;
    hooked.await_push(&before, "held").await;
    admin.delete(&account.agent_path(WORKER, "")).await.expect(204);
    account.agent(WORKER).await;
    admin.get(&hooked.path()).await.expect_error(404, "not_found");
    account.approve_host(WORKER, &hooked.sink.host()).await;
    account.put_secret(WORKER, SECRET_REF, SECRET).await;
    hooked
        .put(&json!({"scheme": "hmac", "secret_ref": SECRET_REF}))
        .await
        .expect(200);
    hooked.await_push(&before, "ended").await;
    let after = directed(&hooked.post.alice, WORKER, "After").await;
    hooked.await_state(&after, "delivered").await;
    assert_eq!(pushed(&hooked.sink.received()[0]).id, after);
}

#[tokio::test]
async fn what_was_given_up_can_be_pushed_again() {
    let hub = TestHub::builder()
        .set("HUB_CALLBACK_MAX_ATTEMPTS", "2")
        .start()
        .await;
    let hooked = Hooked::on(hub).await;
    hooked.sink.then([Answer::Status(503), Answer::Status(503)]);
    let id = hooked.post.direct("Given up").await;
    hooked.await_push(&id, "exhausted").await;
    assert_eq!(hooked.post.state(&id).await, "queued");
    let again = hooked
        .post
        .alice
        .post("/v1/redeliver?state=exhausted", &json!({}))
        .await;
    assert_eq!(again.expect(202), json!({"redelivering": 1, "more": false}));
    hooked.await_state(&id, "delivered").await;
}

/// It is tried again with a new signature, once the worker that had it is found to be gone.
#[tokio::test]
async fn what_is_owed_to_a_webhook_outlives_a_kill() {
    let hub = TestHub::builder()
        .set("HUB_REPUBLISH_AFTER_MS", "2000")
        .set("HUB_CALLBACK_TIMEOUT_MS", "2000")
        .set("HUB_CLAIM_SLACK_MS", "1000")
        .processes(1)
        .await;
    let mut hooked = Hooked::on(hub).await;
    hooked.sink.then([Answer::Hang]);
    let id = hooked.post.direct("Over a kill").await;
    hooked.sink.await_received(1).await;
    hooked.post.hub.tiers().kill(Tier::Delivery, 0).await;
    hooked.post.hub.tiers().restart(Tier::Delivery, 0);
    hooked.post.hub.await_ready().await;
    let pushes = hooked.sink.await_received(2).await;
    let entries: Vec<Drained> = pushes.iter().map(pushed).collect();
    assert!(entries.iter().all(|entry| entry.id == id));
    assert_ne!(entries[0].part("jti"), entries[1].part("jti"));
    hooked.await_state(&id, "delivered").await;
}
