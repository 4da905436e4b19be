//! A Response on its way to the agent's callback (§8.3, §9.2).

use std::collections::BTreeSet;
use std::sync::Arc;

use ma2h::sign::{decode_mac, parse_header};
use serde_json::{Value, json};

use crate::live::envelope::{block, in_ms, unique, with};
use crate::live::leg::Leg;
use crate::live::receiver::Push;
use crate::live::registry::{Check, check};
use crate::live::stage::{CallbackScene, SECRET_REF, Stage, now};
use crate::live::verdict::{Proof, Tried, Verdict, equal, failed, holds};

pub(super) fn checks() -> Vec<Check> {
    [
        check("8.3", every_end_is_pushed),
        check("8.3", the_push_is_the_response_that_is_pulled),
        check("9.2", an_hmac_push_is_signed_with_its_secret),
        check("9.2", a_bearer_push_carries_its_token_and_is_signed),
        check("9.2", an_apikey_push_carries_its_key_and_is_signed),
        check("9.2", a_signature_has_its_form),
        check("9.2", a_signature_is_fresh),
        check("9.2", no_nonce_is_used_twice),
        check("9.2", a_tampered_push_does_not_verify),
        check("9.2", a_push_is_signed_for_its_url_only),
        check("9.2", a_task_without_detail_is_signed_too),
        check("9.2", numbers_are_signed_by_their_value),
        check("8.3", what_is_to_be_pulled_is_not_pushed),
        check("8.3", a_callback_without_a_url_or_credential_is_refused),
        check("8.3", a_notify_is_not_pushed),
        check("9.2", a_rotated_secret_signs_at_once),
        check("9.1", a_push_goes_to_the_submitters_callback_only),
        check("14.2", a_push_that_was_taken_is_delivered),
    ]
    .into_iter()
    .map(|check| check.of(Leg::Push))
    .collect()
}

/// A push of an ask that alice answered.
async fn answered(scene: &CallbackScene, ask: Value) -> Tried<Push> {
    scene.approved(&scene.pushed(ask)).await?;
    scene.receiver.push().await
}

/// Answered, declined, cancelled, expired, completed, dismissed.
async fn every_end_is_pushed(stage: Arc<Stage>) -> Proof {
    let scene = stage.callback_scene().await?;
    for (envelope, body) in [
        (
            scene.confirm(),
            json!({"resolution": "answered", "value": "approve"}),
        ),
        (scene.confirm(), json!({"resolution": "declined"})),
        (scene.task(), json!({"resolution": "completed"})),
        (scene.task(), json!({"resolution": "dismissed", "comment": "no"})),
    ] {
        let id = scene.agent.submitted(&scene.pushed(envelope)).await?;
        scene.alice.resolve(&id, &body).await?.expect(200)?;
    }
    let id = scene.agent.submitted(&scene.pushed(scene.confirm())).await?;
    scene.agent.cancel(&id).await?.expect(200)?;
    let soon = with(scene.pushed(scene.confirm()), "/expires_at", json!(in_ms(2500)));
    scene.agent.submitted(&soon).await?;
    let mut ends = BTreeSet::new();
    for push in scene.receiver.pushes(6).await? {
        ends.insert(scene.verified(&push)?["resolution"].to_string());
    }
    equal("different ends", &ends.len(), &6)
}

/// Member for member, at the path that was asked for, as JSON.
async fn the_push_is_the_response_that_is_pulled(stage: Arc<Stage>) -> Proof {
    let scene = stage.callback_scene().await?;
    let ask = with(
        scene.pushed(scene.confirm()),
        "/state",
        json!({"step": 4, "deep": [1.5, null]}),
    );
    let id = scene.approved(&ask).await?;
    let push = scene.receiver.push().await?;
    equal("path", push.path.as_str(), scene.path())?;
    let kind = push.header("content-type")?;
    holds(kind.starts_with("application/json"), || {
        format!("content-type is {kind}")
    })?;
    let pulled = scene.agent.read(&id).await?["response"].take();
    equal("what was pushed", &push.json()?, &pulled)?;
    equal("state", &pulled["state"], &ask["state"])
}

