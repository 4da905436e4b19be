//! A message belongs to who submitted it (§9.1, dp-002).

use std::sync::Arc;

use serde_json::json;

use crate::live::account::Caller;
use crate::live::registry::{Check, check};
use crate::live::stage::{Scene, Stage};
use crate::live::verdict::{Proof, Tried, equal, holds};

/// Of the form of an id, and nobody's.
const UNKNOWN: &str = "msg_01J00000000000000000000000";

pub(super) fn checks() -> Vec<Check> {
    vec![
        check("9.1", another_agent_does_not_read_it),
        check("9.1", another_agent_does_not_wait_for_it),
        check("9.1", another_agent_does_not_resolve_it),
        check("9.1", another_agent_does_not_see_it_in_a_list),
        check("9.1", a_foreign_message_is_as_unknown_as_no_message),
        check("9.1", another_accounts_human_does_not_see_it),
        check("9.1", a_revoked_credential_is_none),
        check("9.1", an_agent_is_nobody_in_another_account),
    ]
}

/// Another agent of the account, and one of the same id in another account.
async fn strangers(stage: &Stage, scene: &Scene) -> Tried<[Caller; 2]> {
    let foreign = stage.account().await?;
    Ok([
        scene.other_agent().await?,
        foreign.agent(&scene.agent.id, 0).await?,
    ])
}

/// 404, open or answered.
async fn another_agent_does_not_read_it(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let open = scene.agent.submitted(&scene.confirm()).await?;
    let answered = scene.approved(&scene.confirm()).await?;
    let told = scene.agent.submitted(&scene.notify()).await?;
    for stranger in strangers(&stage, &scene).await? {
        for id in [&open, &answered, &told] {
            stranger.message(id).await?.refused(404, "not_found")?;
        }
    }
    Ok(())
}

/// At once: a wait would tell that there is something to wait for.
async fn another_agent_does_not_wait_for_it(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = scene.agent.submitted(&scene.confirm()).await?;
    for stranger in strangers(&stage, &scene).await? {
        let started = std::time::Instant::now();
        let reply = stranger.get(&format!("/v1/messages/{id}?wait=30")).await?;
        reply.refused(404, "not_found")?;
        holds(started.elapsed().as_secs() < 15, || "it was held".to_owned())?;
    }
    Ok(())
}

/// Unless it is listed; the ask stays open.
async fn another_agent_does_not_resolve_it(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = scene.agent.submitted(&scene.confirm()).await?;
    for stranger in strangers(&stage, &scene).await? {
        let reply = stranger.answer(&id, "approve").await?;
        reply.refused_as(&[(404, "not_found"), (403, "not_authorized")])?;
    }
    equal("status", &scene.agent.read(&id).await?["status"], "open")
}

/// Where a hub lets an agent list, it lists its own.
async fn another_agent_does_not_see_it_in_a_list(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = scene.agent.submitted(&scene.confirm()).await?;
    for stranger in strangers(&stage, &scene).await? {
        let listed = stranger.get("/v1/messages").await?;
        holds(!listed.text.contains(&id), || {
            format!("it is listed: {}", listed.told())
        })?;
    }
    Ok(())
}

/// The same answer to the letter, but for the id where it is repeated, so that no id can be guessed at.
async fn a_foreign_message_is_as_unknown_as_no_message(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let open = scene.agent.submitted(&scene.confirm()).await?;
    let ended = scene.approved(&scene.confirm()).await?;
    for stranger in strangers(&stage, &scene).await? {
        let unknown = stranger.message(UNKNOWN).await?.but_for(UNKNOWN);
        let uncancellable = stranger.cancel(UNKNOWN).await?.but_for(UNKNOWN);
        for id in [&open, &ended] {
            equal("read", &stranger.message(id).await?.but_for(id), &unknown)?;
            equal("cancel", &stranger.cancel(id).await?.but_for(id), &uncancellable)?;
        }
    }
    Ok(())
}

/// Nor resolve it, whatever her name.
async fn another_accounts_human_does_not_see_it(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = scene.agent.submitted(&scene.confirm()).await?;
    let namesake = stage.account().await?.human(&scene.alice.id, "owner").await?;
    namesake.message(&id).await?.refused(404, "not_found")?;
    namesake.answer(&id, "approve").await?.refused(404, "not_found")?;
    let listed = namesake.get("/v1/messages").await?;
    holds(!listed.text.contains(&id), || {
        format!("it is listed: {}", listed.told())
    })?;
    equal("status", &scene.agent.read(&id).await?["status"], "open")
}

/// From then on.
async fn a_revoked_credential_is_none(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = scene.agent.submitted(&scene.confirm()).await?;
    let admin = scene.account.admin()?;
    let subject = json!({"subject": scene.agent.address});
    let issued = admin
        .post(&scene.account.path("/tokens"), &subject)
        .await?
        .expect(201)?;
    let token = issued["token"].as_str().unwrap_or_default();
    let second = crate::live::api::Api::with_token(&stage.hub, token);
    second.message(&id).await?.expect(200)?;
    let token_id = issued["id"].as_str().unwrap_or_default();
    let revoked = admin
        .delete(&scene.account.path(&format!("/tokens/{token_id}")))
        .await?;
    holds((200..300).contains(&revoked.status), || revoked.told())?;
    // At once on the gateway that took the call, within 3 s on every other.
    for _ in 0..100 {
        if second.message(&id).await?.status == 401 {
            break;
        }
        crate::live::stage::pause().await;
    }
    second.message(&id).await?.refused(401, "unauthenticated")?;
    scene.agent.read(&id).await.map(drop)
}

/// A credential selects the account; nothing in a request does.
async fn an_agent_is_nobody_in_another_account(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let other = stage.account().await?;
    let human = other.human("carol", "owner").await?;
    let id = scene
        .agent
        .submitted(&crate::live::envelope::confirm(&scene.agent.id, &human.address))
        .await?;
    human.answer(&id, "approve").await?.refused(404, "not_found")?;
    equal("status", &scene.agent.read(&id).await?["status"], "open")
}
