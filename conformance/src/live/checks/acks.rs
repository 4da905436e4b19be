//! Acknowledging a Response (§14, dp-010).

use std::sync::Arc;

use ma2h::sign::{VerifyingKey, verify_ack};
use ma2h_schema::Noun;
use serde_json::{Value, json};

use crate::live::api::Reply;
use crate::live::leg::Leg;
use crate::live::receiver::Receiver;
use crate::live::registry::{Check, check};
use crate::live::stage::{Scene, Stage, now};
use crate::live::verdict::{Proof, Tried, Verdict, absent, equal, holds, shaped, text};

pub(super) fn checks() -> Vec<Check> {
    [
        check("14.3", the_submitter_acknowledges_its_response),
        check("14.3", an_open_message_is_not_acknowledged),
        check("14.3", an_answer_not_yet_seen_is_not_acknowledged),
        check("14.3", nobody_else_acknowledges),
        check("14.1", the_first_acknowledgement_wins),
        check("14.1", the_acker_is_the_one_who_was_authenticated),
        check("14.2", the_human_reads_the_acknowledgement),
        check("14.2", an_acknowledgement_changes_no_resolution),
        check("14.2", reading_by_a_human_is_no_delivery),
        check("14.2", the_agents_own_read_is_delivery),
        check("14.3", every_kind_of_end_can_be_acknowledged),
        check("14.4", a_pushed_acknowledgement_is_signed).within(120),
    ]
    .into_iter()
    .map(|check| check.of(Leg::Ack))
    .collect()
}

async fn ack(scene: &Scene, id: &str, body: &Value) -> Tried<Reply> {
    scene.agent.post(&format!("/v1/messages/{id}/ack"), body).await
}

/// An ask that was answered, and that the agent has seen.
async fn seen(scene: &Scene) -> Tried<String> {
    let id = scene.approved(&scene.confirm()).await?;
    scene.agent.read(&id).await?;
    Ok(id)
}

/// 200 with the acknowledgement.
async fn the_submitter_acknowledges_its_response(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = seen(&scene).await?;
    let said = ack(&scene, &id, &json!({"note": "Going on"}))
        .await?
        .expect(200)?;
    shaped(Noun::Ack, &said)?;
    equal("in_reply_to", &said["in_reply_to"], id.as_str())?;
    equal("note", &said["note"], "Going on")?;
    equal(
        "delivery",
        &scene.agent.read(&id).await?["delivery"]["state"],
        "acknowledged",
    )
}

/// 409.
async fn an_open_message_is_not_acknowledged(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    for envelope in [scene.confirm(), scene.task()] {
        let id = scene.agent.submitted(&envelope).await?;
        scene.agent.read(&id).await?;
        ack(&scene, &id, &json!({}))
            .await?
            .refused(409, "not_acknowledgeable")?;
    }
    Ok(())
}

/// 409: nobody can have got what was never fetched.
async fn an_answer_not_yet_seen_is_not_acknowledged(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = scene.approved(&scene.confirm()).await?;
    ack(&scene, &id, &json!({}))
        .await?
        .refused(409, "not_acknowledgeable")?;
    scene.agent.read(&id).await?;
    ack(&scene, &id, &json!({})).await?.expect(200).map(drop)
}

/// To another agent it is an unknown id; a human does not acknowledge for the agent.
async fn nobody_else_acknowledges(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = seen(&scene).await?;
    let other = scene.other_agent().await?;
    let path = format!("/v1/messages/{id}/ack");
    other.post(&path, &json!({})).await?.refused(404, "not_found")?;
    scene.alice.post(&path, &json!({})).await?.refused_somehow()?;
    equal(
        "delivery",
        &scene.agent.read(&id).await?["delivery"]["state"],
        "delivered-to-agent",
    )
}

/// A repeat returns it.
async fn the_first_acknowledgement_wins(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = seen(&scene).await?;
    let first = ack(&scene, &id, &json!({"note": "first"})).await?.expect(200)?;
    let second = ack(&scene, &id, &json!({"note": "second"})).await?.expect(200)?;
    equal("the second", &second, &first)
}

/// Whatever the body says.
async fn the_acker_is_the_one_who_was_authenticated(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = seen(&scene).await?;
    let body = json!({"by": "agent:mallory", "acked_at": "2001-01-01T00:00:00Z", "in_reply_to": "msg_other"});
    let reply = ack(&scene, &id, &body).await?;
    if reply.status != 200 {
        return reply.refused_somehow();
    }
    let said = reply.json()?;
    equal("by", &said["by"], scene.agent.address.as_str())?;
    equal("in_reply_to", &said["in_reply_to"], id.as_str())?;
    holds(!text(&said, "/acked_at")?.starts_with("2001"), || {
        "the body dated it".to_owned()
    })
}

