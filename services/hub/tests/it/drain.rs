//! Drains: in order, each entry to one drain at a time, again when its window is over, and to nobody else (§8.7).

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use hub_platform::db::Tier;
use hub_testkit::{Agent, Reply, TestHub, eventually};
use ma2h_hub::tiers;
use serde_json::json;
use time::OffsetDateTime;

use crate::mailbox::{ENTRY_SECRET, Post, WORKER, ack, drain, drained, hub_key, ids};

#[tokio::test]
async fn first_deliveries_are_in_order_and_hidden_from_the_next_drain() {
    let post = Post::start().await;
    let mut sent = Vec::new();
    for number in 0..7 {
        sent.push(post.direct(&format!("Number {number}")).await);
    }
    let first = drain(&post.worker, "?max=3").await;
    assert_eq!(ids(&first), sent[..3]);
    for entry in &first {
        entry.verify("hmac-sha256", ENTRY_SECRET).unwrap();
    }
    assert_eq!(post.state(&sent[2]).await, "delivered");
    assert_eq!(post.state(&sent[3]).await, "queued");
    assert_eq!(ids(&drain(&post.worker, "?max=100000").await), sent[3..]);
    assert!(drain(&post.worker, "").await.is_empty());
    for query in ["?max=0", "?max=x", "?wait=x"] {
        let refused = post.worker.get(&format!("/v1/inbox{query}")).await;
        refused.expect_error(400, "validation_error");
    }
    post.worker
        .get("/v1/inbox?session=sess_1")
        .await
        .expect_error(404, "not_found");
}

#[tokio::test]
async fn what_is_not_acknowledged_comes_again_signed_anew() {
    let post = Post::with_window(1).await;
    let id = post.direct("Again").await;
    let first = drain(&post.worker, "").await;
    let again = drain(&post.worker, "?wait=20").await;
    assert_eq!((ids(&first), ids(&again)), (vec![id.clone()], vec![id.clone()]));
    assert_eq!(first[0].directive, again[0].directive);
    assert_ne!(first[0].part("jti"), again[0].part("jti"));
    let t = |part: &str| part.parse::<i64>().unwrap();
    assert!(t(again[0].part("t")) > t(first[0].part("t")));
    again[0].verify("hmac-sha256", ENTRY_SECRET).unwrap();
    let delivered_at = post.track(&id).await["delivered_at"].take();
    assert_eq!(ack(&post.worker, std::slice::from_ref(&id)).await, 1);
    let track = post.track(&id).await;
    assert_eq!(track["delivered_at"], delivered_at);
    assert!(drain(&post.worker, "?wait=2").await.is_empty());
}

#[tokio::test]
async fn without_a_secret_the_hubs_key_signs() {
    let post = Post::start().await;
    let path = post.account.agent_path(WORKER, "/entry-key");
    let put = post.account.admin().put(&path, &json!({"alg": "ed25519"})).await;
    assert!(put.status.is_success(), "{}", put.text);
    post.direct("Signed by the hub").await;
    let drained = drain(&post.worker, "").await;
    let key = hub_key(&post.hub).await;
    drained[0].verify("ed25519", &key).unwrap();
    assert!(drained[0].verify("hmac-sha256", ENTRY_SECRET).is_err());
}

/// Whatever batches they take, over both gateways.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_two_drains_get_one_entry() {
    const DRAINS: usize = 12;
    let post = Post::start().await;
    let mut sent = Vec::new();
    for number in 0..60 {
        sent.push(post.direct(&format!("Number {number}")).await);
    }
    let drainer = async |number: usize| {
        let mut got = Vec::new();
        loop {
            let batch = drain(&post.worker, &format!("?max={}", number % 5 + 1)).await;
            if batch.is_empty() {
                return got;
            }
            got.extend(ids(&batch));
        }
    };
    let got: Vec<String> = join_all((0..DRAINS).map(drainer)).await.concat();
    assert_eq!(got.len(), sent.len(), "handed out twice, or not at all");
    let got: BTreeSet<String> = got.into_iter().collect();
    assert_eq!(got, sent.iter().cloned().collect());
}

