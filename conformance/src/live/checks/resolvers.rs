//! Who may resolve (§9.1).

use std::sync::Arc;

use serde_json::json;

use crate::live::envelope::{with, without};
use crate::live::registry::{Check, check};
use crate::live::stage::Stage;
use crate::live::verdict::{Proof, equal};

/// Refusing one who may see the message, and one who may not.
const EITHER: [(u16, &str); 2] = [(403, "not_authorized"), (404, "not_found")];

pub(super) fn checks() -> Vec<Check> {
    vec![
        check("9.1", without_a_list_only_the_submitter_resolves),
        check("9.1", a_list_says_who_and_nobody_else),
        check("9.1", an_empty_list_is_nobody),
        check("9.1", a_listed_agent_resolves_in_its_own_name),
        check("9.1", a_name_is_compared_whole),
        check("9.1", a_task_has_resolvers_too),
        check("9.1", who_may_only_look_does_not_resolve),
        check("8.8", authority_is_asked_before_the_value),
    ]
}

/// Fail-closed: no human may, and the submitter's own identity may.
async fn without_a_list_only_the_submitter_resolves(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let other = scene.other_agent().await?;
    let id = scene
        .agent
        .submitted(&without(scene.confirm(), "/request/allowed_resolvers"))
        .await?;
    scene.alice.answer(&id, "approve").await?.refused_as(&EITHER)?;
    other.answer(&id, "approve").await?.refused_as(&EITHER)?;
    equal("status", &scene.agent.read(&id).await?["status"], "open")?;
    scene.agent.answer(&id, "approve").await?.expect(200)?;
    let response = scene.agent.read(&id).await?["response"]["response"].take();
    equal("actor", &response["actor"], scene.agent.address.as_str())
}

/// The submitter is not on it by itself (dp-002).
async fn a_list_says_who_and_nobody_else(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let bob = scene.account.another_human("bob", &scene.alice).await?;
    let id = scene.agent.submitted(&scene.confirm()).await?;
    scene.agent.answer(&id, "approve").await?.refused_as(&EITHER)?;
    bob.answer(&id, "approve").await?.refused_as(&EITHER)?;
    equal("status", &scene.agent.read(&id).await?["status"], "open")?;
    scene.alice.answer(&id, "approve").await?.expect(200)?;
    let response = scene.agent.read(&id).await?["response"]["response"].take();
    equal("actor", &response["actor"], scene.alice.address.as_str())
}

/// It was said who may: no one.
async fn an_empty_list_is_nobody(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let reply = scene
        .agent
        .submit(&with(scene.confirm(), "/request/allowed_resolvers", json!([])))
        .await?;
    if reply.status != 202 {
        return reply.refused_somehow();
    }
    let id = reply.json()?["id"].as_str().unwrap_or_default().to_owned();
    scene.alice.answer(&id, "approve").await?.refused_as(&EITHER)?;
    scene.agent.answer(&id, "approve").await?.refused_as(&EITHER)?;
    equal("status", &scene.agent.read(&id).await?["status"], "open")
}

/// An agent may approve for its operator (§2.1).
async fn a_listed_agent_resolves_in_its_own_name(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let other = scene.other_agent().await?;
    let ask = with(
        scene.confirm(),
        "/request/allowed_resolvers",
        json!([other.address, scene.alice.address]),
    );
    let id = scene.agent.submitted(&ask).await?;
    other.answer(&id, "deny").await?.expect(200)?;
    let response = scene.agent.read(&id).await?["response"]["response"].take();
    equal("actor", &response["actor"], other.address.as_str())?;
    // Resolving is not reading.
    other.message(&id).await?.refused(404, "not_found").map(drop)
}

/// No prefix, no case, no other kind of the same name.
async fn a_name_is_compared_whole(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    for listed in [
        "human:alic",
        "human:alice2",
        "human:ALICE",
        "human:alice ",
        "agent:alice",
        "system:alice",
    ] {
        let ask = with(scene.confirm(), "/request/allowed_resolvers", json!([listed]));
        let ask = with(ask, "/idempotency_key", json!(listed));
        let id = scene.agent.submitted(&ask).await?;
        scene.alice.answer(&id, "approve").await?.refused_as(&EITHER)?;
    }
    Ok(())
}

/// The same rules.
async fn a_task_has_resolvers_too(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let done = json!({"resolution": "completed"});
    let listed = scene.agent.submitted(&scene.task()).await?;
    scene.agent.resolve(&listed, &done).await?.refused_as(&EITHER)?;
    scene.alice.resolve(&listed, &done).await?.expect(200)?;
    let unlisted = scene
        .agent
        .submitted(&without(scene.task(), "/action/allowed_resolvers"))
        .await?;
    scene.alice.resolve(&unlisted, &done).await?.refused_as(&EITHER)?;
    scene.agent.resolve(&unlisted, &done).await?.expect(200).map(drop)
}

/// Though she is listed.
async fn who_may_only_look_does_not_resolve(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let victor = scene.account.human("victor", "viewer").await?;
    let ask = with(
        scene.confirm(),
        "/request/allowed_resolvers",
        json!([victor.address]),
    );
    let id = scene.agent.submitted(&ask).await?;
    victor.read(&id).await?;
    victor.answer(&id, "approve").await?.refused_as(&EITHER)?;
    equal("status", &scene.agent.read(&id).await?["status"], "open")
}

/// Who may not resolve does not learn what would have fitted, nor how it ended.
async fn authority_is_asked_before_the_value(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let bob = scene.account.another_human("bob", &scene.alice).await?;
    let id = scene.agent.submitted(&scene.select()).await?;
    bob.answer(&id, "apples").await?.refused_as(&EITHER)?;
    scene.alice.answer(&id, "pears").await?.expect(200)?;
    bob.answer(&id, "pears").await?.refused_as(&EITHER).map(drop)
}