/// And verifies as the agent must verify it.
async fn an_hmac_push_is_signed_with_its_secret(stage: Arc<Stage>) -> Proof {
    let scene = stage.callback_scene().await?;
    let push = answered(&scene, scene.confirm()).await?;
    let response = scene.verified(&push)?;
    equal("resolution", &response["resolution"], "answered")?;
    holds(!push.body.contains("a secret that only proofs have"), || {
        "the push shows the secret".to_owned()
    })
}

/// A message whose callback authenticates by a token.
fn with_token(scene: &CallbackScene, scheme: &str) -> Value {
    let mut ask = scene.confirm();
    let auth = json!({"scheme": scheme, "token_ref": SECRET_REF});
    block(&mut ask)["callback"] = json!({"mode": "push", "url": scene.url, "auth": auth});
    ask
}

/// Every scheme is signed; this one with the hub's key.
async fn a_bearer_push_carries_its_token_and_is_signed(stage: Arc<Stage>) -> Proof {
    let scene = stage.callback_scene().await?;
    scene
        .account
        .put_secret(&scene.agent.id, SECRET_REF, "token-for-bearer")
        .await?;
    scene.approved(&with_token(&scene, "bearer")).await?;
    let push = scene.receiver.push().await?;
    equal(
        "authorization",
        push.header("authorization")?,
        "Bearer token-for-bearer",
    )?;
    scene.verified_with(&push, &stage.hub_key().await?).map(drop)
}

/// The same.
async fn an_apikey_push_carries_its_key_and_is_signed(stage: Arc<Stage>) -> Proof {
    let scene = stage.callback_scene().await?;
    scene
        .account
        .put_secret(&scene.agent.id, SECRET_REF, "key-for-apikey")
        .await?;
    scene.approved(&with_token(&scene, "apikey")).await?;
    let push = scene.receiver.push().await?;
    equal("x-api-key", push.header("x-api-key")?, "key-for-apikey")?;
    scene.verified_with(&push, &stage.hub_key().await?).map(drop)
}

/// `t=…,jti=…,v1=…`, base64url of 32 bytes or more.
async fn a_signature_has_its_form(stage: Arc<Stage>) -> Proof {
    let scene = stage.callback_scene().await?;
    let push = answered(&scene, scene.confirm()).await?;
    let value = push.header("ma2h-signature")?;
    let Some(header) = parse_header(value) else {
        return failed(format!("malformed: {value}"));
    };
    let bytes = decode_mac(header.v1).map(|bytes| bytes.len());
    equal("bytes of an hmac", &bytes, &Some(32))?;
    holds(header.jti.len() >= 8, || {
        format!("{} is short for a nonce", header.jti)
    })
}

/// Within the window around the receiver's clock.
async fn a_signature_is_fresh(stage: Arc<Stage>) -> Proof {
    let scene = stage.callback_scene().await?;
    let push = answered(&scene, scene.confirm()).await?;
    let value = push.header("ma2h-signature")?;
    let t = parse_header(value).map_or(0, |header| header.t);
    let off = (now() - t).abs();
    holds(off <= scene.hub.replay_window_seconds(), || {
        format!("signed {off} s away from now")
    })
}

/// Over many pushes.
async fn no_nonce_is_used_twice(stage: Arc<Stage>) -> Proof {
    let scene = stage.callback_scene().await?;
    for _ in 0..10 {
        scene
            .approved(&with(
                scene.pushed(scene.confirm()),
                "/idempotency_key",
                json!(unique()),
            ))
            .await?;
    }
    let pushes = scene.receiver.pushes(10).await?;
    let mut seen = BTreeSet::new();
    for push in &pushes {
        let value = push.header("ma2h-signature")?;
        seen.insert(parse_header(value).map(|header| header.jti.to_owned()));
    }
    equal("different nonces", &seen.len(), &pushes.len())
}

