//! What an envelope may say, and what becomes of it (§4).

use std::sync::Arc;

use serde_json::{Value, json};

use crate::live::envelope::{in_ms, with, without};
use crate::live::registry::{Check, check};
use crate::live::stage::Stage;
use crate::live::verdict::{Proof, absent, equal, failed, holds, text};

pub(super) fn checks() -> Vec<Check> {
    vec![
        check("4", every_member_comes_back_as_it_was_sent),
        check("4", state_comes_back_byte_for_byte),
        check("4", state_is_not_shown_to_humans),
        check("9.1", client_ref_is_not_shown_to_resolvers),
        check("4", the_hub_gives_the_id),
        check("4", what_only_the_hub_may_say_is_not_believed),
        check("4", a_member_of_another_type_is_refused),
        check("4", an_expiry_in_the_past_is_refused),
        check("4", the_agents_clock_decides_nothing),
        check("4.1", the_run_is_a_label_and_opens_nothing),
        check("4.2", every_kind_of_part_is_taken),
        check("4.2", no_file_that_is_pointed_at_is_fetched),
        check("4", a_human_is_no_destination),
        check("10", unknown_members_are_let_be),
    ]
}

/// All of §4's members, on an ask that is read back.
async fn every_member_comes_back_as_it_was_sent(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let mut ask = scene.select();
    for (member, value) in [
        ("body", json!("*Now* or later?")),
        ("priority", json!("high")),
        ("tags", json!(["fruit", "früh"])),
        (
            "context",
            json!([{"kind": "data", "data": {"ripe": 0.75}, "metadata": {"from": "scale"}}]),
        ),
        ("state", json!({"step": 3})),
        ("client_ref", json!("row-7")),
        ("expires_at", json!(in_ms(3_600_000))),
        ("sensitive", json!(false)),
    ] {
        ask[member] = value;
    }
    ask["agent"]["project"] = json!("orchard");
    ask["agent"]["labels"] = json!({"row": "7"});
    let id = scene.agent.submitted(&ask).await?;
    let read = scene.agent.read(&id).await?;
    for (member, sent) in ask.as_object().into_iter().flatten() {
        equal(member, &read[member.as_str()], sent)?;
    }
    Ok(())
}

