//! Directives: what a person writes, to whom, and how she follows it (§13).

use std::time::Duration;

use http::Method;
use hub_testkit::{Human, Reply, TestHub, envelope, eventually};
use serde_json::{Value, json};
use time::OffsetDateTime;
use tokio_postgres::Client;

use crate::mailbox::{ENTRY_SECRET, Post, WORKER, ack, directed, drain, ids};

fn to_worker(title: &str) -> Value {
    json!({"to": format!("agent:{WORKER}"), "title": title})
}

async fn keyed(author: &Human, key: &str, body: &Value) -> Reply {
    let request = author.request(Method::POST, "/v1/directives");
    let request = request
        .header("content-type", "application/json")
        .header("idempotency-key", key)
        .body(body.to_string());
    Reply::of(request).await
}

#[tokio::test]
async fn what_was_written_is_kept_and_delivered_as_it_was_spelled() {
    let post = Post::start().await;
    let body = r#"{ "context":[{"kind":"data","data":{"kg":1.50,"n":1e2}}], "to":"agent:orchard\/worker",
        "title":"Stop \u0000", "sensitive":true }"#;
    let written = post.alice.send_text(Method::POST, "/v1/directives", body).await;
    written.expect(201);
    let drained = drain(&post.worker, "").await;
    let [entry] = drained.as_slice() else {
        panic!("{drained:?}")
    };
    for spelled in [
        r#""to":"agent:orchard\/worker""#,
        r#""context":[{"kind":"data","data":{"kg":1.50,"n":1e2}}]"#,
        r#""title":"Stop \u0000""#,
        r#""from":"human:alice""#,
    ] {
        assert!(
            entry.directive.contains(spelled),
            "{spelled} in {}",
            entry.directive
        );
        assert!(written.text.contains(spelled), "{spelled} in {}", written.text);
    }
    entry.verify("hmac-sha256", crate::mailbox::ENTRY_SECRET).unwrap();
    let read = post.alice.get(&format!("/v1/directives/{}", entry.id)).await;
    assert!(read.text.contains(&entry.directive), "{}", read.text);
}

#[tokio::test]
async fn the_same_key_and_body_are_one_directive() {
    let post = Post::start().await;
    let bob = post.account.human("bob", "operator").await;
    let first = keyed(&post.alice, "k1", &to_worker("Once")).await.expect(201);
    let again = keyed(&post.alice, "k1", &to_worker("Once")).await.expect(201);
    assert_eq!(first["directive"], again["directive"]);
    keyed(&post.alice, "k1", &to_worker("Other"))
        .await
        .expect_error(409, "idempotency_conflict");
    // Another person's key is another key.
    let hers = keyed(&bob, "k1", &to_worker("Other")).await.expect(201);
    assert_ne!(hers["directive"]["id"], first["directive"]["id"]);
    // At once as well.
    let race = to_worker("Race");
    let calls = (0..8).map(|_| keyed(&post.alice, "k2", &race));
    let raced = futures_util::future::join_all(calls).await;
    let id = &raced[0].expect(201)["directive"]["id"];
    for reply in &raced {
        assert_eq!(&reply.expect(201)["directive"]["id"], id);
    }
    assert_eq!(drain(&post.worker, "").await.len(), 3);
    keyed(&post.alice, "", &to_worker("No key"))
        .await
        .expect_error(400, "validation_error");
}

#[tokio::test]
async fn a_repeated_call_is_answered_whatever_has_changed() {
    let post = Post::start().await;
    let expires_at = OffsetDateTime::now_utc() + Duration::from_millis(1500);
    let mut body = to_worker("Soon over");
    body["expires_at"] = json!(
        expires_at
            .format(&time::format_description::well_known::Rfc3339)
            .unwrap()
    );
    let first = keyed(&post.alice, "k", &body).await.expect(201);
    let id = first["directive"]["id"].as_str().unwrap();
    eventually("the directive to expire", || async {
        (post.state(id).await == "expired").then_some(())
    })
    .await;
    let again = keyed(&post.alice, "k", &body).await.expect(201);
    assert_eq!(again["directive"]["id"], id);
    assert_eq!(again["delivery"], json!({"state": "expired"}));
    post.alice
        .post("/v1/directives", &body)
        .await
        .expect_error(422, "invalid_field");
}