/// The answer, who gave it, when, the comment, the state, the end, the resolution, the message: each is bound.
async fn a_tampered_push_does_not_verify(stage: Arc<Stage>) -> Proof {
    let scene = stage.callback_scene().await?;
    let ask = with(scene.pushed(scene.confirm()), "/state", json!({"step": 4}));
    let id = scene.agent.submitted(&ask).await?;
    let body = json!({"resolution": "answered", "value": "deny", "comment": "not yet"});
    scene.alice.resolve(&id, &body).await?.expect(200)?;
    let push = scene.receiver.push().await?;
    let honest = scene.verified(&push)?;
    for (pointer, value) in [
        ("/response/value", json!("approve")),
        ("/response/actor", json!("human:mallory")),
        ("/response/resolved_at", json!("2026-01-01T00:00:00Z")),
        ("/response/comment", json!("now")),
        ("/response/edited", json!(true)),
        ("/state/step", json!(5)),
        ("/resolution", json!("declined")),
        ("/resolution_id", json!("res_other")),
        ("/in_reply_to", json!("msg_other")),
        ("/ma2h_version", json!("0.5")),
    ] {
        let tampered = Push {
            body: with(honest.clone(), pointer, value).to_string(),
            ..push.clone()
        };
        if scene.verified(&tampered).is_ok() {
            return failed(format!("it verifies though {pointer} was changed"));
        }
    }
    Ok(())
}

/// Another endpoint rebuilds another context.
async fn a_push_is_signed_for_its_url_only(stage: Arc<Stage>) -> Proof {
    let mut scene = stage.callback_scene().await?;
    let push = answered(&scene, scene.confirm()).await?;
    scene.verified(&push)?;
    scene.url.push('2');
    match scene.verified(&push) {
        Err(Verdict::Failed(_)) => Ok(()),
        _ => failed("it verifies at another URL"),
    }
}

/// `response` and `resolved_at` are null in what is signed, or the Response has its detail.
async fn a_task_without_detail_is_signed_too(stage: Arc<Stage>) -> Proof {
    let scene = stage.callback_scene().await?;
    let id = scene.agent.submitted(&scene.pushed(scene.task())).await?;
    scene
        .alice
        .resolve(&id, &json!({"resolution": "completed"}))
        .await?
        .expect(200)?;
    let push = scene.receiver.push().await?;
    equal("resolution", &scene.verified(&push)?["resolution"], "completed")
}

/// However they are spelled in the envelope or the answer.
async fn numbers_are_signed_by_their_value(stage: Arc<Stage>) -> Proof {
    let scene = stage.callback_scene().await?;
    let schema = json!({"properties": {"n": {"type": "number"}, "m": {"type": "number"}}, "required": ["n"]});
    let text = with(scene.pushed(scene.input()), "/request/schema", schema);
    let text = with(text, "/state", json!("STATE")).to_string();
    let numbers = r#"{"a":1.50,"b":1E2,"c":-0.0,"d":1e-7,"e":9007199254740993,"f":0.1,"g":1e21}"#;
    let sent = text.replace("\"STATE\"", numbers);
    let ack = scene.agent.post_text("/v1/messages", sent).await?.expect(202)?;
    let id = ack["id"].as_str().unwrap_or_default();
    let body = r#"{"resolution":"answered","value":{"n":1.10,"m":1e0}}"#;
    scene
        .alice
        .post_text(&format!("/v1/messages/{id}/resolve"), body)
        .await?
        .expect(200)?;
    scene.verified(&scene.receiver.push().await?).map(drop)
}

/// Without a callback, or with `mode: pull`, nothing is contacted.
async fn what_is_to_be_pulled_is_not_pushed(stage: Arc<Stage>) -> Proof {
    let scene = stage.callback_scene().await?;
    let mut pull = scene.pushed(scene.confirm());
    pull["request"]["callback"]["mode"] = json!("pull");
    scene.approved(&scene.confirm()).await?;
    let reply = scene.agent.submit(&pull).await?;
    if reply.status == 202 {
        let id = reply.json()?["id"].as_str().unwrap_or_default().to_owned();
        scene.alice.answer(&id, "approve").await?.expect(200)?;
    }
    // What was owed before would have come before.
    let id = scene.approved(&scene.pushed(scene.confirm())).await?;
    scene.receiver.push().await?;
    scene.settled(&id).await?;
    let pushed = scene.receiver.received();
    equal("pushes", &pushed.len(), &1)?;
    equal("in_reply_to", &pushed[0].json()?["in_reply_to"], id.as_str())
}