/// With the note.
async fn the_human_reads_the_acknowledgement(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = seen(&scene).await?;
    ack(&scene, &id, &json!({"note": "Thanks <b>a lot</b>"}))
        .await?
        .expect(200)?;
    let delivery = scene.alice.read(&id).await?["delivery"].take();
    equal("state", &delivery["state"], "acknowledged")?;
    equal("note", &delivery["ack"]["note"], "Thanks <b>a lot</b>")
}

/// Status and Response are what they were.
async fn an_acknowledgement_changes_no_resolution(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = seen(&scene).await?;
    let before = scene.agent.read(&id).await?;
    ack(&scene, &id, &json!({})).await?.expect(200)?;
    let after = scene.agent.read(&id).await?;
    equal("status", &after["status"], &before["status"])?;
    equal("response", &after["response"], &before["response"])
}

/// Nor is a list of the agent's.
async fn reading_by_a_human_is_no_delivery(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = scene.approved(&scene.confirm()).await?;
    scene.alice.read(&id).await?;
    scene.agent.get("/v1/messages").await?;
    let read = scene.alice.read(&id).await?;
    let track = read.pointer("/delivery/state").and_then(Value::as_str);
    holds(
        !matches!(track, Some("delivered-to-agent" | "acknowledged")),
        || format!("said to be {track:?}, though the agent has not looked"),
    )
}

/// `delivered-to-agent`, with the time.
async fn the_agents_own_read_is_delivery(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = scene.agent.submitted(&scene.confirm()).await?;
    // An open message has nothing to deliver.
    absent(&scene.agent.read(&id).await?, "/delivery")?;
    scene.alice.answer(&id, "approve").await?.expect(200)?;
    scene.agent.read(&id).await?;
    let delivery = scene.alice.read(&id).await?["delivery"].take();
    equal("state", &delivery["state"], "delivered-to-agent")?;
    holds(delivery["delivered_at"].is_string(), || {
        format!("delivered, but when? {delivery}")
    })
}

/// Declined, cancelled, completed.
async fn every_kind_of_end_can_be_acknowledged(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let declined = scene.agent.submitted(&scene.confirm()).await?;
    scene
        .alice
        .resolve(&declined, &json!({"resolution": "declined"}))
        .await?
        .expect(200)?;
    let completed = scene.agent.submitted(&scene.task()).await?;
    scene
        .alice
        .resolve(&completed, &json!({"resolution": "completed"}))
        .await?
        .expect(200)?;
    let cancelled = scene.agent.submitted(&scene.confirm()).await?;
    scene.agent.cancel(&cancelled).await?.expect(200)?;
    for id in [declined, completed, cancelled] {
        let read = scene.agent.read(&id).await?;
        let resolution_id = text(&read, "/response/resolution_id")?;
        let said = ack(&scene, &id, &json!({"resolution_id": resolution_id}))
            .await?
            .expect(200)?;
        equal("resolution_id", &said["resolution_id"], resolution_id)?;
    }
    Ok(())
}

/// Where the account's owner has a client to be told.
async fn a_pushed_acknowledgement_is_signed(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let receiver = hooked(&stage, &scene).await?;
    let id = seen(&scene).await?;
    ack(&scene, &id, &json!({"note": "pushed"})).await?.expect(200)?;
    let push = receiver.push().await?;
    let key = VerifyingKey::hmac(ACK_SECRET.as_bytes());
    let keys = [key.map_err(|problem| Verdict::Failed(problem.to_string()))?];
    let window = stage.hub.replay_window_seconds();
    let header = push.header("ma2h-signature")?;
    verify_ack(header, &push.body, &keys, now(), window)
        .map_err(|error| Verdict::Failed(format!("{error}: {}", push.body)))?;
    let tampered = push.body.replace("pushed", "forged");
    holds(
        verify_ack(header, &tampered, &keys, now(), window).is_err(),
        || "it verifies though the note was changed".to_owned(),
    )?;
    equal("in_reply_to", &push.json()?["in_reply_to"], id.as_str())
}

const ACK_SECRET: &str = "a secret of the ack webhook's, 0123456789";

/// Sets up the account's ack webhook, where the hub has one.
async fn hooked(stage: &Stage, scene: &Scene) -> Tried<Receiver> {
    let (admin, account) = (scene.account.admin()?, &scene.account);
    let receiver = stage.receiver().await?;
    let host = json!({"host": receiver.host(), "method": "operator"});
    let approved = admin.post(&account.path("/callback-hosts"), &host).await?;
    if approved.status == 404 {
        return Err(Verdict::NotOffered("the hub has no ack webhook".to_owned()));
    }
    approved.expect(201)?;
    let secret = json!({"ref": "env:ACK", "value": ACK_SECRET});
    let put = admin.put(&account.path("/secrets"), &secret).await?;
    holds((200..300).contains(&put.status), || put.told())?;
    let auth = json!({"scheme": "hmac", "secret_ref": "env:ACK"});
    let body = json!({"url": receiver.url("/acks"), "auth": auth});
    let put = admin.put(&account.path("/ack-webhook"), &body).await?;
    holds((200..300).contains(&put.status), || put.told())?;
    Ok(receiver)
}
