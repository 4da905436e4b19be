//! One terminal state, the first, for ever (§7).

use std::sync::Arc;

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::live::api::Reply;
use crate::live::registry::{Check, check};
use crate::live::stage::{Scene, Stage};
use crate::live::verdict::{Proof, Tried, equal, failed, holds, text};

/// Calls that are made at the same time.
const RACERS: usize = 16;

pub(super) fn checks() -> Vec<Check> {
    vec![
        check("7", the_first_resolution_wins_and_the_second_is_told),
        check("7", a_terminal_message_reads_the_same_for_ever),
        check("7", of_many_resolves_at_once_one_wins),
        check("7", of_resolves_and_cancels_at_once_one_wins),
        check("7", a_task_is_resolved_once),
        check("8.8", a_resolve_says_what_it_did),
    ]
}

/// The outcome as the submitter reads it: status and resolution id.
async fn outcome(scene: &Scene, id: &str) -> Tried<(Value, Value)> {
    let mut read = scene.agent.read(id).await?;
    let resolution_id = read["response"]["resolution_id"].take();
    Ok((read["status"].take(), resolution_id))
}

/// Whoever lost is told the real outcome: 409 with id, status and resolution.
fn told_the_outcome(reply: &Reply, id: &str, status: &Value) -> Proof {
    reply.refused(409, "already_terminal")?;
    let body = reply.json()?;
    equal("id", &body["id"], id)?;
    equal("status", &body["status"], status)?;
    equal("resolution", &body["resolution"], status)
}

/// 409, and nothing changes.
async fn the_first_resolution_wins_and_the_second_is_told(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = scene.approved(&scene.confirm()).await?;
    let first = outcome(&scene, &id).await?;
    for body in [
        json!({"resolution": "answered", "value": "deny"}),
        json!({"resolution": "answered", "value": "approve"}),
        json!({"resolution": "declined"}),
    ] {
        told_the_outcome(&scene.alice.resolve(&id, &body).await?, &id, &first.0)?;
    }
    equal("outcome", &outcome(&scene, &id).await?, &first)?;
    equal(
        "value",
        &scene.agent.read(&id).await?["response"]["response"]["value"],
        "approve",
    )
}

/// Byte for byte, but for the track of its delivery (§8.2).
async fn a_terminal_message_reads_the_same_for_ever(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = scene.approved(&scene.confirm()).await?;
    let first = scene.agent.read(&id).await?;
    scene
        .alice
        .answer(&id, "deny")
        .await?
        .refused(409, "already_terminal")?;
    scene.agent.cancel(&id).await?.refused(409, "already_terminal")?;
    let mut again = scene.agent.read(&id).await?;
    again["delivery"] = first["delivery"].clone();
    equal("the second read", &again, &first)
}

/// One 200, one resolution id; all others are told of that one.
async fn of_many_resolves_at_once_one_wins(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    for round in 0..4 {
        let id = scene.agent.submitted(&scene.confirm()).await?;
        let calls = (0..RACERS).map(|at| {
            let value = if (at + round) % 2 == 0 { "approve" } else { "deny" };
            scene.alice.answer(&id, value)
        });
        one_won(&scene, &id, join_all(calls).await).await?;
    }
    Ok(())
}

/// The submitter withdraws while the human answers.
async fn of_resolves_and_cancels_at_once_one_wins(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    for _ in 0..4 {
        let id = scene.agent.submitted(&scene.confirm()).await?;
        let answers = (0..RACERS / 2).map(|_| scene.alice.answer(&id, "approve"));
        let cancels = (0..RACERS / 2).map(|_| scene.agent.cancel(&id));
        let (answers, cancels) = tokio::join!(join_all(answers), join_all(cancels));
        let cancelled = outcome(&scene, &id).await?.0 == "cancelled";
        // To cancel what is cancelled already is the same success again.
        let (winners, losers) = if cancelled {
            (cancels, answers)
        } else {
            (answers, cancels)
        };
        for reply in losers {
            reply?.refused(409, "already_terminal")?;
        }
        if cancelled {
            for reply in winners {
                equal("status", &reply?.expect(200)?["status"], "cancelled")?;
            }
        } else {
            one_won(&scene, &id, winners).await?;
        }
    }
    Ok(())
}

async fn one_won(scene: &Scene, id: &str, replies: Vec<Tried<Reply>>) -> Proof {
    let (status, resolution_id) = outcome(scene, id).await?;
    holds(resolution_id.is_string(), || "nobody won".to_owned())?;
    let mut won = 0;
    for reply in replies {
        let reply = reply?;
        if reply.status == 200 {
            won += 1;
            equal(
                "resolution_id of the winner",
                &reply.json()?["resolution_id"],
                &resolution_id,
            )?;
        } else {
            told_the_outcome(&reply, id, &status)?;
        }
    }
    equal("winners", &won, &1)
}

/// Completed or dismissed, not both.
async fn a_task_is_resolved_once(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = scene.agent.submitted(&scene.task()).await?;
    let calls = (0..RACERS).map(|at| {
        let name = if at % 2 == 0 { "completed" } else { "dismissed" };
        let scene = &scene;
        let id = &id;
        async move { scene.alice.resolve(id, &json!({"resolution": name})).await }
    });
    one_won(&scene, &id, join_all(calls).await).await
}

/// 200 with the id, the status and the resolution id that the Response has.
async fn a_resolve_says_what_it_did(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    for (envelope, body) in [
        (
            scene.confirm(),
            json!({"resolution": "answered", "value": "deny"}),
        ),
        (scene.confirm(), json!({"resolution": "declined"})),
        (scene.task(), json!({"resolution": "completed"})),
    ] {
        let id = scene.agent.submitted(&envelope).await?;
        let said = scene.alice.resolve(&id, &body).await?.expect(200)?;
        equal("id", &said["id"], id.as_str())?;
        equal("status", &said["status"], &body["resolution"])?;
        let resolution_id = text(&said, "/resolution_id")?;
        if outcome(&scene, &id).await?.1 != resolution_id {
            return failed("the Response has another resolution_id");
        }
    }
    Ok(())
}