#[tokio::test]
async fn a_mailbox_is_its_agents_alone() {
    let post = Post::start().await;
    let other = post.account.agent("orchard/other").await;
    let namesake = post.hub.account("elsewhere").await.agent(WORKER).await;
    let id = post.direct("For the worker").await;
    for stranger in [&other, &namesake] {
        assert!(drain(stranger, "").await.is_empty());
        assert_eq!(ack(stranger, std::slice::from_ref(&id)).await, 0);
    }
    post.alice
        .get("/v1/inbox")
        .await
        .expect_error(403, "not_authorized");
    post.hub
        .anonymous()
        .get("/v1/inbox")
        .await
        .expect_error(401, "unauthenticated");
    // To look at its head takes nothing out.
    let head = post.worker.request(http::Method::HEAD, "/v1/inbox");
    assert_eq!(Reply::of(head).await.status, 200);
    assert_eq!(ids(&drain(&post.worker, "").await), [id]);
}

#[tokio::test]
async fn a_waiting_drain_returns_with_what_comes() {
    let post = Post::start().await;
    let waiting = drain(&post.worker, "?wait=55");
    let writing = async {
        // Either is well: the drain waits already, or finds it.
        tokio::time::sleep(Duration::from_millis(200)).await;
        post.direct("At last").await
    };
    let began = Instant::now();
    let (got, id) = tokio::join!(waiting, writing);
    assert_eq!(ids(&got), [id]);
    assert!(began.elapsed() < Duration::from_secs(30), "it waited on");
}

/// A poll whose client has gone takes nothing, and what was under way to it is put back.
#[tokio::test]
async fn who_has_gone_is_given_nothing() {
    let post = Post::start().await;
    for _ in 0..5 {
        let agent = post.worker.clone();
        let polling = tokio::spawn(async move { agent.get("/v1/inbox?wait=55").await });
        tokio::time::sleep(Duration::from_millis(100)).await;
        // It goes at the very moment that something comes.
        let (id, ()) = tokio::join!(post.direct("For who is there"), async { polling.abort() });
        let got = eventually("the entry to be there for another", || async {
            let got = drain(&post.worker, "").await;
            (!got.is_empty()).then_some(got)
        })
        .await;
        assert_eq!(ids(&got), std::slice::from_ref(&id));
        ack(&post.worker, &[id]).await;
    }
}

/// As a tier does that cannot hand over what it claimed: it takes back the first stamp, and the old place.
#[tokio::test]
async fn what_is_unclaimed_was_never_delivered() {
    let post = Post::start().await;
    let (first, second) = (post.direct("First").await, post.direct("Second").await);
    let database = post.hub.database().connect().await;
    let sql = |name: &str| {
        let statements = tiers::statements(Tier::Lifecycle);
        let found = statements.iter().find(|(statement, _)| *statement == name);
        found.unwrap_or_else(|| panic!("no statement {name}")).1
    };
    let account = post.account.id();
    let claim = async |claim_id: &str| {
        let lanes = ["everyone"];
        let (max, bytes, window) = (1_i64, 1_i64 << 20, 60_i64);
        let unknown: [Option<OffsetDateTime>; 1] = [None];
        let values: [&(dyn tokio_postgres::types::ToSql + Sync); 11] = [
            &account,
            &WORKER,
            &lanes.as_slice(),
            &claim_id,
            &max,
            &bytes,
            &window,
            &false,
            &unknown.as_slice(),
            &unknown.as_slice(),
            &0_i64,
        ];
        let rows = database.query(sql("claim entries"), &values).await.unwrap();
        let ids = rows
            .iter()
            .filter_map(|row| row.get::<_, Option<String>>("entry_id"));
        ids.collect::<Vec<_>>()
    };
    assert_eq!(claim("clm_1").await, std::slice::from_ref(&first));
    assert_eq!(
        claim("clm_1").await,
        std::slice::from_ref(&first),
        "a repeated claim has the same"
    );
    assert_eq!(post.state(&first).await, "delivered");
    let none: [&str; 0] = [];
    let unclaim = async || {
        let values: [&(dyn tokio_postgres::types::ToSql + Sync); 4] =
            [&account, &WORKER, &"clm_1", &none.as_slice()];
        database
            .query(sql("unclaim entries"), &values)
            .await
            .unwrap()
            .len()
    };
    assert_eq!(unclaim().await, 1);
    assert_eq!(unclaim().await, 0);
    assert_eq!(post.track(&first).await, json!({"state": "queued"}));
    assert_eq!(ids(&drain(&post.worker, "").await), [first, second]);
}

