//! The HTTPS edge: transport, errors, and who may do what.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http::{HeaderMap, Method, Version};
use hub_testkit::{Reply, envelope};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::stage::{AGENT, Stage};

#[tokio::test]
async fn plaintext_is_refused() {
    let stage = Stage::in_process().await;
    let address = stage.hub.base_url().strip_prefix("https://").unwrap().to_owned();
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream
        .write_all(b"GET /healthz HTTP/1.1\r\nhost: hub\r\n\r\n")
        .await
        .unwrap();
    let mut answer = Vec::new();
    // An alert or a closed connection; never HTTP.
    let _ = stream.read_to_end(&mut answer).await;
    assert!(
        !answer.starts_with(b"HTTP/"),
        "{:?}",
        String::from_utf8_lossy(&answer)
    );
}

#[tokio::test]
async fn both_versions_of_http_are_spoken() {
    let stage = Stage::in_process().await;
    let answer = stage.agent.request(Method::GET, "/healthz").send().await.unwrap();
    assert_eq!(answer.version(), Version::HTTP_2);
    let old = hub_testkit::certificates::client_builder()
        .http1_only()
        .build()
        .unwrap();
    let answer = old
        .get(format!("{}/healthz", stage.hub.base_url()))
        .send()
        .await
        .unwrap();
    assert_eq!(
        (answer.version(), answer.status().as_u16()),
        (Version::HTTP_11, 200)
    );
}

#[tokio::test]
async fn every_error_has_the_same_shape() {
    let stage = Stage::in_process().await;
    let agent = &stage.agent;
    let anonymous = stage.hub.anonymous();
    let ask = stage.confirm().to_string();
    let without_type = agent.request(Method::POST, "/v1/messages").body(ask.clone());
    let as_text = agent
        .request(Method::POST, "/v1/messages")
        .header("content-type", "text/plain")
        .body(ask.clone());
    let cases = [
        (agent.get("/v1/nowhere").await, 404, "not_found"),
        (agent.get("/nowhere").await, 404, "not_found"),
        (agent.delete("/v1/messages").await, 405, "method_not_allowed"),
        (
            agent.send_text(Method::POST, "/v1/messages", "{").await,
            400,
            "validation_error",
        ),
        (
            agent.send_text(Method::POST, "/v1/messages", "[]").await,
            400,
            "validation_error",
        ),
        (
            agent
                .send_text(Method::POST, "/v1/messages", r#"{"a":1,"a":2}"#)
                .await,
            400,
            "validation_error",
        ),
        (
            agent.send_text(Method::POST, "/v1/messages", "{}").await,
            400,
            "validation_error",
        ),
        (
            agent
                .send_text(Method::POST, "/v1/messages", vec_text(10 << 20))
                .await,
            413,
            "payload_too_large",
        ),
        (Reply::of(without_type).await, 415, "unsupported_media_type"),
        (Reply::of(as_text).await, 415, "unsupported_media_type"),
        (anonymous.get("/v1/messages").await, 401, "unauthenticated"),
        (
            anonymous.with_token("ma2h_agent_wrong").get("/v1/messages").await,
            401,
            "unauthenticated",
        ),
        (anonymous.get("/admin/v1/accounts").await, 401, "unauthenticated"),
        (agent.get(&stage.account.path("")).await, 403, "not_authorized"),
        (agent.message("msg_unknown").await, 404, "not_found"),
        (
            agent.get("/v1/messages/msg_unknown?wait=soon").await,
            400,
            "validation_error",
        ),
        (agent.cancel("msg_unknown").await, 404, "not_found"),
        (
            stage
                .alice
                .resolve("msg_unknown", &json!({"resolution": "declined"}))
                .await,
            404,
            "not_found",
        ),
        (
            stage.alice.post("/v1/messages", &stage.confirm()).await,
            403,
            "not_authorized",
        ),
    ];
    for (reply, status, code) in cases {
        let message = reply.expect_error(status, code);
        assert!(!message.is_empty());
        assert_eq!(reply.header("content-type"), Some("application/json"));
        assert!(reply.header("x-request-id").is_some_and(|id| !id.is_empty()));
    }
}

/// Many HTTP/2 clients take a stream that ends under them for a failure, and never read why.
#[tokio::test]
async fn a_refusal_reaches_who_is_still_sending() {
    const CHUNKS: usize = 48;
    let hub = hub_testkit::TestHub::builder()
        .set("HUB_MAX_ENVELOPE_BYTES", 262_144)
        .start()
        .await;
    let stage = Stage::on(hub).await;
    let anonymous = stage.hub.anonymous();
    let (json, text) = ("application/json", "text/plain");
    let cases = [
        (&anonymous, Method::POST, "/v1/messages", json, 401),
        (&*stage.agent, Method::POST, "/v1/nowhere", json, 404),
        (&*stage.agent, Method::PUT, "/v1/messages", json, 405),
        (&*stage.agent, Method::POST, "/v1/messages", json, 413),
        (&*stage.agent, Method::POST, "/v1/messages", text, 415),
        (&*stage.alice, Method::POST, "/v1/messages", json, 403),
    ];
    for (caller, method, path, content_type, status) in cases {
        let sent = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&sent);
        let chunks = futures_util::stream::iter((0..CHUNKS).map(move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
            Ok::<_, std::io::Error>(vec![b' '; 64 * 1024])
        }));
        let request = caller
            .request(method, path)
            .header("content-type", content_type)
            .body(reqwest::Body::wrap_stream(chunks));
        let answer = request.send().await.unwrap();
        assert_eq!(
            (answer.version(), answer.status().as_u16()),
            (Version::HTTP_2, status)
        );
        let body: serde_json::Value = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
        assert!(body["error"]["code"].is_string(), "{body}");
        assert_eq!(
            sent.load(Ordering::Relaxed),
            CHUNKS,
            "{status} cut the client short"
        );
    }
}