#[tokio::test]
async fn only_people_who_may_send_do_and_only_to_agents_there_are() {
    let post = Post::start().await;
    let viewer = post.account.human("vera", "viewer").await;
    let stranger = post.hub.account("other").await;
    stranger.agent("orchard/foreign").await;
    let body = to_worker("Stop");
    viewer
        .post("/v1/directives", &body)
        .await
        .expect_error(403, "not_authorized");
    post.worker
        .post("/v1/directives", &body)
        .await
        .expect_error(403, "not_authorized");
    for to in [
        "agent:orchard/nobody",
        "agent:orchard/foreign",
        &format!("agent:{WORKER}#sess_1"),
        "agent:a\0b",
    ] {
        let refused = post
            .alice
            .post("/v1/directives", &json!({"to": to, "title": "Stop"}))
            .await;
        refused.expect_error(422, "unknown_destination");
    }
    for (member, value) in [
        ("to", json!("human:alice")),
        ("state", json!({})),
        ("from", json!("human:bob")),
    ] {
        let mut bad = body.clone();
        bad[member] = value;
        let refused = post.alice.post("/v1/directives", &bad).await;
        assert!(refused.expect_error(400, "validation_error").starts_with(member));
    }
    let id = directed(&post.alice, WORKER, "Stop").await;
    viewer.get(&format!("/v1/directives/{id}")).await.expect(200);
    let path = format!("/v1/directives/{id}");
    post.worker.get(&path).await.expect_error(403, "not_authorized");
    let foreigner = stranger.human("eve", "owner").await;
    foreigner.get(&path).await.expect_error(404, "not_found");
    assert_eq!(
        foreigner.get("/v1/directives").await.expect(200)["directives"],
        json!([])
    );
}

#[tokio::test]
async fn the_author_is_told_whether_somebody_listens() {
    let post = Post::start().await;
    let told = post
        .alice
        .post("/v1/directives", &to_worker("One"))
        .await
        .expect(201);
    assert_eq!(told["delivery"], json!({"state": "queued"}));
    assert_eq!(told["destination"], json!({"state": "unknown"}));
    drain(&post.worker, "").await;
    eventually("the worker to be seen", || async {
        let told = post
            .alice
            .post("/v1/directives", &to_worker("Two"))
            .await
            .expect(201);
        (told["destination"]["state"] == "online" && told["destination"]["last_seen"].is_string())
            .then_some(())
    })
    .await;
}

#[tokio::test]
async fn directives_are_listed_newest_first_with_their_tracks() {
    let post = Post::start().await;
    post.account.agent("orchard/other").await;
    let mut sent = Vec::new();
    for title in ["a", "b", "c"] {
        sent.push(post.direct(title).await);
    }
    let aside = directed(&post.alice, "orchard/other", "aside").await;
    drain(&post.worker, "?max=1").await;
    let mut found = Vec::new();
    let mut query = "?limit=2".to_owned();
    loop {
        let page = post
            .alice
            .get(&format!("/v1/directives{query}"))
            .await
            .expect(200);
        for listed in page["directives"].as_array().unwrap() {
            let state = listed["delivery"]["state"].as_str().unwrap().to_owned();
            found.push((listed["directive"]["id"].as_str().unwrap().to_owned(), state));
        }
        let Some(cursor) = page["next_cursor"].as_str() else {
            break;
        };
        query = format!("?limit=2&cursor={cursor}");
    }
    let state = |state: &str| state.to_owned();
    let expected = [
        (aside, state("queued")),
        (sent[2].clone(), state("queued")),
        (sent[1].clone(), state("queued")),
        (sent[0].clone(), state("delivered")),
    ];
    assert_eq!(found, expected);
    let of_one = post
        .alice
        .get("/v1/directives?agent=orchard%2Fother")
        .await
        .expect(200);
    assert_eq!(of_one["directives"].as_array().unwrap().len(), 1);
    post.alice
        .get("/v1/directives?cursor=AAAA")
        .await
        .expect_error(400, "validation_error");
}