/// 422 or 400: it could never be kept.
async fn a_callback_without_a_url_or_credential_is_refused(stage: Arc<Stage>) -> Proof {
    let scene = stage.callback_scene().await?;
    let either = [(422, "invalid_field"), (400, "validation_error")];
    for (pointer, value) in [
        ("/request/callback", json!({"mode": "push"})),
        ("/request/callback/url", json!("no address")),
        ("/request/callback/url", json!("ftp://127.0.0.1/x")),
        ("/request/callback/auth", json!({"scheme": "hmac"})),
        (
            "/request/callback/auth",
            json!({"scheme": "basic", "secret_ref": "x"}),
        ),
        (
            "/request/callback/auth",
            json!({"scheme": "bearer", "secret_ref": "x"}),
        ),
    ] {
        let ask = with(scene.pushed(scene.confirm()), pointer, value);
        scene.agent.submit(&ask).await?.refused_as(&either)?;
    }
    Ok(())
}

/// It has no callback to ask for.
async fn a_notify_is_not_pushed(stage: Arc<Stage>) -> Proof {
    let scene = stage.callback_scene().await?;
    let mut notify = scene.notify();
    notify["callback"] =
        json!({"mode": "push", "url": scene.url, "auth": {"scheme": "hmac", "secret_ref": SECRET_REF}});
    let reply = scene.agent.submit(&notify).await?;
    holds(reply.status == 202 || reply.status == 400, || reply.told())?;
    let id = scene.approved(&scene.pushed(scene.confirm())).await?;
    let push = scene.receiver.push().await?;
    equal("in_reply_to", &push.json()?["in_reply_to"], id.as_str())
}

/// The new value, with the next push.
async fn a_rotated_secret_signs_at_once(stage: Arc<Stage>) -> Proof {
    let scene = stage.callback_scene().await?;
    scene
        .account
        .put_secret(
            &scene.agent.id,
            SECRET_REF,
            "the secret after rotation, 0123456789",
        )
        .await?;
    let push = answered(&scene, scene.confirm()).await?;
    let key = ma2h::sign::VerifyingKey::hmac(b"the secret after rotation, 0123456789");
    let key = key.map_err(|problem| Verdict::Failed(problem.to_string()))?;
    scene.verified_with(&push, &key).map(drop)
}

/// Another agent's host is none of this agent's: what was approved for one is not for another.
async fn a_push_goes_to_the_submitters_callback_only(stage: Arc<Stage>) -> Proof {
    let scene = stage.callback_scene().await?;
    let other = scene.other_agent().await?;
    let ask = with(scene.pushed(scene.confirm()), "/agent/id", json!(other.id));
    let reply = other.submit(&ask).await?;
    reply.refused(422, "invalid_field")?;
    let id = scene.approved(&scene.pushed(scene.confirm())).await?;
    let push = scene.receiver.push().await?;
    equal("in_reply_to", &push.json()?["in_reply_to"], id.as_str())?;
    equal("agent.id", &push.json()?["agent"]["id"], scene.agent.id.as_str())
}

/// As the human reads it.
async fn a_push_that_was_taken_is_delivered(stage: Arc<Stage>) -> Proof {
    let scene = stage.callback_scene().await?;
    let id = scene.approved(&scene.pushed(scene.confirm())).await?;
    scene.receiver.push().await?;
    let (end, _) = scene.settled(&id).await?;
    equal("end of the push", end.as_str(), "delivered")?;
    equal(
        "delivery",
        &scene.alice.read(&id).await?["delivery"]["state"],
        "delivered-to-agent",
    )
}
