//! What every call has in common: errors, headers, credentials, bodies.

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use axum::routing::get;
use serde_json::json;
use tower::ServiceExt;

use super::{ADMIN, AGENT, Gateway, UNKNOWN, VIEWER, notify};
use crate::edge;

#[tokio::test]
async fn an_unknown_route_and_a_wrong_method_are_told_in_our_shape() {
    let gateway = Gateway::new();
    for path in [
        "/v",
        "/v1",
        "/v2/messages",
        "/v1/messages/msg_1/unknown",
        "/admin/v1/accounts/acme/colours",
    ] {
        gateway.get(path, ADMIN).await.is(404, "not_found");
    }
    let root = gateway.send("GET", "/", ADMIN, "").await;
    assert_eq!(root.status, StatusCode::SEE_OTHER);
    assert_eq!(root.headers[header::LOCATION], "/inbox");
    let answer = gateway.send("PUT", "/v1/messages", AGENT, "").await;
    answer.is(405, "method_not_allowed");
    let allow = answer.headers[header::ALLOW].to_str().unwrap();
    assert!(allow.contains("POST") && allow.contains("GET"), "{allow}");
    let path = "/admin/v1/accounts/acme/tokens/tok_1";
    let answer = gateway.send("GET", path, ADMIN, "").await;
    answer.is(405, "method_not_allowed");
    assert_eq!(answer.headers[header::ALLOW], "DELETE");
    gateway
        .send("PUT", "/admin/v1/accounts/acme/humans", ADMIN, "")
        .await
        .is(405, "method_not_allowed");
}

#[tokio::test]
async fn every_answer_carries_its_headers() {
    let gateway = Gateway::new();
    let answer = gateway
        .call("GET", "/healthz", &[("x-request-id", "abc-1")], Body::empty())
        .await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.headers["x-request-id"], "abc-1");
    for path in ["/healthz", "/nowhere", "/v1/messages", "/.well-known/ma2h"] {
        let answer = gateway
            .call("GET", path, &[("x-request-id", "no token")], Body::empty())
            .await;
        assert!(
            answer.headers["x-request-id"]
                .to_str()
                .unwrap()
                .starts_with("req_"),
            "{path}"
        );
        assert_eq!(answer.headers[header::CONTENT_TYPE], "application/json", "{path}");
        assert_eq!(answer.headers[header::CACHE_CONTROL], "no-store", "{path}");
        let https_only = &answer.headers[header::STRICT_TRANSPORT_SECURITY];
        assert!(https_only.to_str().unwrap().starts_with("max-age="), "{path}");
    }
}

#[tokio::test]
async fn without_a_valid_credential_nothing_is_told() {
    let gateway = Gateway::new();
    let paths = [
        ("GET", "/v1/messages"),
        ("POST", "/v1/messages"),
        ("GET", "/v1/stream"),
        ("GET", "/v1/agents"),
    ];
    for (method, path) in paths {
        let answer = gateway.call(method, path, &[], Body::empty()).await;
        answer.is(401, "unauthenticated");
        assert_eq!(answer.headers[header::WWW_AUTHENTICATE], "Bearer");
    }
    gateway
        .get("/admin/v1/accounts/acme", "ma2h_admin_wrong")
        .await
        .is(401, "unauthenticated");
    // What cannot be a token of ours is not looked up: the database, which is away, is not missed.
    let too_long = format!("{UNKNOWN}x");
    for token in [
        "",
        "x",
        "ma2h_agent_",
        "ma2h_human_short",
        &too_long,
        &UNKNOWN[1..],
    ] {
        gateway
            .get("/v1/messages", token)
            .await
            .is(401, "unauthenticated");
    }
}

#[tokio::test]
async fn a_tier_or_database_that_is_away_is_unavailable() {
    let gateway = Gateway::new();
    let answer = gateway.get("/v1/messages", UNKNOWN).await;
    answer.is(503, "unavailable");
    assert!(answer.headers.contains_key(header::RETRY_AFTER));
    gateway
        .send("POST", "/v1/messages", AGENT, notify().to_string())
        .await
        .is(503, "unavailable");
    let answer = gateway.get("/readyz", "").await;
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(
        answer.body["down"],
        json!(["postgres", "lifecycle", "delivery", "presence"])
    );
}