/// A sweeper that never comes: what is overdue is listed as what it has become.
#[tokio::test]
async fn a_state_that_nobody_wrote_down_yet_is_listed() {
    let hub = TestHub::builder().set("HUB_SWEEP_INTERVAL_MS", 3_600_000);
    let post = Post::on(hub.start().await).await;
    let expires_at = OffsetDateTime::now_utc() + Duration::from_secs(2);
    let mut body = to_worker("Soon");
    body["expires_at"] = json!(
        expires_at
            .format(&time::format_description::well_known::Rfc3339)
            .unwrap()
    );
    let mut sent = Vec::new();
    for _ in 0..2 {
        let written = post.alice.post("/v1/directives", &body).await.expect(201);
        sent.push(written["directive"]["id"].as_str().unwrap().to_owned());
    }
    // The hub's word, not this test's clock, says when it is over.
    eventually("the first to expire", || async {
        (post.state(&sent[0]).await == "expired").then_some(())
    })
    .await;
    let listed = async |state: &str| {
        let path = format!("/v1/directives?state={state}");
        let page = post.alice.get(&path).await.expect(200);
        let directives = page["directives"].as_array().unwrap().iter();
        let ids = directives.map(|listed| listed["directive"]["id"].as_str().unwrap().to_owned());
        ids.collect::<Vec<_>>()
    };
    assert_eq!(listed("queued").await, Vec::<String>::new());
    assert_eq!(listed("expired").await, [sent[1].clone(), sent[0].clone()]);
}

/// What nobody drained has expired; what was drained and never acknowledged has bounced, from where it was.
#[tokio::test]
async fn retention_ends_what_was_never_acknowledged_and_says_how() {
    let hub = TestHub::builder()
        .set("HUB_INBOUND_RETENTION_SECONDS", 3)
        .set("HUB_INBOUND_VISIBILITY_TIMEOUT_SECONDS", 1);
    let post = Post::on(hub.start().await).await;
    let seen = post.direct("Seen").await;
    drain(&post.worker, "?max=1").await;
    let unseen = post.direct("Unseen").await;
    let expired = eventually("the unseen to expire", || async {
        let track = post.track(&unseen).await;
        (track["state"] != "queued").then_some(track)
    })
    .await;
    assert_eq!(expired, json!({"state": "expired"}));
    let bounced = post.track(&seen).await;
    assert_eq!(
        (&bounced["state"], &bounced["prior"]),
        (&json!("bounced"), &json!("delivered"))
    );
    assert!(bounced["delivered_at"].is_string(), "{bounced}");
    assert_eq!(ack(&post.worker, &[seen.clone(), unseen.clone()]).await, 0);
    assert!(drain(&post.worker, "").await.is_empty());
    // In the end nothing is kept of them.
    eventually("the directives to be dropped", || async {
        (post.alice.get(&format!("/v1/directives/{unseen}")).await.status == 404).then_some(())
    })
    .await;
}

/// Past its `expires_at` it is given to nobody; who had it may still say so.
#[tokio::test]
async fn what_expires_while_an_agent_has_it_can_still_be_acknowledged() {
    let post = Post::with_window(4).await;
    let expires_at = OffsetDateTime::now_utc() + Duration::from_secs(3);
    let mut body = to_worker("Quick");
    body["expires_at"] = json!(
        expires_at
            .format(&time::format_description::well_known::Rfc3339)
            .unwrap()
    );
    let written = post.alice.post("/v1/directives", &body).await.expect(201);
    let id = written["directive"]["id"].as_str().unwrap().to_owned();
    assert_eq!(ids(&drain(&post.worker, "").await), std::slice::from_ref(&id));
    // It would come again within this.
    assert!(drain(&post.worker, "?wait=5").await.is_empty());
    assert_eq!(post.state(&id).await, "delivered");
    assert_eq!(ack(&post.worker, std::slice::from_ref(&id)).await, 1);
    assert_eq!(post.state(&id).await, "acknowledged");
}