#[tokio::test]
async fn a_cursor_of_nobodys_is_malformed() {
    let stage = Stage::in_process().await;
    let humans = stage.account.path("/humans");
    for cursor in ["nonsense", "%25%25", "%FF", "AAAA"] {
        for reply in [
            stage.agent.messages(&format!("?cursor={cursor}")).await,
            stage.alice.get(&format!("/v1/agents?cursor={cursor}")).await,
            stage
                .account
                .admin()
                .get(&format!("{humans}?cursor={cursor}"))
                .await,
        ] {
            let message = reply.expect_error(400, "validation_error");
            assert!(message.contains("cursor"), "{message}");
        }
    }
}

#[tokio::test]
async fn a_malformed_envelope_is_told_what_is_wrong() {
    let stage = Stage::in_process().await;
    let with = |pointer: &str, value: serde_json::Value| {
        let mut ask = stage.confirm();
        let (parent, member) = pointer.rsplit_once('/').unwrap();
        ask.pointer_mut(parent).unwrap()[member] = value;
        ask
    };
    let cases = [
        (
            with("/ma2h_version", json!("1.0")),
            400,
            "version_not_supported",
            "ma2h_version",
        ),
        (
            with("/ma2h_version", json!("0.06")),
            400,
            "validation_error",
            "ma2h_version",
        ),
        (with("/title", json!("")), 400, "validation_error", "title"),
        (
            with("/title", json!("x".repeat(201))),
            400,
            "validation_error",
            "title",
        ),
        (
            with("/priority", json!("whenever")),
            400,
            "validation_error",
            "priority",
        ),
        (
            with("/request/mode", json!("guess")),
            400,
            "validation_error",
            "request.mode",
        ),
        (
            with("/agent/id", json!("somebody/else")),
            403,
            "agent_id_mismatch",
            "agent.id",
        ),
        (
            with("/expires_at", json!("2001-01-01T00:00:00Z")),
            422,
            "invalid_field",
            "expires_at",
        ),
        (
            with("/request/default_on_expire", json!("perhaps")),
            422,
            "invalid_field",
            "default_on_expire",
        ),
        (
            with("/body", json!("x".repeat(70_000))),
            422,
            "invalid_field",
            "body",
        ),
        (with("/to", json!("agent:somebody")), 422, "invalid_field", "to"),
    ];
    for (envelope, status, code, named) in cases {
        let message = stage.agent.submit(&envelope).await.expect_error(status, code);
        assert!(message.contains(named), "{message:?} does not name {named}");
    }
}

