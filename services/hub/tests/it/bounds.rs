//! What a client may take of the hub, and what becomes of one that takes without giving back.

use std::time::{Duration, Instant};

use http::Method;
use hub_platform::servers::{Nats, NatsOptions};
use hub_testkit::{Reply, TestHub};
use serde_json::{Value, json};

use crate::stage::Stage;

const MIB: usize = 1 << 20;

#[tokio::test]
async fn a_head_shows_nothing_and_stamps_nothing() {
    let stage = Stage::in_process().await;
    let id = stage.agent.submitted(&stage.confirm()).await;
    stage.alice.answer(&id, "approve").await.expect(200);
    let path = format!("/v1/messages/{id}");
    for _ in 0..2 {
        let head = Reply::of(stage.agent.request(Method::HEAD, &format!("{path}?wait=5"))).await;
        assert_eq!((head.status.as_u16(), head.text.as_str()), (200, ""));
        assert_eq!(head.header("content-type"), Some("application/json"));
    }
    let seen = stage.alice.message(&id).await.expect(200);
    assert_eq!(seen["delivery"], Value::Null, "a HEAD counted as delivery");
    let delivered = stage.agent.message(&id).await.expect(200);
    assert_eq!(delivered["delivery"]["state"], "delivered-to-agent");
    for (path, status) in [("/v1/messages/msg_unknown", 404), ("/v1/messages/nonsense", 404)] {
        let head = Reply::of(stage.agent.request(Method::HEAD, path)).await;
        assert_eq!(head.status.as_u16(), status);
    }
}

#[tokio::test]
async fn a_head_of_a_mailbox_is_refused_where_its_drain_is() {
    let stage = Stage::in_process().await;
    for query in [
        "",
        "?max=2&wait=0",
        "?session=sess_1",
        "?max=0",
        "?wait=soon",
        "?wait=-1",
    ] {
        let path = format!("/v1/inbox{query}");
        let drain = stage.agent.get(&path).await;
        let head = Reply::of(stage.agent.request(Method::HEAD, &path)).await;
        assert_eq!((head.status, head.text.as_str()), (drain.status, ""), "{query}");
    }
    let unknown = Reply::of(stage.agent.request(Method::HEAD, "/v1/inbox?session=sess_1")).await;
    assert_eq!(unknown.status.as_u16(), 404);
}

#[tokio::test]
async fn an_envelope_is_bounded_by_the_protocol_and_then_by_the_transport() {
    let hub = TestHub::builder()
        .set("HUB_MAX_ENVELOPE_BYTES", 2 * MIB)
        .start()
        .await;
    let stage = Stage::on(hub).await;
    let of_bytes = |bytes: usize| {
        let mut ask = stage.confirm();
        ask["state"] = json!({"text": ""});
        let rest = ask.to_string().len();
        ask["state"]["text"] = json!("x".repeat(bytes - rest));
        ask
    };
    let id = stage.agent.submitted(&of_bytes(2 * MIB)).await;
    let message = stage
        .agent
        .submit(&of_bytes(2 * MIB + 1))
        .await
        .expect_error(422, "invalid_field");
    assert!(message.contains("2097152 bytes"), "{message}");
    stage
        .agent
        .submit(&of_bytes(3 * MIB))
        .await
        .expect_error(422, "invalid_field");
    stage
        .agent
        .submit(&of_bytes(3 * MIB + 1))
        .await
        .expect_error(413, "payload_too_large");
    // A large answer comes whole.
    stage.alice.answer(&id, "approve").await.expect(200);
    let read = stage.agent.wait(&id, 5).await.expect(200);
    assert_eq!(read["state"], read["response"]["state"]);
    assert_eq!(read["delivery"]["state"], "delivered-to-agent");
}

#[tokio::test]
async fn who_nests_or_repeats_without_end_is_refused() {
    let stage = Stage::in_process().await;
    let mut ask = stage.confirm();
    ask["state"] = json!({"list": vec![0; 500_000]});
    let message = stage
        .agent
        .submit(&ask)
        .await
        .expect_error(400, "validation_error");
    assert!(message.contains("more than 500000 values"), "{message}");
}

#[tokio::test]
async fn one_credential_holds_a_share_of_the_places() {
    let hub = TestHub::builder()
        .set("HUB_GATEWAY_HELD_REQUESTS_PER_CREDENTIAL_MAX", 1)
        .start()
        .await;
    let stage = Stage::on(hub).await;
    let id = stage.agent.submitted(&stage.confirm()).await;
    let held = stage.agent.wait(&id, 30);
    let rest = async {
        hub_testkit::eventually("a second call to be refused", || async {
            let second = stage.agent.wait(&id, 1).await;
            (second.status.as_u16() == 429).then(|| {
                second.expect_error(429, "rate_limited");
                assert!(second.header("retry-after").is_some());
            })
        })
        .await;
        // Others have their own.
        stage.alice.wait(&id, 1).await.expect(200);
        stage.alice.answer(&id, "approve").await.expect(200);
    };
    let (held, ()) = tokio::join!(held, rest);
    assert_eq!(held.expect(200)["status"], "answered");
}

