//! What a hub still knows when it has been killed (§3.1). Only where this run may kill its processes.

use std::sync::Arc;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::live::api::Reply;
use crate::live::leg::Leg;
use crate::live::receiver::Answer;
use crate::live::registry::{Check, check};
use crate::live::stage::{Scene, Stage, pause};
use crate::live::verdict::{Proof, Tried, Verdict, equal, skipped};

use super::webhook;

const TIERS: [&str; 4] = ["gateway", "lifecycle", "delivery", "presence"];

pub(super) fn checks() -> Vec<Check> {
    [
        check("3.1", what_is_open_outlives_a_kill),
        check("3.1", what_was_resolved_outlives_a_kill),
        check("3.1", what_was_told_outlives_a_kill),
        check("3.1", what_is_owed_to_a_callback_outlives_a_kill).of(Leg::Push),
        check("3.1", a_directive_outlives_a_kill).of(Leg::Inbound),
        check("3.1", what_is_owed_to_a_webhook_outlives_a_kill).of(Leg::Webhook),
        check("3.1", mail_and_a_lease_outlive_a_kill).of(Leg::InterAgent),
    ]
    .into_iter()
    .map(|check| check.alone().within(240))
    .collect()
}

/// The processes of these, as the hub's description has them.
fn pids(stage: &Stage, which: &[&str]) -> Tried<Vec<i32>> {
    let Some(path) = &stage.hub.description else {
        return skipped("needs --hub-description, to kill the hub's processes");
    };
    let text = std::fs::read_to_string(path)
        .map_err(|error| Verdict::Failed(format!("{}: {error}", path.display())))?;
    let description: Value =
        serde_json::from_str(&text).map_err(|error| Verdict::Failed(error.to_string()))?;
    let all = which
        .iter()
        .flat_map(|name| description["pids"][*name].as_array().cloned().unwrap_or_default());
    let pids: Vec<i32> = all.filter_map(|pid| pid.as_i64()?.try_into().ok()).collect();
    if pids.is_empty() {
        return skipped("the description names no processes");
    }
    Ok(pids)
}

/// Kills all tiers, and the database, without a warning; waits until the hub is back.
async fn kill(stage: &Stage) -> Proof {
    let mut which = TIERS.to_vec();
    which.extend(["postgres", "nats"]);
    for pid in pids(stage, &which)? {
        if let Some(pid) = Pid::from_raw(pid) {
            // One that is gone already is as dead as it should be.
            let _ = kill_process(pid, Signal::KILL);
        }
    }
    loop {
        if let Ok(Reply { status: 200, .. }) = stage.anonymous().get("/readyz").await {
            return Ok(());
        }
        pause().await;
    }
}

/// The message once the hub answers again.
async fn read(scene: &Scene, id: &str) -> Tried<Value> {
    loop {
        match scene.agent.message(id).await {
            Ok(reply) if reply.status == 200 => return reply.json(),
            Ok(reply) if reply.status < 500 => return reply.expect(200),
            _ => pause().await,
        }
    }
}

/// An ask and a task; they can then be resolved.
async fn what_is_open_outlives_a_kill(stage: Arc<Stage>) -> Proof {
    pids(&stage, &TIERS)?;
    let scene = stage.scene().await?;
    let (ask, task) = (scene.confirm(), scene.task());
    let ids = [
        scene.agent.submitted(&ask).await?,
        scene.agent.submitted(&task).await?,
    ];
    kill(&stage).await?;
    for id in &ids {
        equal("status", &read(&scene, id).await?["status"], "open")?;
    }
    equal("id of a retry", &scene.agent.submitted(&ask).await?, &ids[0])?;
    scene.alice.answer(&ids[0], "approve").await?.expect(200)?;
    scene
        .alice
        .resolve(&ids[1], &json!({"resolution": "completed"}))
        .await?
        .expect(200)
        .map(drop)
}

/// The very same Response.
async fn what_was_resolved_outlives_a_kill(stage: Arc<Stage>) -> Proof {
    pids(&stage, &TIERS)?;
    let scene = stage.scene().await?;
    let id = scene.approved(&scene.confirm()).await?;
    let before = scene.agent.read(&id).await?;
    kill(&stage).await?;
    equal("message", &read(&scene, &id).await?, &before)
}

/// A notify.
async fn what_was_told_outlives_a_kill(stage: Arc<Stage>) -> Proof {
    pids(&stage, &TIERS)?;
    let scene = stage.scene().await?;
    let id = scene.agent.submitted(&scene.notify()).await?;
    kill(&stage).await?;
    equal("status", &read(&scene, &id).await?["status"], "delivered")
}

/// It is tried again.
async fn what_is_owed_to_a_callback_outlives_a_kill(stage: Arc<Stage>) -> Proof {
    pids(&stage, &TIERS)?;
    let scene = stage.callback_scene().await?;
    scene.receiver.then([Answer::Status(503)]);
    let id = scene.approved(&scene.pushed(scene.confirm())).await?;
    scene.receiver.push().await?;
    kill(&stage).await?;
    let pushes = scene.receiver.pushes(2).await?;
    equal(
        "in_reply_to",
        &scene.verified(&pushes[1])?["in_reply_to"],
        id.as_str(),
    )
}

/// A directive is tried again as well.
async fn what_is_owed_to_a_webhook_outlives_a_kill(stage: Arc<Stage>) -> Proof {
    pids(&stage, &TIERS)?;
    let (fleet, receiver) = webhook::hooked(&stage).await?;
    receiver.then([Answer::Status(503)]);
    let id = fleet.directed("Owed over a kill").await?;
    receiver.push().await?;
    kill(&stage).await?;
    let pushes = receiver.pushes(2).await?;
    equal(
        "id",
        webhook::directive(&pushes[1])?.ack_key()?.as_str(),
        id.as_str(),
    )
}

/// Until it is acked.
async fn a_directive_outlives_a_kill(stage: Arc<Stage>) -> Proof {
    pids(&stage, &TIERS)?;
    let fleet = stage.fleet().await?;
    let id = fleet.directed("Outlive this").await?;
    kill(&stage).await?;
    let entry = fleet.worker.one(ma2h::EntryKind::Directive).await?;
    equal("id", entry.ack_key()?.as_str(), id.as_str())
}

/// Neither is forgotten, nor ended by the kill.
async fn mail_and_a_lease_outlive_a_kill(stage: Arc<Stage>) -> Proof {
    pids(&stage, &TIERS)?;
    let fleet = stage.talking_fleet().await?;
    let session = fleet.worker.session().await?;
    let id = fleet
        .sender
        .agent
        .submitted(&fleet.ask(&session.address()))
        .await?;
    kill(&stage).await?;
    equal("state", &session.lease().await?["state"], "active")?;
    let entry = session.one(ma2h::EntryKind::Message).await?;
    equal("id", entry.ack_key()?.as_str(), id.as_str())
}