#[tokio::test]
async fn the_mail_of_an_agent_that_is_deleted_is_undeliverable() {
    let post = Post::start().await;
    let seen = post.direct("Seen").await;
    drain(&post.worker, "?max=1").await;
    let unseen = post.direct("Unseen").await;
    let path = post.account.agent_path(WORKER, "");
    post.account.admin().delete(&path).await.expect(204);
    for (id, prior) in [(&seen, "delivered"), (&unseen, "queued")] {
        let track = eventually("the mail to be undeliverable", || async {
            let track = post.track(id).await;
            (track["state"] == "bounced").then_some(track)
        })
        .await;
        assert_eq!(track["prior"], prior);
        assert_eq!(track["delivered_at"].is_string(), prior == "delivered");
    }
    post.alice
        .post("/v1/directives", &to_worker("Too late"))
        .await
        .expect_error(422, "unknown_destination");
    // Who gets the id next gets none of that, but its own.
    let next = post.account.agent(WORKER).await;
    let own = post.direct("For the next").await;
    assert_eq!(ids(&drain(&next, "").await), [own]);
}

/// Has something happen to each deletion of an agent when it is committed.
async fn at_deletions(database: &Client, what: &str) {
    let trigger = format!(
        "CREATE FUNCTION public.at_deletion() RETURNS trigger LANGUAGE plpgsql AS $$
         BEGIN
             {what};
             RETURN NULL;
         END $$;
         CREATE CONSTRAINT TRIGGER at_deletion AFTER DELETE ON directory.agents
             DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.at_deletion()"
    );
    database.batch_execute(&trigger).await.unwrap();
}

/// Until its deletion is committed the agent is there, and is written to.
#[tokio::test]
async fn mail_that_is_written_while_its_agent_is_deleted_is_undeliverable() {
    let post = Post::start().await;
    let (database, holder) = (
        post.hub.database().connect().await,
        post.hub.database().connect().await,
    );
    at_deletions(&database, "PERFORM pg_advisory_xact_lock(14)").await;
    holder.batch_execute("SELECT pg_advisory_lock(14)").await.unwrap();
    let path = post.account.agent_path(WORKER, "");
    let deleting = async {
        post.account.admin().delete(&path).await.expect(204);
    };
    let writing = async {
        let waits = "SELECT FROM pg_catalog.pg_stat_activity
                     WHERE datname = current_database() AND wait_event = 'advisory'";
        eventually("the deletion to be about to commit", || async {
            let waiting = database.query(waits, &[]).await.unwrap();
            (!waiting.is_empty()).then_some(())
        })
        .await;
        let id = post.direct("Meanwhile").await;
        holder
            .batch_execute("SELECT pg_advisory_unlock(14)")
            .await
            .unwrap();
        id
    };
    let ((), id) = tokio::join!(deleting, writing);
    eventually("the mail to be undeliverable", || async {
        (post.state(&id).await == "bounced").then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_deletion_that_fails_takes_nothing_from_its_agent() {
    let post = Post::start().await;
    let id = post.direct("Kept").await;
    let database = post.hub.database().connect().await;
    at_deletions(&database, "RAISE EXCEPTION 'not this time'").await;
    let path = post.account.agent_path(WORKER, "");
    let failed = post.account.admin().delete(&path).await;
    assert!(failed.status.is_server_error(), "{}", failed.text);
    let drained = drain(&post.worker, "").await;
    assert_eq!(ids(&drained), [id]);
    drained[0].verify("hmac-sha256", ENTRY_SECRET).unwrap();
}

#[tokio::test]
async fn a_mailbox_is_no_deeper_than_the_account_says() {
    let post = Post::start().await;
    post.account
        .set_policy(json!({"rate_limit": {"inbox_depth": 2}}))
        .await;
    let first = post.direct("One").await;
    post.direct("Two").await;
    let refused = post.alice.post("/v1/directives", &to_worker("Three")).await;
    refused.expect_error(429, "rate_limited");
    assert!(refused.header("retry-after").is_some());
    assert_eq!(ack(&post.worker, &[first]).await, 1);
    post.direct("Three").await;
    // It is the mailbox that is full, not the agent's own submits.
    post.worker.submitted(&envelope::notify(WORKER)).await;
}