#[tokio::test]
async fn a_waiting_poll_is_told_though_every_wake_up_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    let nats = Nats::start(NatsOptions {
        dir: dir.path().to_owned(),
        port: 0,
    })
    .await
    .unwrap();
    let hub = TestHub::builder()
        .set("HUB_NATS_URL", nats.url.expose())
        .set("HUB_GATEWAY_BEAT_INTERVAL_MS", 300)
        .start()
        .await;
    let stage = Stage::on(hub).await;
    let first = stage.agent.submitted(&stage.confirm()).await;
    let second = stage.agent.submitted(&stage.confirm()).await;
    nats.kill().await.unwrap();
    let began = Instant::now();
    let answering = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        stage.alice.answer(&first, "approve").await.expect(200);
    };
    let (told, untold, ()) = tokio::join!(
        stage.agent.wait(&first, 30),
        stage.agent.wait(&second, 3),
        answering
    );
    assert_eq!(told.expect(200)["status"], "answered");
    assert_eq!(untold.expect(200)["status"], "open");
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}

/// Another gateway may have revoked what this one cannot read.
#[tokio::test]
async fn a_held_call_ends_when_its_credential_cannot_be_checked() {
    let stage = Stage::in_process().await;
    let id = stage.agent.submitted(&stage.confirm()).await;
    let mut database = stage.hub.database().connect().await;
    let began = Instant::now();
    let hiding = async {
        tokio::time::sleep(Duration::from_millis(1500)).await;
        let transaction = database.transaction().await.unwrap();
        transaction
            .batch_execute("LOCK TABLE directory.tokens IN ACCESS EXCLUSIVE MODE")
            .await
            .unwrap();
        tokio::time::sleep(Duration::from_secs(6)).await;
        transaction.rollback().await.unwrap();
    };
    let (held, ()) = tokio::join!(
        async { (stage.agent.wait(&id, 30).await, began.elapsed()) },
        hiding
    );
    held.0.expect_error(503, "unavailable");
    assert!((2..7).contains(&held.1.as_secs()), "{:?}", held.1);
    // Once it can be read again all is as before.
    stage.agent.wait(&id, 1).await.expect(200);
}

#[tokio::test]
async fn a_client_that_stops_reading_is_let_go() {
    let hub = TestHub::builder()
        .set("HUB_GATEWAY_WRITE_STALL_MS", 1000)
        .start()
        .await;
    let stage = Stage::on(hub).await;
    let mut ask = stage.confirm();
    ask["state"] = json!({"text": "x".repeat(8 * MIB - 4096)});
    let id = stage.agent.submitted(&ask).await;
    stage.alice.answer(&id, "approve").await.expect(200);
    for is_old in [true, false] {
        let builder = hub_testkit::certificates::client_builder();
        let client = if is_old { builder.http1_only() } else { builder }
            .build()
            .unwrap();
        let request = client
            .get(stage.url(&format!("/v1/messages/{id}")))
            .bearer_auth(stage.agent.token().unwrap());
        let mut response = request.send().await.unwrap();
        assert_eq!(response.status().as_u16(), 200);
        response.chunk().await.unwrap().expect("a first piece");
        tokio::time::sleep(Duration::from_secs(4)).await;
        let rest = async {
            while response.chunk().await?.is_some() {}
            Ok::<_, reqwest::Error>(())
        };
        assert!(
            rest.await.is_err(),
            "the answer was kept for a client that did not read (old: {is_old})"
        );
    }
    // Who reads gets it all.
    let read = stage.agent.message(&id).await.expect(200);
    assert_eq!(read["response"]["state"], ask["state"]);
}

#[tokio::test]
async fn a_sign_in_is_small_and_lasts_as_long_as_is_set() {
    let hub = TestHub::builder()
        .set("HUB_GATEWAY_BROWSER_SESSION_SECONDS", 600)
        .start()
        .await;
    let stage = Stage::on(hub).await;
    let anonymous = stage.hub.anonymous();
    let sign_in = |token: &str| {
        Reply::of(
            anonymous
                .request(Method::POST, "/inbox/sign-in")
                .header("content-type", "application/x-www-form-urlencoded")
                .header("sec-fetch-site", "same-origin")
                .body(format!("token={token}")),
        )
    };
    assert_eq!(sign_in(&"x".repeat(5000)).await.status.as_u16(), 413);
    assert_eq!(sign_in("ma2h_human_wrong").await.status.as_u16(), 401);
    let signed_in = sign_in(stage.alice.token().unwrap()).await;
    let cookie = signed_in.header("set-cookie").expect("a session");
    assert!(cookie.contains("Max-Age=600"), "{cookie}");
}