/// Numbers, order, escapes and all, in the Response that is pulled.
async fn state_comes_back_byte_for_byte(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let sealed = r#"{"z":1.50,"a":9007199254740993,"e":1E2,"t":"\u00e9 é \/","n":{"":null,"deep":[[],{}]}}"#;
    let text = scene.confirm().to_string();
    let Some(rest) = text.strip_prefix('{') else {
        return failed("an envelope is an object");
    };
    let sent = format!(r#"{{"state":{sealed},{rest}"#);
    let ack = scene.agent.post_text("/v1/messages", sent).await?.expect(202)?;
    let id = self::text(&ack, "/id")?;
    scene.alice.answer(id, "approve").await?.expect(200)?;
    let read = scene.agent.message(id).await?;
    let times = read.text.matches(sealed).count();
    // Once in the envelope and once in the Response.
    holds(times == 2, || {
        format!("the state stands {times} times in {}", read.told())
    })
}

/// It is the agent's own business (§9.3).
async fn state_is_not_shown_to_humans(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let ask = with(scene.confirm(), "/state", json!({"hidden": "pip-kernel-13"}));
    let id = scene.approved(&ask).await?;
    for path in [format!("/v1/messages/{id}"), "/v1/messages".to_owned()] {
        let reply = scene.alice.get(&path).await?;
        reply.expect(200)?;
        holds(!reply.text.contains("pip-kernel-13"), || {
            format!("{}: shows state", reply.asked)
        })?;
    }
    let read = scene.alice.read(&id).await?;
    absent(&read, "/state")?;
    absent(&read, "/response/state")
}

/// Nor is the agent's label, to a human or to an agent that resolves.
async fn client_ref_is_not_shown_to_resolvers(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let ask = with(scene.confirm(), "/client_ref", json!("label-77-secret"));
    let id = scene.agent.submitted(&ask).await?;
    for path in [format!("/v1/messages/{id}"), "/v1/messages".to_owned()] {
        let reply = scene.alice.get(&path).await?;
        reply.expect(200)?;
        holds(!reply.text.contains("label-77-secret"), || {
            format!("{}: shows client_ref", reply.asked)
        })?;
    }
    let resolved = scene.alice.answer(&id, "approve").await?;
    resolved.expect(200)?;
    holds(!resolved.text.contains("label-77-secret"), || {
        "the answer to a resolve shows client_ref".to_owned()
    })
}

/// An `id` in an envelope is no more than an unknown member; ids are in their namespace (§8.7.1).
async fn the_hub_gives_the_id(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = scene
        .agent
        .submitted(&with(scene.confirm(), "/id", json!("msg_mine")))
        .await?;
    holds(id != "msg_mine", || "the agent chose the id".to_owned())?;
    holds(id.starts_with("msg_"), || {
        format!("{id} is not in the namespace msg_")
    })?;
    equal("id", &scene.agent.read(&id).await?["id"], "msg_mine")
        .map_or_else(|_| Ok(()), |()| failed("the forged id is read back"))
}

/// Status, Response, tracks: what an envelope says of them is not what is read.
async fn what_only_the_hub_may_say_is_not_believed(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let mut ask = scene.confirm();
    ask["status"] = json!("answered");
    ask["response"] =
        json!({"resolution": "answered", "response": {"value": "approve", "actor": "human:alice"}});
    ask["delivery"] = json!({"state": "acknowledged"});
    ask["mailbox"] = json!({"state": "acknowledged"});
    let reply = scene.agent.submit(&ask).await?;
    if reply.status != 202 {
        // To refuse them is as good.
        return reply.refused_somehow();
    }
    let id = reply.json()?["id"].as_str().unwrap_or_default().to_owned();
    for reader in [&scene.agent, &scene.alice] {
        let read = reader.read(&id).await?;
        equal("status", &read["status"], "open")?;
        absent(&read, "/response")?;
        absent(&read, "/delivery")?;
        absent(&read, "/mailbox")?;
    }
    Ok(())
}

/// A notify has neither request nor action, an ask no action, a task no request.
async fn a_member_of_another_type_is_refused(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let (request, action) = (json!({"mode": "confirm"}), json!({"instructions": "x"}));
    for envelope in [
        with(scene.notify(), "/request", request.clone()),
        with(scene.notify(), "/action", action.clone()),
        with(scene.confirm(), "/action", action),
        with(scene.task(), "/request", request),
    ] {
        scene
            .agent
            .submit(&envelope)
            .await?
            .refused(400, "validation_error")?;
    }
    Ok(())
}

/// 422: it could never be answered.
async fn an_expiry_in_the_past_is_refused(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    for envelope in [scene.confirm(), scene.task()] {
        for past in [in_ms(-1000), "2020-01-01T00:00:00+05:00".to_owned()] {
            let envelope = with(envelope.clone(), "/expires_at", json!(past));
            scene
                .agent
                .submit(&envelope)
                .await?
                .refused(422, "invalid_field")?;
        }
    }
    Ok(())
}

/// `created_at` is for information; whether a message has expired is decided by the hub's clock (§9.5).
async fn the_agents_clock_decides_nothing(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    for created in ["1999-12-31T23:59:59Z", "2099-01-01T00:00:00+14:00"] {
        let ask = with(scene.confirm(), "/created_at", json!(created));
        let ask = with(ask, "/expires_at", json!(in_ms(600_000)));
        let id = scene.agent.submitted(&ask).await?;
        let read = scene.agent.read(&id).await?;
        equal("status", &read["status"], "open")?;
        equal("created_at", &read["created_at"], created)?;
    }
    Ok(())
}

/// The credential decides: another run of the agent reads and cancels as well, and no run's name helps another agent.
async fn the_run_is_a_label_and_opens_nothing(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let other = scene.other_agent().await?;
    let id = scene
        .agent
        .submitted(&with(scene.confirm(), "/agent/run_id", json!("run-secret")))
        .await?;
    let mut own = with(scene.notify(), "/agent/run_id", json!("run-secret"));
    own["agent"]["id"] = json!(other.id);
    other.submitted(&own).await?;
    other.message(&id).await?.refused(404, "not_found")?;
    let again = scene
        .account
        .caller(scene.agent.address.clone(), &scene.agent.id)
        .await?;
    again.read(&id).await?;
    again.cancel(&id).await?.expect(200).map(drop)
}

/// Text, data and file.
async fn every_kind_of_part_is_taken(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let context = json!([
        {"kind": "text", "text": "ripe"},
        {"kind": "data", "data": {"brix": 14.5}},
        {"kind": "file", "file": {"uri": "https://orchard.example/a.diff", "name": "a.diff", "mime_type": "text/x-diff"}}
    ]);
    let id = scene
        .agent
        .submitted(&with(scene.confirm(), "/context", context.clone()))
        .await?;
    equal("context", &scene.agent.read(&id).await?["context"], &context)
}

/// A `file.uri` is a pointer for the reader, not for the hub (§9.4, §9.6).
async fn no_file_that_is_pointed_at_is_fetched(stage: Arc<Stage>) -> Proof {
    let scene = stage.callback_scene().await?;
    // A host that may be called back is not thereby one to fetch files from; this one nobody registered.
    let elsewhere = stage.receiver().await?;
    let uri = elsewhere.url("/file.txt");
    let ask = with(
        scene.confirm(),
        "/context",
        json!([{"kind": "file", "file": {"uri": uri}}]),
    );
    let ask = with(
        ask,
        "/body",
        json!(format!("![image]({})", elsewhere.url("/image.png"))),
    );
    let id = scene.approved(&scene.pushed(ask)).await?;
    scene.alice.read(&id).await?;
    scene.receiver.push().await?;
    holds(elsewhere.received().is_empty(), || {
        "the hub fetched what was pointed at".to_owned()
    })
}

/// Between people nothing is routed by an envelope.
async fn a_human_is_no_destination(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let envelope = with(scene.notify(), "/to", json!("human:alice"));
    scene
        .agent
        .submit(&envelope)
        .await?
        .refused_as(&[(400, "validation_error"), (422, "invalid_field")])
        .map(drop)
}

/// Accepted, without an effect, and kept as they were sent.
async fn unknown_members_are_let_be(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let later = json!({"any": ["thing", 1, null]});
    let mut ask = with(scene.select(), "/later", later.clone());
    ask["agent"]["later"] = later.clone();
    ask["request"]["later"] = later.clone();
    ask["request"]["permissions"] = json!({"allow_later": later});
    ask["request"]["options"][0]["later"] = later.clone();
    let id = scene.agent.submitted(&ask).await?;
    scene.alice.answer(&id, "pears").await?.expect(200)?;
    let read = scene.agent.read(&id).await?;
    let kept = |pointer: &str| read.pointer(pointer).cloned().unwrap_or(Value::Null);
    for pointer in [
        "/later",
        "/agent/later",
        "/request/later",
        "/request/options/0/later",
    ] {
        equal(pointer, &kept(pointer), &later)?;
    }
    equal("status", text(&read, "/status")?, "answered")?;
    let least = without(scene.notify(), "/idempotency_key");
    scene
        .agent
        .submitted(&with(least, "/later", json!("x")))
        .await
        .map(drop)
}
