//! Administration over all tiers: what goes with an agent, an account, a human.

use std::time::Duration;

use hub_testkit::{TestHub, envelope, eventually};
use serde_json::json;

use crate::stage::{AGENT, SECRET_REF, Stage};

#[tokio::test]
async fn an_agent_that_is_made_again_inherits_nothing() {
    let stage = Stage::in_process().await;
    let (account, admin) = (&stage.account, stage.account.admin());
    account
        .put_hmac_entry_key(AGENT, "an entry key of sixteen bytes and more")
        .await;
    let path = account.path("/agents");
    let agent_path = |rest: &str| account.agent_path(AGENT, rest);
    admin.delete(&agent_path("")).await.expect(204);
    assert_eq!(kept_rows(&stage, account.id()).await, 0);
    admin.delete(&agent_path("")).await.expect_error(404, "not_found");

    // As by a call that was under way while the agent was deleted.
    let database = stage.hub.database().connect().await;
    let leftover = "INSERT INTO delivery.callback_hosts (account, agent, host, method, status) \
                    VALUES ($1, $2, 'old.example', 'operator', 'verified')";
    database
        .execute(leftover, &[&account.id(), &AGENT])
        .await
        .unwrap();
    admin.post(&path, &json!({"id": AGENT})).await.expect(201);
    admin
        .post(&path, &json!({"id": AGENT}))
        .await
        .expect_error(409, "conflict");
    let hosts = admin.get(&agent_path("/callback-hosts")).await.expect(200);
    assert_eq!(hosts["callback_hosts"], json!([]));
    let secrets = admin.get(&agent_path("/secrets")).await.expect(200);
    assert_eq!(secrets["secrets"], json!([]));
    assert_eq!(
        admin.get(&agent_path("/entry-key")).await.expect(200)["alg"],
        "ed25519"
    );
}

/// As of a call that was under way while it was deleted, or of a hub that died in it: it is found by looking.
#[tokio::test]
async fn what_is_kept_of_an_agent_after_its_deletion_is_forgotten_later_and_not_of_the_next() {
    let stage = Stage::in_process().await;
    let (account, admin) = (&stage.account, stage.account.admin());
    let database = stage.hub.database().connect().await;
    let look_now = async || {
        let due = "UPDATE directory.leaving SET due_at = statement_timestamp() WHERE account = $1";
        database.execute(due, &[&account.id()]).await.unwrap()
    };
    let await_done = async || {
        let leaving = "SELECT count(*) AS leaving FROM directory.leaving WHERE account = $1";
        eventually("it to be looked after", || async {
            let row = database.query_one(leaving, &[&account.id()]).await.unwrap();
            (row.get::<_, i64>("leaving") == 0).then_some(())
        })
        .await;
    };
    admin.delete(&account.agent_path(AGENT, "")).await.expect(204);
    let leftover = "INSERT INTO delivery.callback_hosts (account, agent, host, method, status) \
                    VALUES ($1, $2, 'old.example', 'operator', 'verified')";
    database
        .execute(leftover, &[&account.id(), &AGENT])
        .await
        .unwrap();
    assert_eq!(look_now().await, 1);
    await_done().await;
    assert_eq!(kept_rows(&stage, account.id()).await, 0);

    account.agent(AGENT).await;
    admin.delete(&account.agent_path(AGENT, "")).await.expect(204);
    account.agent(AGENT).await;
    account
        .put_secret(AGENT, SECRET_REF, "a secret of the next one, 0123456789")
        .await;
    assert_eq!(look_now().await, 1);
    await_done().await;
    assert_eq!(kept_rows(&stage, account.id()).await, 1);
}

#[tokio::test]
async fn nothing_goes_out_for_an_account_that_is_gone() {
    let stage = Stage::in_process().await;
    let mut ask = stage.confirm_with_push();
    ask["expires_at"] = json!(soon());
    stage.agent.submitted(&ask).await;
    let deleted = stage.account.admin().delete(&stage.account.path("")).await;
    deleted.expect(204);
    assert_eq!(kept_rows(&stage, stage.account.id()).await, 0);
    stage
        .agent
        .get("/v1/messages")
        .await
        .expect_error(401, "unauthenticated");
    // The ask expires and its push comes due, to be refused.
    tokio::time::sleep(Duration::from_secs(4)).await;
    assert!(stage.sink.received().is_empty());
    stage
        .account
        .admin()
        .get(&stage.account.path(""))
        .await
        .expect_error(404, "not_found");
}

#[tokio::test]
async fn what_is_deleted_is_gone_once() {
    let stage = Stage::in_process().await;
    let admin = stage.account.admin();
    let secret = format!("/secrets/{}", hub_testkit::client::segment(SECRET_REF));
    let host = format!("/callback-hosts/{}", stage.sink.host());
    for path in [secret, host] {
        let path = stage.account.agent_path(AGENT, &path);
        admin.delete(&path).await.expect(204);
        admin.delete(&path).await.expect_error(404, "not_found");
    }
    let message = stage
        .agent
        .submit(&stage.confirm_with_push())
        .await
        .expect_error(422, "invalid_field");
    assert!(message.contains("not verified"), "{message}");
    let plain = envelope::confirm(AGENT, &stage.alice.address());
    stage.agent.submitted(&plain).await;
}

