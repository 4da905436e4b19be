//! The Response (§6).

use std::sync::Arc;

use ma2h_schema::Noun;
use serde_json::{Value, json};

use crate::live::envelope::{in_ms, with};
use crate::live::registry::{Check, check};
use crate::live::stage::{Scene, Stage};
use crate::live::verdict::{Proof, Tried, Verdict, absent, equal, holds, shaped, text};

pub(super) fn checks() -> Vec<Check> {
    vec![
        check("6", every_response_has_its_shape),
        check("6", a_response_names_message_caller_and_resolution),
        check("6", the_value_is_of_the_modes_kind),
        check("6", an_open_message_has_no_response),
        check("6", a_comment_reaches_the_agent),
        check("6", a_response_carries_the_version_of_its_ask),
        check("6", a_default_is_never_in_a_humans_name),
        check("6", without_a_default_nothing_is_defaulted),
        check("9.1", the_actor_is_the_one_who_was_authenticated),
        check("8.7.1", a_resolution_id_is_in_its_namespace),
    ]
}

/// The Response of a message that has ended.
async fn response(scene: &Scene, id: &str) -> Tried<Value> {
    let read = scene.agent.read(id).await?;
    let response = read.get("response").cloned();
    response.ok_or_else(|| Verdict::Failed(format!("no response in {read}")))
}

/// Answered, declined, cancelled, expired with and without default, completed, dismissed: each fits the schema, and so
/// does the message around it.
async fn every_response_has_its_shape(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let agent = &scene.agent;
    let mut ended = Vec::new();
    for (envelope, body) in [
        (
            scene.select(),
            json!({"resolution": "answered", "value": "pears", "comment": "c"}),
        ),
        (
            scene.input(),
            json!({"resolution": "answered", "value": {"crates": 1}}),
        ),
        (scene.confirm(), json!({"resolution": "declined"})),
        (scene.task(), json!({"resolution": "completed"})),
        (
            scene.task(),
            json!({"resolution": "completed", "comment": "c", "checklist": [{"text": "Saw", "done": true}]}),
        ),
        (scene.task(), json!({"resolution": "dismissed", "comment": "c"})),
    ] {
        let id = agent
            .submitted(&with(envelope, "/state", json!({"s": 1})))
            .await?;
        scene.alice.resolve(&id, &body).await?.expect(200)?;
        ended.push(id);
    }
    let cancelled = agent.submitted(&scene.confirm()).await?;
    agent.cancel(&cancelled).await?.expect(200)?;
    ended.push(cancelled);
    let defaulted = with(scene.select(), "/request/default_on_expire", json!("plums"));
    for envelope in [defaulted, scene.confirm(), scene.task()] {
        let id = agent
            .submitted(&with(envelope, "/expires_at", json!(in_ms(2500))))
            .await?;
        agent.wait(&id, 20).await?;
        ended.push(id);
    }
    for id in ended {
        let read = agent.read(&id).await?;
        let response = read.get("response").cloned().unwrap_or_default();
        shaped(Noun::GetMessage, &read)?;
        shaped(Noun::Response, &response)?;
        equal("resolution", &response["resolution"], &read["status"])?;
        if read["type"] == "ask" {
            // The schema leaves it to the hub: a Response of an ask is never without detail.
            text(&response, "/response/actor")?;
        }
        absent(&response, "/response/value").or_else(|_| {
            let may = read["status"] == "answered" || response["defaulted"] == true;
            holds(may, || format!("a value though {}", read["status"]))
        })?;
    }
    Ok(())
}

/// What the agent needs to find its place again.
async fn a_response_names_message_caller_and_resolution(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = scene
        .agent
        .submitted(&with(scene.confirm(), "/agent/run_id", json!("run-42")))
        .await?;
    let resolved = scene.alice.answer(&id, "approve").await?.expect(200)?;
    let response = response(&scene, &id).await?;
    equal("in_reply_to", &response["in_reply_to"], id.as_str())?;
    equal("agent.id", &response["agent"]["id"], scene.agent.id.as_str())?;
    equal("agent.run_id", &response["agent"]["run_id"], "run-42")?;
    equal("resolution", &response["resolution"], "answered")?;
    equal(
        "resolution_id",
        &response["resolution_id"],
        &resolved["resolution_id"],
    )
}

/// Text of a select and a confirm, an object of an input, nothing of a task.
async fn the_value_is_of_the_modes_kind(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    for (ask, value) in [
        (scene.select(), json!("plums")),
        (scene.confirm(), json!("deny")),
        (scene.input(), json!({"crates": 12})),
    ] {
        let id = scene.agent.submitted(&ask).await?;
        scene.alice.answer(&id, value.clone()).await?.expect(200)?;
        equal(
            "value",
            &response(&scene, &id).await?["response"]["value"],
            &value,
        )?;
    }
    let id = scene.agent.submitted(&scene.task()).await?;
    scene
        .alice
        .resolve(&id, &json!({"resolution": "completed", "comment": "done"}))
        .await?
        .expect(200)?;
    absent(&response(&scene, &id).await?, "/response/value")
}