#[tokio::test]
async fn a_body_must_be_json() {
    let gateway = Gateway::new();
    let headers = [("x-api-key", AGENT), ("content-type", "text/plain")];
    gateway
        .call("POST", "/v1/messages", &headers, "{}")
        .await
        .is(415, "unsupported_media_type");
    gateway
        .call("POST", "/v1/messages", &headers[..1], "{}")
        .await
        .is(415, "unsupported_media_type");
    let twice = r#"{"ma2h_version": "0.6", "ma2h_version": "0.6"}"#;
    let malformed: [&[u8]; 6] = [b"", b"{", b"[1,]", b"{} {}", b"\"\xff\"", twice.as_bytes()];
    for body in malformed {
        gateway
            .send("POST", "/v1/messages", AGENT, body.to_vec())
            .await
            .is(400, "validation_error");
        gateway
            .send("POST", "/admin/v1/accounts", ADMIN, body.to_vec())
            .await
            .is(400, "validation_error");
    }
}

#[tokio::test]
async fn what_is_malformed_is_told_in_our_shape() {
    type Headers<'a> = &'a [(&'a str, &'a str)];
    let gateway = Gateway::new();
    let key = ("x-api-key", AGENT);
    let cases: [(&str, &str, Headers<'_>, u16, &str); 8] = [
        ("GET", "/v1/messages/%ff", &[key], 404, ""),
        (
            "GET",
            "/v1/messages/%ff/attempts",
            &[("x-api-key", VIEWER)],
            404,
            "",
        ),
        (
            "GET",
            "/v1/messages?status=open&status=open",
            &[key],
            400,
            "query: ",
        ),
        ("GET", "/v1/messages?limit=many", &[key], 400, "limit: "),
        (
            "GET",
            "/v1/agents?cursor=!",
            &[("x-api-key", VIEWER)],
            400,
            "cursor: ",
        ),
        (
            "GET",
            "/v1/messages",
            &[key, ("host", "a.example"), ("host", "b.example")],
            400,
            "host: ",
        ),
        (
            "GET",
            "/v1/messages",
            &[key, ("expect", "a-miracle")],
            400,
            "expect: ",
        ),
        (
            "POST",
            "/v1/messages",
            &[
                key,
                ("content-type", "application/json"),
                ("content-encoding", "gzip"),
            ],
            415,
            "content-encoding: ",
        ),
    ];
    for (method, path, headers, status, named) in cases {
        let answer = gateway.call(method, path, headers, "{}").await;
        let (found, code, message) = answer.refusal();
        assert_eq!(found, status, "{path}: {}", answer.body);
        assert!(
            !code.is_empty() && message.starts_with(named),
            "{path}: {}",
            answer.body
        );
        assert_eq!(answer.headers[header::CONTENT_TYPE], "application/json");
    }
    for path in ["/inbox?view=a&view=b", "/inbox/sign-in?next=a&next=b"] {
        let page = gateway
            .routes
            .clone()
            .oneshot(Request::get(path).body(Body::empty()).unwrap());
        let status = page.await.unwrap().status();
        assert!(status.is_success() || status.is_redirection(), "{path}: {status}");
    }
}

#[tokio::test]
async fn a_body_without_length_is_bounded_as_well() {
    let gateway = Gateway::new();
    let chunks = futures_util::stream::iter((0..1200).map(|_| Ok::<_, std::io::Error>("x".repeat(1024))));
    let answer = gateway
        .send("POST", "/v1/messages", AGENT, Body::from_stream(chunks))
        .await;
    answer.is(413, "payload_too_large");
}

#[tokio::test]
async fn a_panic_is_our_failure_and_tells_nothing() {
    let gateway = Gateway::new();
    let routes = Router::new().route("/panics", get(async || -> () { panic!("content of a message") }));
    let routes = edge::around(routes, gateway.app.clone());
    let gateway = Gateway { routes, ..gateway };
    let answer = gateway.get("/panics", AGENT).await;
    answer.is(500, "internal");
    assert!(answer.headers.contains_key("x-request-id"));
    assert!(!answer.body.to_string().contains("content"));
}