#[tokio::test]
async fn who_removes_a_human_is_told_what_only_she_could_answer() {
    let stage = Stage::in_process().await;
    let bob = stage.account.human("bob", "operator").await;
    let only_bob = stage
        .agent
        .submitted(&envelope::confirm(AGENT, &bob.address()))
        .await;
    let mut both = stage.confirm();
    both["request"]["allowed_resolvers"] = json!([bob.address(), stage.alice.address()]);
    stage.agent.submitted(&both).await;
    stage.agent.submitted(&stage.confirm()).await;
    let answered = stage
        .agent
        .submitted(&envelope::confirm(AGENT, &bob.address()))
        .await;
    bob.answer(&answered, "approve").await.expect(200);

    let path = stage.account.path("/humans/bob");
    let removed = stage.account.admin().delete(&path).await.expect(200);
    assert_eq!(removed["unanswerable"], json!({"count": 1, "ids": [only_bob]}));
    bob.get("/v1/messages").await.expect_error(401, "unauthenticated");
    stage
        .account
        .admin()
        .delete(&path)
        .await
        .expect_error(404, "not_found");
}

#[tokio::test]
async fn the_last_owner_of_an_account_stays() {
    let stage = Stage::in_process().await;
    let olga = stage.account.human("olga", "owner").await;
    let path = |id: &str| stage.account.path(&format!("/humans/{id}"));
    let viewer = json!({"role": "viewer"});
    for refused in [
        olga.delete(&path("olga")).await,
        olga.patch(&path("olga"), &viewer).await,
    ] {
        let message = refused.expect_error(409, "conflict");
        assert!(message.contains("owner"), "{message}");
    }
    let address = json!({"email": "olga@acme.example", "role": "owner"});
    olga.patch(&path("olga"), &address).await.expect(200);

    // Two who demote each other at once leave one.
    let ines = stage.account.human("ines", "owner").await;
    let (olgas, iness) = (path("olga"), path("ines"));
    tokio::join!(olga.patch(&iness, &viewer), ines.patch(&olgas, &viewer));
    let admin = stage.account.admin();
    let humans = admin.get(&stage.account.path("/humans")).await.expect(200);
    let humans = humans["humans"].as_array().unwrap();
    let owners: Vec<_> = humans.iter().filter(|human| human["role"] == "owner").collect();
    assert_eq!(owners.len(), 1, "{owners:?}");

    // The deployment's admin can name another at any time.
    let last = path(owners[0]["id"].as_str().unwrap());
    admin.delete(&last).await.expect(200);
}

#[tokio::test]
async fn a_token_ends_when_it_says() {
    let stage = Stage::in_process().await;
    let expires_at = time::OffsetDateTime::now_utc() + Duration::from_millis(1500);
    let expires_text = expires_at
        .format(&time::format_description::well_known::Rfc3339)
        .unwrap();
    let body = json!({"subject": format!("agent:{AGENT}"), "expires_at": expires_text});
    let issued = stage
        .account
        .admin()
        .post(&stage.account.path("/tokens"), &body)
        .await;
    issued.expect(201);
    let agent = stage.agent.with_token(&issued.text_at("token"));
    loop {
        let sent_at = time::OffsetDateTime::now_utc();
        let reply = agent.get("/v1/messages").await;
        if reply.status.as_u16() == 401 {
            break;
        }
        reply.expect(200);
        assert!(sent_at < expires_at, "taken after its end");
    }
}

/// The audit, and tokens that have long expired.
#[tokio::test]
async fn what_is_written_for_ever_ends_when_it_is_old() {
    let hub = TestHub::builder()
        .set("HUB_AUDIT_RETENTION_SECONDS", 3600)
        .set("HUB_DIRECTORY_SWEEP_INTERVAL_MS", 100);
    let stage = Stage::on(hub.start().await).await;
    let (account, admin) = (&stage.account, stage.account.admin());
    let database = stage.hub.database().connect().await;
    let mut tokens = Vec::new();
    for _ in 0..3 {
        let body = json!({"subject": format!("agent:{AGENT}"), "expires_at": soon()});
        let issued = admin.post(&account.path("/tokens"), &body).await;
        issued.expect(201);
        tokens.push(issued.text_at("id"));
    }
    // One expired long ago, one just so.
    for (token, ago) in tokens.iter().zip(["61 minutes", "59 minutes"]) {
        let age =
            format!("UPDATE directory.tokens SET expires_at = now() - interval '{ago}' WHERE token = $1");
        assert_eq!(database.execute(&age, &[token]).await.unwrap(), 1);
    }
    let age =
        "UPDATE directory.audit SET at = now() - interval '61 minutes' WHERE account = $1 AND target = $2";
    database.execute(age, &[&account.id(), &tokens[1]]).await.unwrap();
    eventually("the old ones to go", || async {
        let listed = admin
            .get(&account.path("/tokens?limit=200"))
            .await
            .expect(200)
            .to_string();
        let audit = admin
            .get(&account.path("/audit?limit=200"))
            .await
            .expect(200)
            .to_string();
        let is_gone = !listed.contains(&tokens[0]) && !audit.contains(&tokens[1]);
        is_gone.then(|| {
            assert!(
                listed.contains(&tokens[1]) && listed.contains(&tokens[2]),
                "{listed}"
            );
            assert!(
                audit.contains(&tokens[0]) && audit.contains(&tokens[2]),
                "{audit}"
            );
        })
    })
    .await;
}

/// What delivery keeps of an account.
async fn kept_rows(stage: &Stage, account: &str) -> i64 {
    let database = stage.hub.database().connect().await;
    let count = "SELECT (SELECT count(*) FROM delivery.secrets WHERE account = $1) \
                 + (SELECT count(*) FROM delivery.entry_keys WHERE account = $1) \
                 + (SELECT count(*) FROM delivery.callback_hosts WHERE account = $1)";
    database.query_one(count, &[&account]).await.unwrap().get(0)
}

fn soon() -> String {
    let at = time::OffsetDateTime::now_utc() + Duration::from_secs(2);
    at.format(&time::format_description::well_known::Rfc3339).unwrap()
}