/// Not for the agent, not for the human.
async fn an_open_message_has_no_response(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    for envelope in [scene.confirm(), scene.task()] {
        let id = scene.agent.submitted(&envelope).await?;
        for reader in [&scene.agent, &scene.alice] {
            absent(&reader.read(&id).await?, "/response")?;
        }
    }
    Ok(())
}

/// As it was written.
async fn a_comment_reaches_the_agent(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let comment = "First row only.\n<b>Not</b> the \u{1F34F}s, \"please\" \\o/";
    for body in [
        json!({"resolution": "answered", "value": "approve", "comment": comment}),
        json!({"resolution": "declined", "comment": comment}),
    ] {
        let id = scene
            .agent
            .submitted(&with(
                scene.confirm(),
                "/idempotency_key",
                body["resolution"].clone(),
            ))
            .await?;
        scene.alice.resolve(&id, &body).await?.expect(200)?;
        equal(
            "comment",
            &response(&scene, &id).await?["response"]["comment"],
            comment,
        )?;
    }
    Ok(())
}

/// Whatever the hub itself speaks (§10).
async fn a_response_carries_the_version_of_its_ask(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    for version in ["0.2", "0.3", "0.5", "0.6"] {
        let id = scene
            .approved(&with(scene.confirm(), "/ma2h_version", json!(version)))
            .await?;
        equal(
            "ma2h_version",
            &response(&scene, &id).await?["ma2h_version"],
            version,
        )?;
    }
    Ok(())
}

/// `expired`, `defaulted`, and an actor that says so.
async fn a_default_is_never_in_a_humans_name(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    for (ask, value) in [
        (scene.select(), json!("plums")),
        (scene.input(), json!({"crates": 1})),
    ] {
        let ask = with(ask, "/request/default_on_expire", value.clone());
        let id = scene
            .agent
            .submitted(&with(ask, "/expires_at", json!(in_ms(2500))))
            .await?;
        let read = scene.agent.wait(&id, 20).await?;
        equal("status", &read["status"], "expired")?;
        let response = &read["response"];
        equal("resolution", &response["resolution"], "expired")?;
        equal("defaulted", &response["defaulted"], &true)?;
        equal(
            "actor",
            &response["response"]["actor"],
            "system:default_on_expire",
        )?;
        equal("value", &response["response"]["value"], &value)?;
    }
    Ok(())
}

/// An ask with none, or with null, a task: it just expires, and no human did it.
async fn without_a_default_nothing_is_defaulted(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let null = with(scene.confirm(), "/request/default_on_expire", Value::Null);
    for envelope in [scene.confirm(), null, scene.task()] {
        let id = scene
            .agent
            .submitted(&with(envelope, "/expires_at", json!(in_ms(2500))))
            .await?;
        let response = scene.agent.wait(&id, 20).await?["response"].take();
        equal("resolution", &response["resolution"], "expired")?;
        holds(
            response
                .get("defaulted")
                .is_none_or(|defaulted| defaulted == false),
            || format!("nothing was defaulted: {response}"),
        )?;
        let actor = response.pointer("/response/actor").and_then(Value::as_str);
        holds(actor.is_none_or(|actor| actor.starts_with("system:")), || {
            format!("expired by {actor:?}")
        })?;
        let value = response.pointer("/response/value");
        holds(value.is_none_or(Value::is_null), || {
            format!("a value though there is no default: {response}")
        })?;
    }
    Ok(())
}

/// Never the one whom the body names.
async fn the_actor_is_the_one_who_was_authenticated(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = scene.agent.submitted(&scene.confirm()).await?;
    let body = json!({
        "resolution": "answered", "value": "approve", "actor": "human:mallory",
        "response": {"actor": "human:mallory"}, "resolved_at": "2001-01-01T00:00:00Z", "by": "human:mallory",
    });
    let reply = scene.alice.resolve(&id, &body).await?;
    if reply.status == 200 {
        let response = response(&scene, &id).await?;
        equal(
            "actor",
            &response["response"]["actor"],
            scene.alice.address.as_str(),
        )?;
        let at = text(&response, "/response/resolved_at")?;
        return holds(!at.starts_with("2001"), || {
            "the body dated the resolution".to_owned()
        });
    }
    reply.refused_somehow()
}

/// `res_`, so that it never meets another kind of id in an acknowledgement.
async fn a_resolution_id_is_in_its_namespace(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = scene.approved(&scene.confirm()).await?;
    let response = response(&scene, &id).await?;
    let resolution_id = text(&response, "/resolution_id")?;
    holds(resolution_id.starts_with("res_"), || {
        format!("{resolution_id} is not in the namespace res_")
    })
}
