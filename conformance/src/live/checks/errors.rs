//! How a hub refuses (§8.5).

use std::sync::Arc;

use reqwest::Method;
use serde_json::json;

use crate::live::api::{Api, Call};
use crate::live::envelope::{unique, with, without};
use crate::live::registry::{Check, check};
use crate::live::stage::Stage;
use crate::live::verdict::{Proof, Verdict, holds};

pub(super) fn checks() -> Vec<Check> {
    vec![
        check("8.5", who_has_no_credential_is_unauthenticated),
        check("8.5", another_agents_id_is_a_mismatch),
        check("8.5", an_unknown_message_is_not_found),
        check("8.5", a_malformed_envelope_is_a_validation_error),
        check("8.5", what_is_no_json_object_is_a_validation_error),
        check("8.5", json_that_can_be_read_in_two_ways_is_refused),
        check("8.5", an_unknown_major_is_not_supported),
        check("8.5", a_refused_submit_leaves_nothing_behind),
        check("8.5", every_refusal_has_the_one_shape),
        check("9.1", both_ways_to_bring_a_credential_work),
    ]
}

/// 401, for no credential and for a wrong one, on every call of an agent's.
async fn who_has_no_credential_is_unauthenticated(stage: Arc<Stage>) -> Proof {
    let wrong = Api::with_token(&stage.hub, "ma2h_agent_wrong");
    for caller in [stage.anonymous(), wrong] {
        for reply in [
            caller.get("/v1/messages/msg_1").await?,
            caller.post("/v1/messages", &json!({})).await?,
            caller.cancel("msg_1").await?,
            caller.answer("msg_1", "x").await?,
        ] {
            reply.refused(401, "unauthenticated")?;
        }
    }
    Ok(())
}

/// 403: a credential speaks for one agent only (§9.1).
async fn another_agents_id_is_a_mismatch(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let other = scene.other_agent().await?;
    for envelope in [scene.notify(), scene.confirm(), scene.task()] {
        other.submit(&envelope).await?.refused(403, "agent_id_mismatch")?;
    }
    Ok(())
}

/// 404, for a message that never was.
async fn an_unknown_message_is_not_found(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    for id in ["msg_unknown", "msg_01J00000000000000000000000", "nonsense", "%00"] {
        scene.agent.message(id).await?.refused(404, "not_found")?;
        scene.agent.cancel(id).await?.refused(404, "not_found")?;
        scene
            .agent
            .answer(id, "approve")
            .await?
            .refused(404, "not_found")?;
        scene.alice.message(id).await?.refused(404, "not_found")?;
    }
    Ok(())
}

/// 400, for each rule of the envelope's shape.
async fn a_malformed_envelope_is_a_validation_error(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let ask = scene.confirm();
    let broken = [
        without(ask.clone(), "/title"),
        without(ask.clone(), "/agent"),
        without(ask.clone(), "/agent/run_id"),
        without(ask.clone(), "/created_at"),
        without(ask.clone(), "/type"),
        without(ask.clone(), "/ma2h_version"),
        without(ask.clone(), "/request"),
        without(ask.clone(), "/request/mode"),
        with(ask.clone(), "/type", json!("poll")),
        with(ask.clone(), "/title", json!("x".repeat(201))),
        with(ask.clone(), "/title", json!(7)),
        with(ask.clone(), "/priority", json!("whenever")),
        with(ask.clone(), "/created_at", json!("yesterday")),
        with(ask.clone(), "/tags", json!("one")),
        with(ask.clone(), "/state", json!("text")),
        with(ask.clone(), "/agent/runtime", json!("orchard")),
        with(ask.clone(), "/context", json!([{"kind": "smell"}])),
        with(ask.clone(), "/request/mode", json!("guess")),
        with(ask, "/request/allowed_resolvers", json!(["alice"])),
    ];
    for envelope in broken {
        scene
            .agent
            .submit(&envelope)
            .await?
            .refused(400, "validation_error")?;
    }
    Ok(())
}

