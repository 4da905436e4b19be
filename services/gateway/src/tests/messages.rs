//! Messages and the stream, up to where lifecycle is asked.

use axum::body::Body;
use axum::http::{Request, header};
use http_body_util::BodyExt;
use serde_json::json;
use tower::ServiceExt;

use super::{AGENT, Gateway, OWNER, VIEWER, changed, notify};
use crate::wakes::{Wake, WakeKind};

#[tokio::test]
async fn a_submit_is_checked_in_order_and_names_the_field() {
    let gateway = Gateway::new();
    let too_long = changed(|envelope| envelope["state"] = json!({"x": "x".repeat(70_000)}));
    let too_large = changed(|envelope| envelope["state"] = json!({"x": "x".repeat(70_000 + (1 << 20))}));
    let cases = [
        (
            changed(|envelope| drop(envelope.as_object_mut().unwrap().remove("ma2h_version"))),
            400,
            "validation_error",
        ),
        (
            changed(|envelope| envelope["ma2h_version"] = json!("1.0")),
            400,
            "version_not_supported",
        ),
        (
            changed(|envelope| envelope["ma2h_version"] = json!("0.06")),
            400,
            "validation_error",
        ),
        (
            changed(|envelope| envelope["title"] = json!(5)),
            400,
            "validation_error",
        ),
        (
            changed(|envelope| envelope["agent"]["id"] = json!("other")),
            403,
            "agent_id_mismatch",
        ),
        (
            changed(|envelope| envelope["body"] = json!("x".repeat(1025))),
            422,
            "invalid_field",
        ),
        (too_long, 422, "invalid_field"),
        (too_large, 413, "payload_too_large"),
    ];
    for (body, status, code) in cases {
        gateway
            .send("POST", "/v1/messages", AGENT, body)
            .await
            .is(status, code);
    }
    let answer = gateway
        .send(
            "POST",
            "/v1/messages",
            AGENT,
            changed(|envelope| envelope["title"] = json!(5)),
        )
        .await;
    assert!(answer.refusal().2.starts_with("title"), "{}", answer.body);
    gateway
        .send("POST", "/v1/messages", OWNER, notify().to_string())
        .await
        .is(403, "not_authorized");
}

#[tokio::test]
async fn what_cannot_be_an_id_names_nothing() {
    let gateway = Gateway::new();
    for path in [
        "/v1/messages/msg_%00",
        "/v1/messages/other_1",
        "/v1/messages/%ff",
        "/v1/agents/a%0Ab/presence",
    ] {
        gateway.get(path, OWNER).await.is(404, "not_found");
    }
    gateway
        .send("DELETE", "/admin/v1/accounts/acme/tokens/tok_%00", OWNER, "")
        .await
        .is(404, "not_found");
}

#[tokio::test]
async fn parameters_are_checked() {
    let gateway = Gateway::new();
    for query in ["wait=soon", "wait=-1", "since=yesterday"] {
        let path = format!("/v1/messages/msg_1?{query}");
        gateway.get(&path, AGENT).await.is(400, "validation_error");
    }
    for query in ["limit=0", "limit=x", "status=opened", "type=mail", "q=%00"] {
        gateway
            .get(&format!("/v1/messages?{query}"), OWNER)
            .await
            .is(400, "validation_error");
    }
}

#[tokio::test]
async fn a_stream_begins_with_resync_and_tells_what_happens() {
    let gateway = Gateway::new();
    gateway.remember();
    let request = Request::get("/v1/stream")
        .header("x-api-key", VIEWER)
        .body(Body::empty())
        .unwrap();
    let response = gateway.routes.clone().oneshot(request).await.unwrap();
    assert_eq!(response.headers()[header::CONTENT_TYPE], "text/event-stream");
    let mut body = response.into_body();
    let mut next = async || {
        let frame = body.frame().await.unwrap().unwrap();
        String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap()
    };
    assert_eq!(next().await, "event: resync\ndata: {}\n\n");
    gateway.app.wakes.dispatch(&Wake {
        account: "acme".to_owned(),
        event: WakeKind::MessageResolved,
        id: "msg_1".to_owned(),
        state: Some("answered".to_owned()),
    });
    assert_eq!(
        next().await,
        "event: message.resolved\ndata: {\"id\":\"msg_1\",\"state\":\"answered\"}\n\n"
    );
    gateway.app.shutdown.trigger();
    assert!(body.frame().await.is_none());
}
