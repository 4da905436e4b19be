//! Who is there (§15, dp-010).

use std::sync::Arc;

use ma2h_schema::Noun;
use serde_json::Value;

use crate::live::account::Caller;
use crate::live::api::segment;
use crate::live::leg::Leg;
use crate::live::registry::{Check, check};
use crate::live::stage::{Stage, pause};
use crate::live::verdict::{Proof, Tried, absent, equal, failed, holds, shaped, skipped};

/// Freshness windows longer than this are not waited for.
const WINDOW_SECONDS_MAX: u64 = 20;

pub(super) fn checks() -> Vec<Check> {
    [
        check("15.2", an_agent_never_seen_is_unknown),
        check("15.1", an_agent_that_waits_for_an_answer_is_online),
        check("15.1", a_submit_alone_is_not_listening),
        check("15.2", an_agent_that_went_away_is_offline).within(120),
        check("15.3", what_is_read_of_presence_has_its_shape),
        check("15.3", an_agent_does_not_read_presence),
        check("15.3", another_accounts_agent_is_as_one_never_seen),
        check("15.3", the_window_is_the_advertised_one),
    ]
    .into_iter()
    .map(|check| check.of(Leg::Presence))
    .collect()
}

async fn presence(human: &Caller, agent: &str) -> Tried<Value> {
    let path = format!("/v1/agents/{}/presence", segment(agent));
    human.get(&path).await?.expect(200)
}

/// Waits until presence says so.
async fn comes_to(human: &Caller, agent: &str, state: &str) -> Tried<Value> {
    loop {
        let found = presence(human, agent).await?;
        if found["state"] == state {
            return Ok(found);
        }
        pause().await;
    }
}

/// Which is not the same as offline; nor has anybody seen it.
async fn an_agent_never_seen_is_unknown(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let agent = scene.account.agent("orchard/unseen", 2).await?;
    let found = presence(&scene.alice, &agent.id).await?;
    equal("state", &found["state"], "unknown")?;
    equal("agent_id", &found["agent_id"], agent.id.as_str())?;
    absent(&found, "/last_seen")
}

/// From its own traffic, with no call for it.
async fn an_agent_that_waits_for_an_answer_is_online(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = scene.agent.submitted(&scene.confirm()).await?;
    scene.agent.wait(&id, 1).await?;
    let found = comes_to(&scene.alice, &scene.agent.id, "online").await?;
    holds(found["last_seen"].is_string(), || {
        format!("online, but when? {found}")
    })
}

/// A hub must not say online without a sign that somebody listens.
async fn a_submit_alone_is_not_listening(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let agent = scene.account.agent("orchard/talker", 2).await?;
    agent.submitted(&crate::live::envelope::notify(&agent.id)).await?;
    let found = presence(&scene.alice, &agent.id).await?;
    holds(found["state"] != "online", || {
        format!("online, though it only submitted: {found}")
    })
}

/// Once the window is over.
async fn an_agent_that_went_away_is_offline(stage: Arc<Stage>) -> Proof {
    let Some(window) = stage.hub.states("/presence/freshness_seconds") else {
        return failed("presence is offered without freshness_seconds");
    };
    if window > WINDOW_SECONDS_MAX {
        return skipped(format!("a window of {window} s is not waited for"));
    }
    let scene = stage.scene().await?;
    let id = scene.agent.submitted(&scene.confirm()).await?;
    scene.agent.wait(&id, 1).await?;
    comes_to(&scene.alice, &scene.agent.id, "online").await?;
    let found = comes_to(&scene.alice, &scene.agent.id, "offline").await?;
    holds(found["last_seen"].is_string(), || {
        format!("offline, but since when? {found}")
    })
}

/// Seen or not.
async fn what_is_read_of_presence_has_its_shape(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = scene.agent.submitted(&scene.confirm()).await?;
    scene.agent.wait(&id, 1).await?;
    comes_to(&scene.alice, &scene.agent.id, "online").await?;
    for agent in [scene.agent.id.as_str(), "orchard/nobody"] {
        let found = presence(&scene.alice, agent).await?;
        shaped(Noun::Presence, &found)?;
    }
    Ok(())
}

/// Neither another's nor its own, nor anybody without a credential.
async fn an_agent_does_not_read_presence(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let other = scene.other_agent().await?;
    let path = format!("/v1/agents/{}/presence", segment(&scene.agent.id));
    for agent in [&other, &scene.agent] {
        let reply = agent.get(&path).await?;
        reply.refused_as(&[(403, "not_authorized"), (404, "not_found")])?;
        holds(!reply.text.contains("last_seen"), || reply.told())?;
    }
    stage
        .anonymous()
        .get(&path)
        .await?
        .refused(401, "unauthenticated")
        .map(drop)
}

/// The very same answer, though it is there now.
async fn another_accounts_agent_is_as_one_never_seen(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = scene.agent.submitted(&scene.confirm()).await?;
    scene.agent.wait(&id, 1).await?;
    comes_to(&scene.alice, &scene.agent.id, "online").await?;
    let mallory = stage.account().await?.human("mallory", "owner").await?;
    let foreign = presence(&mallory, &scene.agent.id).await?;
    let mut nobody = presence(&mallory, "orchard/nobody").await?;
    nobody["agent_id"] = foreign["agent_id"].clone();
    equal("state", &foreign["state"], "unknown")?;
    equal("what is told", &foreign, &nobody)
}

/// So that a client can reckon.
async fn the_window_is_the_advertised_one(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let found = presence(&scene.alice, &scene.agent.id).await?;
    equal(
        "freshness_seconds",
        &found["freshness_seconds"].as_u64(),
        &stage.hub.states("/presence/freshness_seconds"),
    )
}