#[tokio::test]
async fn the_ask_contract_of_v06_holds_at_every_minor() {
    let stage = Stage::in_process().await;
    for version in ["0.3", "0.4", "0.5", "0.6", "0.10"] {
        let ask = |request: serde_json::Value| {
            let mut ask = stage.confirm();
            ask["ma2h_version"] = json!(version);
            ask["request"] = request;
            ask["request"]["allowed_resolvers"] = json!(["human:alice"]);
            ask
        };
        let option = |value: &str, label: &str| json!({"value": value, "label": label});
        let twice = ask(json!({"mode": "select", "options": [option("a", "one"), option("a", "two")]}));
        stage
            .agent
            .submit(&twice)
            .await
            .expect_error(422, "invalid_field");
        let identical = ask(json!({"mode": "select", "options": [option("a", "one"), option("a", "one")]}));
        stage
            .agent
            .submit(&identical)
            .await
            .expect_error(422, "invalid_field");
        for schema in [
            json!({"type": "string"}),
            json!({}),
            json!({"type": "object"}),
            json!({"type": ["object", "object"],
            "properties": {"a": {}}}),
        ] {
            let message = stage
                .agent
                .submit(&ask(json!({"mode": "input", "schema": schema})))
                .await
                .expect_error(422, "invalid_field");
            assert!(message.contains("request.schema"), "{message}");
        }
        let mut edit = ask(
            json!({"mode": "select", "options": [option("a", "one")], "permissions": {"allow_edit": true}}),
        );
        edit["idempotency_key"] = json!(hub_testkit::unique());
        let id = stage.agent.submitted(&edit).await;
        let reply = stage.alice.answer(&id, "something else").await;
        if ["0.6", "0.10"].contains(&version) {
            reply.expect(200);
            let response = stage.agent.message(&id).await.expect(200)["response"]["response"].clone();
            assert_eq!(
                (&response["value"], &response["edited"]),
                (&json!("something else"), &json!(true))
            );
        } else {
            reply.expect_error(422, "invalid_field");
            assert_eq!(stage.agent.message(&id).await.expect(200)["status"], "open");
        }
    }
}

#[tokio::test]
async fn another_agents_message_is_as_unknown_as_no_message() {
    let stage = Stage::in_process().await;
    let other = stage.account.agent("other/agent").await;
    let foreign = stage.hub.account("globex").await;
    let stranger = foreign.agent(AGENT).await;
    let mallory = foreign.human("alice", "owner").await;
    let id = stage.agent.submitted(&stage.confirm()).await;
    let declined = json!({"resolution": "declined"});
    let replies = [
        other.message(&id).await,
        other.wait(&id, 1).await,
        other.cancel(&id).await,
        other.resolve(&id, &declined).await,
        stranger.message(&id).await,
        stranger.cancel(&id).await,
        stranger.resolve(&id, &declined).await,
        mallory.message(&id).await,
        mallory.resolve(&id, &declined).await,
        mallory.attempts(&id).await,
        mallory.delete(&format!("/v1/messages/{id}")).await,
        mallory
            .post(&format!("/v1/messages/{id}/redeliver"), &json!({}))
            .await,
    ];
    let unknown = stage.agent.message("msg_unknown").await.json();
    for reply in replies {
        reply.expect_error(404, "not_found");
        assert_eq!(reply.json(), unknown, "it says more than that it is unknown");
    }
    for nobodys in [
        other.messages("").await,
        stranger.messages("").await,
        mallory.messages("").await,
    ] {
        assert_eq!(nobodys.expect(200)["messages"], json!([]));
    }
}

