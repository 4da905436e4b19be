//! The limits that a hub advertises (§8.6).

use std::sync::Arc;

use serde_json::{Value, json};

use crate::live::envelope::with;
use crate::live::leg::Leg;
use crate::live::registry::{Check, check};
use crate::live::stage::{Scene, Stage};
use crate::live::verdict::{Proof, Tried, Verdict, holds, skipped};

/// A limit above this is not tried to its end.
const CALLS_MAX: u64 = 500;

pub(super) fn checks() -> Vec<Check> {
    vec![
        check("8.6", a_body_up_to_the_limit_is_taken_and_no_longer_one),
        check("8.6", a_part_beyond_the_limit_is_refused),
        check("8.6", as_many_parts_as_advertised_are_taken_and_no_more),
        check("8.6", over_the_rate_is_429_with_retry_after)
            .of(Leg::RateLimit)
            .within(120),
        check("8.6", one_agents_rate_is_not_anothers)
            .of(Leg::RateLimit)
            .within(120),
        check("8.6", over_the_depth_is_429_with_retry_after)
            .of(Leg::InboxDepth)
            .within(120),
    ]
}

fn stated(stage: &Stage, pointer: &str) -> Tried<usize> {
    let limit = stage
        .hub
        .states(pointer)
        .and_then(|limit| usize::try_from(limit).ok());
    limit.ok_or_else(|| Verdict::NotOffered(format!("the capability document has no {pointer}")))
}

/// 422 names the field; a byte is a byte, not a character.
async fn a_body_up_to_the_limit_is_taken_and_no_longer_one(stage: Arc<Stage>) -> Proof {
    let bytes = stated(&stage, "/max_body_bytes")?;
    let scene = stage.scene().await?;
    scene
        .agent
        .submitted(&with(scene.notify(), "/body", json!("x".repeat(bytes))))
        .await?;
    for body in ["x".repeat(bytes + 1), "ü".repeat(bytes / 2 + 1)] {
        let reply = scene
            .agent
            .submit(&with(scene.notify(), "/body", json!(body)))
            .await?;
        let message = reply.refused(422, "invalid_field")?;
        holds(message.contains("body"), || {
            format!("the message does not name the body: {message}")
        })?;
    }
    Ok(())
}

/// 422.
async fn a_part_beyond_the_limit_is_refused(stage: Arc<Stage>) -> Proof {
    let bytes = stated(&stage, "/max_part_bytes")?;
    let scene = stage.scene().await?;
    let part = |bytes: usize| json!([{"kind": "text", "text": "x".repeat(bytes)}]);
    scene
        .agent
        .submitted(&with(scene.notify(), "/context", part(bytes / 2)))
        .await?;
    let reply = scene
        .agent
        .submit(&with(scene.notify(), "/context", part(bytes + 1)))
        .await?;
    reply.refused(422, "invalid_field").map(drop)
}

/// 422.
async fn as_many_parts_as_advertised_are_taken_and_no_more(stage: Arc<Stage>) -> Proof {
    let count = stated(&stage, "/max_context_parts")?;
    let scene = stage.scene().await?;
    let parts = |count: usize| Value::Array(vec![json!({"kind": "text", "text": "x"}); count]);
    scene
        .agent
        .submitted(&with(scene.notify(), "/context", parts(count)))
        .await?;
    let reply = scene
        .agent
        .submit(&with(scene.notify(), "/context", parts(count + 1)))
        .await?;
    reply.refused(422, "invalid_field").map(drop)
}

/// Submits messages, made by `message` so that they count towards the limit, until one is refused: at most one more
/// than the limit.
async fn exhaust(stage: &Stage, pointer: &str, message: fn(&Scene) -> Value) -> Tried<Scene> {
    let limit = stage.hub.states(pointer).unwrap_or(u64::MAX);
    if limit > CALLS_MAX {
        return skipped(format!("a limit of {limit} is not tried to its end"));
    }
    let scene = stage.scene().await?;
    for _ in 0..=limit {
        let reply = scene.agent.submit(&message(&scene)).await?;
        if reply.status == 202 {
            continue;
        }
        reply.refused(429, "rate_limited")?;
        let after = reply
            .header("retry-after")
            .and_then(|seconds| seconds.parse::<u64>().ok());
        holds(after.is_some_and(|seconds| seconds > 0), || {
            format!(
                "429 without a Retry-After in seconds: {:?}",
                reply.header("retry-after")
            )
        })?;
        return Ok(scene);
    }
    Err(Verdict::Failed(format!("{} submits and no 429", limit + 1)))
}

/// Fills the rate with what is never open, so that no depth refuses it first.
async fn over_the_rate(stage: &Stage) -> Tried<Scene> {
    exhaust(stage, "/rate_limit/requests_per_minute", Scene::notify).await
}

/// With the seconds to wait.
async fn over_the_rate_is_429_with_retry_after(stage: Arc<Stage>) -> Proof {
    over_the_rate(&stage).await.map(drop)
}

/// It is counted by agent.id.
async fn one_agents_rate_is_not_anothers(stage: Arc<Stage>) -> Proof {
    let scene = over_the_rate(&stage).await?;
    let other = scene.other_agent().await?;
    let notify = crate::live::envelope::notify(&other.id);
    other.submitted(&notify).await.map(drop)
}

/// The same for what is open in the inbox.
async fn over_the_depth_is_429_with_retry_after(stage: Arc<Stage>) -> Proof {
    let rate = stage
        .hub
        .states("/rate_limit/requests_per_minute")
        .unwrap_or(u64::MAX);
    let depth = stage.hub.states("/rate_limit/inbox_depth").unwrap_or(u64::MAX);
    if rate <= depth {
        return skipped(format!("{rate} submits a minute do not fill a depth of {depth}"));
    }
    exhaust(&stage, "/rate_limit/inbox_depth", Scene::confirm)
        .await
        .map(drop)
}
