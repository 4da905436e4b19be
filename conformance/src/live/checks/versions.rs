//! Versions, and what they are good for (§10).

use std::sync::Arc;

use serde_json::json;

use crate::live::envelope::{unique, with};
use crate::live::leg::Leg;
use crate::live::registry::{Check, check};
use crate::live::stage::Stage;
use crate::live::verdict::{Proof, equal};

pub(super) fn checks() -> Vec<Check> {
    vec![
        check("10", any_minor_of_this_major_is_taken),
        check("10", another_spelling_of_a_minor_is_refused),
        check("10", a_push_below_0_3_is_refused).of(Leg::Push),
        check("10", a_pull_below_0_3_is_taken),
        check("10", a_push_from_0_3_on_is_signed_at_its_version).of(Leg::Push),
    ]
}

/// Older and newer ones.
async fn any_minor_of_this_major_is_taken(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    for version in ["0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.10", "0.99"] {
        for envelope in [scene.notify(), scene.confirm(), scene.task()] {
            let envelope = with(envelope, "/ma2h_version", json!(version));
            let id = scene
                .agent
                .submitted(&with(envelope, "/idempotency_key", json!(unique())))
                .await?;
            equal(
                "ma2h_version",
                &scene.agent.read(&id).await?["ma2h_version"],
                version,
            )?;
        }
    }
    Ok(())
}

/// 400: a leading nought, so that it never passes for another minor; and what is no version.
async fn another_spelling_of_a_minor_is_refused(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    for version in [
        "0.03", "0.06", "00.6", "0.6.0", "0.", "0", ".6", "v0.6", "0.6 ", " 0.6", "0.-1", "0.6a", "",
    ] {
        let envelope = with(scene.notify(), "/ma2h_version", json!(version));
        let reply = scene.agent.submit(&envelope).await?;
        reply.refused_as(&[(400, "validation_error"), (400, "version_not_supported")])?;
    }
    Ok(())
}

/// Its signature could not be verified by who asks for it.
async fn a_push_below_0_3_is_refused(stage: Arc<Stage>) -> Proof {
    let scene = stage.callback_scene().await?;
    for version in ["0.1", "0.2"] {
        for envelope in [scene.confirm(), scene.task()] {
            let envelope = with(scene.pushed(envelope), "/ma2h_version", json!(version));
            scene
                .agent
                .submit(&envelope)
                .await?
                .refused(400, "version_not_supported")?;
        }
    }
    Ok(())
}

/// Nothing is signed there.
async fn a_pull_below_0_3_is_taken(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    for version in ["0.1", "0.2"] {
        for callback in [None, Some(json!({"mode": "pull"}))] {
            let mut ask = with(scene.confirm(), "/ma2h_version", json!(version));
            ask["idempotency_key"] = json!(unique());
            if let Some(callback) = callback {
                ask["request"]["callback"] = callback;
            }
            let id = scene.approved(&ask).await?;
            equal("status", &scene.agent.read(&id).await?["status"], "answered")?;
        }
    }
    Ok(())
}

/// The signed context has the version of the message, not the hub's.
async fn a_push_from_0_3_on_is_signed_at_its_version(stage: Arc<Stage>) -> Proof {
    let scene = stage.callback_scene().await?;
    for (at, version) in ["0.3", "0.4", "0.5", "0.6", "0.10"].into_iter().enumerate() {
        scene
            .approved(&with(
                scene.pushed(scene.confirm()),
                "/ma2h_version",
                json!(version),
            ))
            .await?;
        let pushes = scene.receiver.pushes(at + 1).await?;
        equal(
            "ma2h_version",
            &scene.verified(&pushes[at])?["ma2h_version"],
            version,
        )?;
    }
    Ok(())
}