#[tokio::test]
async fn only_allowed_resolvers_answer_and_a_viewer_only_looks() {
    let stage = Stage::in_process().await;
    let bob = stage.account.human("bob", "operator").await;
    let victor = stage.account.human("victor", "viewer").await;
    let id = stage
        .agent
        .submitted(&envelope::confirm(AGENT, "human:victor"))
        .await;
    bob.answer(&id, "approve")
        .await
        .expect_error(403, "not_authorized");
    victor.message(&id).await.expect(200);
    victor
        .answer(&id, "approve")
        .await
        .expect_error(403, "not_authorized");

    // Without a list only the submitting agent itself may resolve (§9.1).
    let mut own = stage.confirm();
    own["request"]
        .as_object_mut()
        .unwrap()
        .remove("allowed_resolvers");
    let id = stage.agent.submitted(&own).await;
    stage
        .alice
        .answer(&id, "approve")
        .await
        .expect_error(403, "not_authorized");
    stage
        .agent
        .resolve(&id, &json!({"resolution": "answered", "value": "approve"}))
        .await
        .expect(200);
    let response = stage.agent.message(&id).await.expect(200)["response"].clone();
    assert_eq!(response["response"]["actor"], format!("agent:{AGENT}"));
}

#[tokio::test]
async fn a_poll_is_held_until_the_answer_and_says_not_modified_when_asked() {
    let stage = Stage::processes(2).await;
    let [first, second] = stage.hub.base_urls() else {
        panic!("two gateways")
    };
    let id = stage.agent.submitted(&stage.confirm()).await;
    let now = time::OffsetDateTime::now_utc()
        .format(&time::format_description::well_known::Rfc3339)
        .unwrap();
    let waiter = stage.agent.on(first);
    let held = waiter.wait(&id, 60);
    let since = format!("/v1/messages/{id}?wait=1&since={}", now.replace('+', "%2B"));
    let unchanged = stage.agent.get(&since).await;
    assert_eq!(unchanged.status.as_u16(), 304, "{}", unchanged.text);
    let answer = async {
        stage.alice.on(second).answer(&id, "approve").await.expect(200);
    };
    let (held, ()) = tokio::join!(held, answer);
    assert_eq!(held.expect(200)["status"], "answered");
    let changed = stage.agent.get(&since).await.expect(200);
    assert_eq!(changed["response"]["response"]["value"], "approve");
}

#[tokio::test]
async fn a_revoked_token_ends_everywhere() {
    let stage = Stage::processes(2).await;
    let issued = stage
        .account
        .admin()
        .post(
            &stage.account.path("/tokens"),
            &json!({"subject": format!("agent:{AGENT}")}),
        )
        .await;
    issued.expect(201);
    let (id, token) = (issued.text_at("id"), issued.text_at("token"));
    let agents: Vec<_> = stage
        .hub
        .base_urls()
        .iter()
        .map(|url| stage.agent.with_token(&token).at(url))
        .collect();
    for agent in &agents {
        agent.get("/v1/messages").await.expect(200);
    }
    assert!(
        stage
            .account
            .admin()
            .delete(&stage.account.path(&format!("/tokens/{id}")))
            .await
            .status
            .is_success()
    );
    agents[0]
        .get("/v1/messages")
        .await
        .expect_error(401, "unauthenticated");
    hub_testkit::eventually("the other gateway to refuse it", || async {
        (agents[1].get("/v1/messages").await.status.as_u16() == 401).then_some(())
    })
    .await;
    let listed = stage.account.admin().get(&stage.account.path("/tokens")).await;
    listed.expect(200);
    assert!(!listed.text.contains(&token));
}

#[tokio::test]
async fn the_hub_says_what_it_is_and_how_it_is() {
    let stage = Stage::in_process().await;
    let anonymous = stage.hub.anonymous();
    for path in ["/.well-known/ma2h", "/.well-known/ma2h-capability"] {
        let capability = anonymous.get(path).await.expect(200);
        assert_eq!(capability["ma2h_version"], "0.6");
        assert_eq!(capability["max_body_bytes"], 65536);
    }
    anonymous.get("/healthz").await.expect(200);
    anonymous.get("/readyz").await.expect(200);
    let mut headers = HeaderMap::new();
    headers.insert("x-request-id", "caller-chosen-1".parse().unwrap());
    let reply = anonymous.get_with("/healthz", headers).await;
    assert_eq!(reply.header("x-request-id"), Some("caller-chosen-1"));
}

fn vec_text(bytes: usize) -> String {
    format!(r#"{{"title":"{}"}}"#, "x".repeat(bytes))
}
