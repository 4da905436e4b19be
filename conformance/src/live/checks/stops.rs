//! A stop that outlives the session it ended (§16.4.1).

use std::sync::Arc;

use futures_util::future::join_all;
use serde_json::json;

use crate::live::api::segment;
use crate::live::fleet::Fleet;
use crate::live::leg::Leg;
use crate::live::mailbox::Mailbox;
use crate::live::registry::{Check, check};
use crate::live::stage::Stage;
use crate::live::verdict::{Proof, Tried, equal, holds, list, skipped};

pub(super) fn checks() -> Vec<Check> {
    [
        check("16.4.1", a_stopped_agent_registers_no_session),
        check("16.4.1", another_agent_is_not_stopped_with_it),
        check("16.4.1", no_agent_lifts_a_stop),
        check("16.4.1", a_human_lifts_a_stop),
        check("16.4.1", a_registration_does_not_slip_past_a_kill),
        check("16.4.1", an_agent_without_a_session_can_be_stopped),
        check("16.4.1", a_stop_is_written_down),
    ]
    .into_iter()
    .map(|check| check.of(Leg::HardStop))
    .collect()
}

/// Kills a session of the worker's; the session.
async fn stopped(fleet: &Fleet) -> Tried<Mailbox> {
    let session = fleet.worker.session().await?;
    let reply = fleet
        .alice
        .delete(&format!("/v1/sessions/{}", session.session_id()))
        .await?;
    holds((200..300).contains(&reply.status), || reply.told())?;
    Ok(session)
}

fn stop_path(mailbox: &Mailbox) -> String {
    format!("/v1/agents/{}/stop", segment(&mailbox.agent.id))
}

/// 403, with the code that says stop.
async fn a_stopped_agent_registers_no_session(stage: Arc<Stage>) -> Proof {
    let fleet = stage.fleet().await?;
    stopped(&fleet).await?;
    for body in [json!({}), json!({"run_id": "run-after-a-restart"})] {
        let reply = fleet.worker.agent.post("/v1/sessions", &body).await?;
        reply.refused(403, "session_closed_by_operator")?;
    }
    Ok(())
}

/// It is about the principal.
async fn another_agent_is_not_stopped_with_it(stage: Arc<Stage>) -> Proof {
    let fleet = stage.fleet().await?;
    stopped(&fleet).await?;
    fleet.sender.session().await.map(drop)
}

/// Not its own, not another's, by whatever call there is.
async fn no_agent_lifts_a_stop(stage: Arc<Stage>) -> Proof {
    let fleet = stage.fleet().await?;
    let session = stopped(&fleet).await?;
    let path = stop_path(&fleet.worker);
    for agent in [&fleet.worker.agent, &fleet.sender.agent] {
        for reply in [
            agent.delete(&path).await?,
            agent.put(&path, &json!({"stopped": false})).await?,
            agent
                .delete(&format!("/v1/sessions/{}", session.session_id()))
                .await?,
        ] {
            holds(reply.status != 202, || reply.told())?;
        }
        agent.delete(&path).await?.refused_somehow()?;
    }
    let reply = fleet.worker.agent.post("/v1/sessions", &json!({})).await?;
    reply.refused(403, "session_closed_by_operator").map(drop)
}

/// And then it registers again.
async fn a_human_lifts_a_stop(stage: Arc<Stage>) -> Proof {
    let fleet = stage.fleet().await?;
    let session = stopped(&fleet).await?;
    let lifted = fleet.alice.delete(&stop_path(&fleet.worker)).await?;
    holds((200..300).contains(&lifted.status), || lifted.told())?;
    fleet.worker.session().await?;
    // What ended has ended.
    session
        .ask("")
        .await?
        .refused(410, "session_closed_by_operator")
        .map(drop)
}

/// Either it came before and is closed with the rest, or it is refused.
async fn a_registration_does_not_slip_past_a_kill(stage: Arc<Stage>) -> Proof {
    let fleet = stage.fleet().await?;
    let (path, body) = (stop_path(&fleet.worker), json!({}));
    let kill = fleet.alice.put(&path, &body);
    let registrations = (0..12).map(|_| fleet.worker.agent.post("/v1/sessions", &body));
    let (killed, registered) = tokio::join!(kill, join_all(registrations));
    let killed = killed?;
    if [404, 405].contains(&killed.status) {
        return skipped("the hub has no call to stop an agent");
    }
    for reply in registered {
        let reply = reply?;
        holds([201, 403, 429].contains(&reply.status), || reply.told())?;
    }
    let listed = fleet.alice.get("/v1/sessions").await?.expect(200)?;
    let live = list(&listed, "/sessions")?
        .iter()
        .filter(|one| one["state"] == "active")
        .count();
    equal("live sessions after the kill", &live, &0)
}

/// One that crashes over and over.
async fn an_agent_without_a_session_can_be_stopped(stage: Arc<Stage>) -> Proof {
    let fleet = stage.fleet().await?;
    let stopped = fleet.alice.put(&stop_path(&fleet.worker), &json!({})).await?;
    if [404, 405].contains(&stopped.status) {
        return skipped("the hub has no call to stop an agent");
    }
    holds((200..300).contains(&stopped.status), || stopped.told())?;
    let reply = fleet.worker.agent.post("/v1/sessions", &json!({})).await?;
    reply.refused(403, "session_closed_by_operator").map(drop)
}

/// Who did it, and that it was lifted.
async fn a_stop_is_written_down(stage: Arc<Stage>) -> Proof {
    let fleet = stage.fleet().await?;
    stopped(&fleet).await?;
    let stops = fleet.alice.get("/v1/stops").await?;
    if stops.status == 404 {
        return skipped("the hub does not list its stops");
    }
    let stops = stops.expect(200)?;
    let found = list(&stops, "/stops")?
        .iter()
        .find(|stop| stop["agent_id"] == fleet.worker.agent.id.as_str());
    equal(
        "by",
        &found.map(|stop| &stop["by"]),
        &Some(&json!(fleet.alice.address)),
    )
}
