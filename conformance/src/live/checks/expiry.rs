//! What happens when nobody answers in time (§7, §9.5).

use std::sync::Arc;

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::live::envelope::{in_ms, unique, with};
use crate::live::registry::{Check, check};
use crate::live::stage::{Scene, Stage};
use crate::live::verdict::{Proof, Tried, equal, holds};

/// Milliseconds that a message of these checks lives.
const LIFE_MS: i64 = 2500;

pub(super) fn checks() -> Vec<Check> {
    vec![
        check("7", an_ask_expires_to_its_default),
        check("7", a_task_expires_without_a_default),
        check("7", an_answer_in_time_beats_the_default),
        check("7", an_answer_after_expiry_loses),
        check("7", a_cancel_after_expiry_loses),
        check("7", answers_around_expiry_have_one_outcome),
        check("7", a_default_fits_the_request),
        check("7", a_default_of_null_is_none),
        check("7", an_expired_message_is_never_read_as_open),
    ]
}

/// An ask that expires soon, with `plums` as its default; its id.
async fn short(scene: &Scene) -> Tried<String> {
    let ask = with(scene.select(), "/request/default_on_expire", json!("plums"));
    scene
        .agent
        .submitted(&with(ask, "/expires_at", json!(in_ms(LIFE_MS))))
        .await
}

/// Without anybody having looked at it.
async fn an_ask_expires_to_its_default(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = short(&scene).await?;
    let read = scene.agent.wait(&id, 20).await?;
    equal("status", &read["status"], "expired")?;
    equal("value", &read["response"]["response"]["value"], "plums")
}

/// It has none, and one that is slipped in means nothing.
async fn a_task_expires_without_a_default(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let mut task = with(scene.task(), "/expires_at", json!(in_ms(LIFE_MS)));
    task["action"]["default_on_expire"] = json!("completed");
    let reply = scene.agent.submit(&task).await?;
    if reply.status != 202 {
        return reply.refused_somehow();
    }
    let id = reply.json()?["id"].as_str().unwrap_or_default().to_owned();
    let response = scene.agent.wait(&id, 20).await?["response"].take();
    equal("resolution", &response["resolution"], "expired")?;
    holds(response["defaulted"] != true, || {
        format!("a task has no default: {response}")
    })
}

/// And stays what it is when the time has come.
async fn an_answer_in_time_beats_the_default(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let (answered, other) = (short(&scene).await?, short(&scene).await?);
    scene.alice.answer(&answered, "pears").await?.expect(200)?;
    // The other one shows that the time has come.
    scene.agent.wait(&other, 20).await?;
    let read = scene.agent.read(&answered).await?;
    equal("status", &read["status"], "answered")?;
    equal("value", &read["response"]["response"]["value"], "pears")
}

/// 409 with the real outcome, also where nobody had noticed yet.
async fn an_answer_after_expiry_loses(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = short(&scene).await?;
    let expired = wait_past_expiry(&scene, &id).await?;
    let reply = scene.alice.answer(&id, "pears").await?;
    reply.refused(409, "already_terminal")?;
    let said = reply.json()?;
    equal("status", &said["status"], "expired")?;
    equal("resolution", &said["resolution"], "expired")?;
    equal(
        "response",
        &scene.agent.read(&id).await?["response"],
        &expired["response"],
    )
}

/// It is expired, never cancelled.
async fn a_cancel_after_expiry_loses(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = short(&scene).await?;
    wait_past_expiry(&scene, &id).await?;
    let reply = scene.agent.cancel(&id).await?;
    reply.refused(409, "already_terminal")?;
    equal("status", &reply.json()?["status"], "expired")?;
    equal("status", &scene.agent.read(&id).await?["status"], "expired")
}

async fn wait_past_expiry(scene: &Scene, id: &str) -> Tried<Value> {
    let read = scene.agent.wait(id, 20).await?;
    equal("status", &read["status"], "expired")?;
    Ok(read)
}

/// Answers that come as fast as they can until the time is over: each is told what the message says in the end.
async fn answers_around_expiry_have_one_outcome(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let races = (0..6).map(|at| one_race(&scene, LIFE_MS + at * 7));
    join_all(races)
        .await
        .into_iter()
        .collect::<Tried<Vec<()>>>()
        .map(drop)
}

async fn one_race(scene: &Scene, life_ms: i64) -> Proof {
    let ask = with(scene.select(), "/request/default_on_expire", json!("plums"));
    let ask = with(ask, "/idempotency_key", json!(unique()));
    let id = scene
        .agent
        .submitted(&with(ask, "/expires_at", json!(in_ms(life_ms))))
        .await?;
    // What does not fit is refused without an effect, and passes the time until just about the end.
    loop {
        let reply = scene.alice.answer(&id, "apples").await?;
        if reply.status == 409 || near_the_end(scene, &id).await? {
            break;
        }
        reply.refused(422, "invalid_field")?;
    }
    let answers = join_all((0..12).map(|_| scene.alice.answer(&id, "pears"))).await;
    let read = scene.agent.wait(&id, 20).await?;
    for reply in answers {
        let reply = reply?;
        let said = reply.json()?;
        if reply.status == 200 {
            equal(
                "resolution_id",
                &said["resolution_id"],
                &read["response"]["resolution_id"],
            )?;
            equal("status", &read["status"], "answered")?;
        } else {
            reply.refused(409, "already_terminal")?;
            equal("status", &said["status"], &read["status"])?;
        }
    }
    Ok(())
}

/// Whether less than a tenth of a second is left.
async fn near_the_end(scene: &Scene, id: &str) -> Tried<bool> {
    let read = scene.agent.read(id).await?;
    let soon = in_ms(100);
    Ok(read["status"] != "open" || read["expires_at"].as_str().is_some_and(|end| end < soon.as_str()))
}

/// A value of the options, an object that satisfies the schema; anything else is refused at submit.
async fn a_default_fits_the_request(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let options = json!([{"value": "go", "label": "Go"}, {"value": "stay", "label": "Stay"}]);
    let supplied = with(scene.confirm(), "/request/options", options);
    for (ask, fits, misfits) in [
        (
            scene.select(),
            json!("pears"),
            vec![json!("apples"), json!("Pears first"), json!({"value": "pears"})],
        ),
        (
            scene.confirm(),
            json!("deny"),
            vec![json!("no"), json!("Approve")],
        ),
        (supplied, json!("stay"), vec![json!("approve")]),
        (
            scene.input(),
            json!({"crates": 1}),
            vec![json!({}), json!({"crates": "1"}), json!("1")],
        ),
    ] {
        for misfit in misfits {
            let ask = with(ask.clone(), "/request/default_on_expire", misfit);
            let either = [(422, "invalid_field"), (400, "validation_error")];
            scene.agent.submit(&ask).await?.refused_as(&either)?;
        }
        scene
            .agent
            .submitted(&with(ask, "/request/default_on_expire", fits))
            .await?;
    }
    Ok(())
}

/// On every mode.
async fn a_default_of_null_is_none(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    for ask in [scene.select(), scene.confirm(), scene.input()] {
        scene
            .agent
            .submitted(&with(ask, "/request/default_on_expire", Value::Null))
            .await?;
    }
    Ok(())
}

/// Once its time is over by the hub's own words, no read shows it open.
async fn an_expired_message_is_never_read_as_open(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = short(&scene).await?;
    wait_past_expiry(&scene, &id).await?;
    for reader in [&scene.agent, &scene.alice] {
        equal("status", &reader.read(&id).await?["status"], "expired")?;
    }
    Ok(())
}
