//! What an agent sends is stored as accepted and comes back as sent; what could not be is refused, with a reason.

use http::Method;
use hub_testkit::Reply;
use serde_json::Value;

use crate::stage::{AGENT, SECRET_REF, Stage};

#[tokio::test]
async fn state_comes_back_byte_for_byte_by_pull_and_by_push() {
    let stage = Stage::in_process().await;
    let states = [
        r#"{"b":1,"a":2}"#,
        r#"{ "spaced" :  [ 1 , 2.0 , 1.0 , 1e2 , -0 , 0.10 ] }"#,
        r#"{"big":9223372036854775808,"odd":9007199254740993,"long":3.141592653589793238462643383279}"#,
        r#"{"nul":"\u0000","escaped":"\u00e9\/","raw":"é","astral":"𝄞😀","pair":"\ud834\udd1e"}"#,
        r#"{"empty":{},"list":[],"nothing":null,"":"the empty key"}"#,
        &nested(100),
    ];
    for state in states {
        let id = accepted(&submit(&stage, "plain", state).await);
        stage.alice.answer(&id, "approve").await.expect(200);
        let pulled = stage.agent.message(&id).await;
        pulled.expect(200);
        let occurrences = pulled.text.matches(state).count();
        assert_eq!(
            occurrences, 2,
            "in the envelope and in the Response: {state}\n{}",
            pulled.text
        );
        let push = stage
            .sink
            .await_request(&id, |request| request.text().contains(&id))
            .await;
        assert!(push.text().contains(state), "{state}\n{}", push.text());
    }
}

#[tokio::test]
async fn a_title_may_hold_any_character() {
    let stage = Stage::in_process().await;
    for title in [
        r"nul \u0000 inside",
        "astral 𝄞 and 😀",
        r"pair \ud834\udd1e",
        r"quote \u0022 and \\ and \n",
    ] {
        let id = accepted(&submit(&stage, title, "{}").await);
        let pulled = stage.agent.message(&id).await;
        pulled.expect(200);
        assert!(
            pulled.text.contains(&format!(r#""title":"{title}""#)),
            "{}",
            pulled.text
        );
        stage.agent.messages("?limit=5").await.expect(200);
        stage.alice.messages("?limit=5").await.expect(200);
    }
}

/// Each could not be signed as it was sent, so none is accepted: the error is clear, and nothing is left behind.
#[tokio::test]
async fn what_cannot_come_back_as_sent_is_refused() {
    let stage = Stage::in_process().await;
    let too_deep = nested(250);
    let states = [
        ("a number that no double holds", r#"{"n":1e400}"#),
        ("a negative one", r#"{"n":-1e400}"#),
        ("duplicate keys", r#"{"a":1,"a":2}"#),
        ("duplicate keys, spelt differently", r#"{"a":1,"\u0061":2}"#),
        ("duplicate keys, deep inside", r#"{"x":[{"y":{"a":1,"a":1}}]}"#),
        ("a lone surrogate", r#"{"s":"\ud834"}"#),
        ("a lone surrogate as a key", r#"{"\udd1e":1}"#),
        ("nesting without end", too_deep.as_str()),
        ("a control character", "{\"s\":\"\u{1}\"}"),
        ("not JSON", r#"{"a":}"#),
    ];
    for (what, state) in states {
        let reply = submit(&stage, "plain", state).await;
        assert!(
            (400..=422).contains(&reply.status.as_u16()),
            "{what}: {} {}",
            reply.status,
            reply.text
        );
        let error = reply.json()["error"].clone();
        assert!(
            error["message"].as_str().is_some_and(|text| text.len() > 10),
            "{what}: {error}"
        );
    }
    let listed = stage.agent.messages("").await.expect(200);
    assert_eq!(listed["messages"].as_array().map(Vec::len), Some(0), "{listed}");
}

#[tokio::test]
async fn unknown_members_are_kept_and_the_hubs_own_cannot_be_forged() {
    let stage = Stage::in_process().await;
    let body = envelope("plain", "{}").replacen(
        '{',
        r#"{"x_unknown":{"kept":[1.50]},"id":"msg_forged","status":"answered","response":{"forged":true},"delivery":7,"#,
        1,
    );
    let reply = stage.agent.send_text(Method::POST, "/v1/messages", body).await;
    let id = accepted(&reply);
    let pulled = stage.agent.message(&id).await;
    let message = pulled.expect(200);
    assert!(
        pulled.text.contains(r#""x_unknown":{"kept":[1.50]}"#),
        "{}",
        pulled.text
    );
    assert_eq!(
        (&message["id"], &message["status"]),
        (&Value::from(id), &Value::from("open"))
    );
    assert_eq!(message.get("response"), None);
    assert_eq!(message.get("delivery"), None);
}

/// The human's view leaves out what is between the agent and the hub.
#[tokio::test]
async fn a_human_sees_neither_state_nor_client_ref_nor_callback() {
    let stage = Stage::in_process().await;
    let body =
        envelope("plain", r#"{"sealed":"CANARY-STATE"}"#).replacen('{', r#"{"client_ref":"CANARY-REF","#, 1);
    let id = accepted(&stage.agent.send_text(Method::POST, "/v1/messages", body).await);
    stage.alice.answer(&id, "approve").await.expect(200);
    let shown = stage.alice.message(&id).await;
    let message = shown.expect(200);
    assert!(!shown.text.contains("CANARY"), "{}", shown.text);
    assert!(!shown.text.contains(SECRET_REF), "{}", shown.text);
    assert_eq!(message["response"]["response"]["value"], "approve");
}

fn nested(levels: usize) -> String {
    format!(
        "{}{}",
        r#"{"n":"#.repeat(levels - 1) + "{}",
        "}".repeat(levels - 1)
    )
}

async fn submit(stage: &Stage, title: &str, state: &str) -> Reply {
    let callback = format!(
        r#""callback":{{"mode":"push","url":"{}","auth":{{"scheme":"hmac","secret_ref":"{SECRET_REF}"}}}},"#,
        stage.callback_url()
    );
    let body = envelope(title, state).replacen(
        r#""mode":"confirm","#,
        &format!(r#""mode":"confirm",{callback}"#),
        1,
    );
    stage.agent.send_text(Method::POST, "/v1/messages", body).await
}

/// An ask as text, so that a test says every byte of it.
fn envelope(title: &str, state: &str) -> String {
    let key = hub_testkit::unique();
    format!(
        r#"{{"ma2h_version":"0.6","type":"ask","created_at":"2026-01-01T00:00:00Z","agent":{{"id":"{AGENT}","run_id":"run-1","runtime":"other"}},"title":"{title}","state":{state},"idempotency_key":"{key}","request":{{"mode":"confirm","allowed_resolvers":["human:alice"]}}}}"#
    )
}

#[track_caller]
fn accepted(reply: &Reply) -> String {
    reply.expect(202);
    reply.text_at("id")
}