/// 400, for text that is no JSON or another value.
async fn what_is_no_json_object_is_a_validation_error(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    for text in ["", "{", "[]", "7", "null", "\"text\"", "{}{}", "{\"a\":}"] {
        let reply = scene.agent.post_text("/v1/messages", text).await?;
        reply.refused(400, "validation_error")?;
    }
    Ok(())
}

/// A name that stands twice, half a character, a number beyond every double: what would be signed is not what was sent.
async fn json_that_can_be_read_in_two_ways_is_refused(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    for state in [r#"{"a":1,"a":2}"#, r#"{"a":"\ud800"}"#, r#"{"a":1e999}"#] {
        let text = scene.confirm().to_string();
        let Some(rest) = text.strip_prefix('{') else {
            return Err(Verdict::Failed("an envelope is an object".to_owned()));
        };
        let reply = scene
            .agent
            .post_text("/v1/messages", format!(r#"{{"state":{state},{rest}"#))
            .await?;
        reply.refused_somehow()?;
    }
    Ok(())
}

/// 400, with a code of its own.
async fn an_unknown_major_is_not_supported(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    for version in ["1.0", "2.6", "17.0"] {
        let envelope = with(scene.confirm(), "/ma2h_version", json!(version));
        scene
            .agent
            .submit(&envelope)
            .await?
            .refused(400, "version_not_supported")?;
    }
    Ok(())
}

/// No message, in no list, and its idempotency key is as good as new.
async fn a_refused_submit_leaves_nothing_behind(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let title = format!("Refused {}", unique());
    let ask = with(scene.confirm(), "/title", json!(title));
    let refused = with(ask.clone(), "/expires_at", json!("2020-01-01T00:00:00Z"));
    scene
        .agent
        .submit(&refused)
        .await?
        .refused(422, "invalid_field")?;
    let listed = scene.alice.get("/v1/messages").await?;
    holds(!listed.text.contains(&title), || {
        "the refused message is listed".to_owned()
    })?;
    let id = scene.agent.submitted(&ask).await?;
    scene.agent.read(&id).await.map(drop)
}

/// A code for machines, a message for people, wherever it comes from.
async fn every_refusal_has_the_one_shape(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let agent = &scene.agent;
    let untyped = Call::new(Method::POST, "/v1/messages").header("content-type", "text/plain");
    for reply in [
        agent.get("/v1/nowhere").await?,
        agent.delete("/v1/messages").await?,
        agent.send(untyped).await?,
        agent.message("msg_unknown").await?,
        agent.get("/v1/messages/msg_unknown?wait=soon").await?,
        agent.post("/v1/messages", &json!({})).await?,
        stage.anonymous().get("/v1/messages").await?,
    ] {
        reply.refused_somehow()?;
        let error = &reply.json()?["error"];
        let shaped =
            error["code"].is_string() && error["message"].as_str().is_some_and(|text| !text.is_empty());
        holds(shaped, || format!("{}: {}", reply.asked, reply.told()))?;
        let code = error["code"].as_str().unwrap_or_default();
        holds(
            !code.is_empty() && code.chars().all(|at| at.is_ascii_lowercase() || at == '_'),
            || format!("{}: {code:?} is no code for machines", reply.asked),
        )?;
    }
    Ok(())
}

/// Those of `auth_schemes`.
async fn both_ways_to_bring_a_credential_work(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = scene.agent.submitted(&scene.notify()).await?;
    let schemes = stage.hub.capability["auth_schemes"].to_string();
    let anonymous = stage.anonymous();
    let path = format!("/v1/messages/{id}");
    if schemes.contains("bearer") {
        let token = format!("Bearer {}", scene.agent.token());
        let call = Call::new(Method::GET, path.clone()).header("authorization", token);
        anonymous.send(call).await?.expect(200)?;
    }
    if schemes.contains("apikey") {
        let call = Call::new(Method::GET, path).header("x-api-key", scene.agent.token());
        anonymous.send(call).await?.expect(200)?;
    }
    Ok(())
}