#[tokio::test]
async fn acknowledged_is_acknowledged_once() {
    let post = Post::start().await;
    let id = post.direct("Once").await;
    drain(&post.worker, "").await;
    let noted = json!({"ids": [id, "dir_unknown", "msg_1", "", "a\0b", id], "note": "on it"});
    let acked = post.worker.post("/v1/inbox/ack", &noted).await.expect(200);
    assert_eq!(acked["acked"], 1);
    let late = json!({"ids": [id], "note": "too late"});
    assert_eq!(
        post.worker.post("/v1/inbox/ack", &late).await.expect(200)["acked"],
        0
    );
    let track = post.track(&id).await;
    assert_eq!(track["state"], "acknowledged");
    assert_eq!(track["ack"]["note"], "on it");
    assert_eq!(track["ack"]["by"], format!("agent:{WORKER}"));
    assert_eq!(track["acknowledged_at"], track["ack"]["acked_at"]);

    let many: Vec<String> = (0..1001).map(|number| format!("dir_{number}")).collect();
    for (body, code) in [
        (json!({"ids": many}), 422),
        (json!({"ids": [], "note": "x".repeat(16 * 1024 + 1)}), 422),
        (json!({"ids": [7]}), 400),
        (json!({}), 400),
    ] {
        let refused = post.worker.post("/v1/inbox/ack", &body).await;
        assert_eq!(refused.status.as_u16(), code, "{}", refused.text);
    }
    post.worker
        .post("/v1/inbox/ack?session=sess_1", &json!({"ids": []}))
        .await
        .expect_error(404, "not_found");
}

/// Until an answer comes: one that was lost may have been a success, after which the entry does not come again.
async fn acknowledge(agent: &Agent, id: &str) {
    loop {
        let request = agent
            .request(http::Method::POST, "/v1/inbox/ack")
            .header("content-type", "application/json")
            .body(json!({"ids": [id]}).to_string());
        if Reply::try_of(request)
            .await
            .is_ok_and(|reply| reply.status == 200)
        {
            return;
        }
    }
}

/// Every tier on the way dies at any moment of it; what was not handed over comes again, and nothing is lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_killed_tier_had_claimed_comes_again() {
    const WINDOW: Duration = Duration::from_secs(2);
    let hub = TestHub::builder().set("HUB_INBOUND_VISIBILITY_TIMEOUT_SECONDS", WINDOW.as_secs());
    let mut post = Post::on(hub.processes(1).await).await;
    let mut sent = BTreeSet::new();
    for number in 0..24 {
        sent.insert(post.direct(&format!("Number {number}")).await);
    }
    let agent = post.worker.clone();
    let left = sent.clone();
    let worker = tokio::spawn(async move {
        let mut left = left;
        while !left.is_empty() {
            let request = agent.request(http::Method::GET, "/v1/inbox?max=2&wait=1");
            let Ok(reply) = Reply::try_of(request).await else {
                continue;
            };
            if reply.status != 200 {
                continue;
            }
            for id in ids(&drained(&reply)) {
                acknowledge(&agent, &id).await;
                left.remove(&id);
            }
        }
    });
    for tier in [Tier::Delivery, Tier::Lifecycle, Tier::Delivery, Tier::Gateway] {
        post.hub.tiers().kill(tier, 0).await;
        post.hub.tiers().restart(tier, 0);
        post.hub.await_ready().await;
    }
    tokio::time::timeout(Duration::from_mins(4), worker)
        .await
        .unwrap()
        .unwrap();
    for id in &sent {
        assert_eq!(post.state(id).await, "acknowledged");
    }
}
