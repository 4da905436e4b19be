//! Withdrawing an ask (§8.4, dp-002).

use std::sync::Arc;

use serde_json::json;

use crate::live::registry::{Check, check};
use crate::live::stage::Stage;
use crate::live::verdict::{Proof, equal, holds};

pub(super) fn checks() -> Vec<Check> {
    vec![
        check("8.4", the_submitter_withdraws_an_open_ask),
        check("8.4", to_cancel_again_is_the_same_success),
        check("8.4", nobody_else_cancels),
        check("8.4", a_human_does_not_cancel),
        check("8.4", after_another_end_the_canceller_is_told_of_that),
        check("8.4", a_task_is_not_cancelled),
        check("8.4", a_cancelled_ask_has_a_response),
    ]
}

/// 200 with id and status.
async fn the_submitter_withdraws_an_open_ask(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    for ask in [scene.confirm(), scene.select(), scene.input()] {
        let id = scene.agent.submitted(&ask).await?;
        let said = scene.agent.cancel(&id).await?.expect(200)?;
        equal("id", &said["id"], id.as_str())?;
        equal("status", &said["status"], "cancelled")?;
        equal("status", &scene.agent.read(&id).await?["status"], "cancelled")?;
    }
    Ok(())
}

/// And the Response stays the one it was.
async fn to_cancel_again_is_the_same_success(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = scene.agent.submitted(&scene.confirm()).await?;
    let first = scene.agent.cancel(&id).await?;
    first.expect(200)?;
    let response = scene.agent.read(&id).await?["response"].take();
    for _ in 0..2 {
        first.same_as(&scene.agent.cancel(&id).await?)?;
    }
    equal("response", &scene.agent.read(&id).await?["response"], &response)
}

/// To another agent, of this account or of another, it is an unknown id; and the ask stays open.
async fn nobody_else_cancels(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = scene.agent.submitted(&scene.confirm()).await?;
    let other = scene.other_agent().await?;
    let foreign = stage.account().await?.agent(&scene.agent.id, 0).await?;
    for stranger in [other, foreign] {
        let unknown = stranger.cancel("msg_unknown").await?.but_for("msg_unknown");
        let refused = stranger.cancel(&id).await?;
        refused.refused(404, "not_found")?;
        equal("what it says", &refused.but_for(&id), &unknown)?;
    }
    equal("status", &scene.agent.read(&id).await?["status"], "open")?;
    scene.alice.answer(&id, "approve").await?.expect(200).map(drop)
}

/// Only the submitting principal may; a human has declining for that.
async fn a_human_does_not_cancel(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = scene.agent.submitted(&scene.confirm()).await?;
    scene.alice.cancel(&id).await?.refused_somehow()?;
    equal("status", &scene.agent.read(&id).await?["status"], "open")
}

/// 409 with the real outcome.
async fn after_another_end_the_canceller_is_told_of_that(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    for (resolution, value) in [("answered", Some("approve")), ("declined", None)] {
        let id = scene.agent.submitted(&scene.confirm()).await?;
        let mut body = json!({"resolution": resolution});
        if let Some(value) = value {
            body["value"] = json!(value);
        }
        scene.alice.resolve(&id, &body).await?.expect(200)?;
        let reply = scene.agent.cancel(&id).await?;
        reply.refused(409, "already_terminal")?;
        let said = reply.json()?;
        equal("id", &said["id"], id.as_str())?;
        equal("status", &said["status"], resolution)?;
        equal("resolution", &said["resolution"], resolution)?;
    }
    Ok(())
}

/// It stays open; `cancelled` is for asks.
async fn a_task_is_not_cancelled(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = scene.agent.submitted(&scene.task()).await?;
    scene.agent.cancel(&id).await?.refused_somehow()?;
    equal("status", &scene.agent.read(&id).await?["status"], "open")?;
    scene
        .alice
        .resolve(&id, &json!({"resolution": "completed"}))
        .await?
        .expect(200)
        .map(drop)
}

/// So that who polls or is called gets closure; nobody answered it.
async fn a_cancelled_ask_has_a_response(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let ask = crate::live::envelope::with(scene.confirm(), "/state", json!({"step": 9}));
    let id = scene.agent.submitted(&ask).await?;
    scene.agent.cancel(&id).await?.expect(200)?;
    let response = scene.agent.read(&id).await?["response"].take();
    equal("resolution", &response["resolution"], "cancelled")?;
    equal("state", &response["state"], &json!({"step": 9}))?;
    holds(
        response["response"]
            .get("value")
            .is_none_or(serde_json::Value::is_null),
        || format!("a value though nobody answered: {response}"),
    )?;
    let actor = response["response"]["actor"].as_str().unwrap_or_default();
    holds(!actor.starts_with("human:"), || format!("cancelled by {actor}"))
}
