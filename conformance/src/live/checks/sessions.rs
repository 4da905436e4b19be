//! Sessions: leases that are renewed by what their owner does (§16, dp-019).

use std::sync::Arc;

use ma2h_schema::Noun;
use serde_json::json;

use crate::live::envelope::notify;
use crate::live::leg::Leg;
use crate::live::mailbox::Mailbox;
use crate::live::registry::{Check, check};
use crate::live::stage::Stage;
use crate::live::verdict::{Proof, Tried, equal, holds, shaped, skipped, text};

/// A cap above this is not filled.
const SESSIONS_MAX: u64 = 64;

pub(super) fn checks() -> Vec<Check> {
    [
        check("16.1", a_registered_session_has_its_shape),
        check("16.1", the_hub_mints_the_session_id),
        check("16.1", a_lease_keeps_within_the_advertised_bounds),
        check("16.1", a_malformed_registration_is_refused),
        check("16.1", over_the_cap_is_429),
        check("16.1", an_id_with_a_hash_registers_nothing),
        check("16.1", a_session_belongs_to_an_agent),
        check("16.2", a_drain_of_the_session_renews),
        check("16.2", a_drain_without_the_session_does_not_renew),
        check("16.2", an_ack_of_the_session_renews),
        check("16.2", an_ack_without_the_session_does_not_renew),
        check("16.2", a_submit_that_names_the_session_renews),
        check("16.2", a_read_does_not_renew),
        check("16.3", a_closed_session_stays_closed),
        check("16.3", a_session_that_is_not_renewed_expires).within(120),
        check("16.3", an_expired_session_does_not_come_back).within(120),
        check("16.3", presenting_an_ended_session_is_gone),
        check("4.1", a_submit_of_an_ended_session_is_gone),
    ]
    .into_iter()
    .map(|check| check.of(Leg::Sessions))
    .collect()
}

async fn worker(stage: &Stage) -> Tried<Mailbox> {
    Ok(stage.fleet().await?.worker)
}

/// 201 with the session, active.
async fn a_registered_session_has_its_shape(stage: Arc<Stage>) -> Proof {
    let worker = worker(&stage).await?;
    let full = json!({
        "run_id": "run-1", "label": "row 7", "kind": "worker", "project": "orchard",
        "labels": {"row": "7"}, "ttl_seconds": 300,
    });
    for body in [json!({}), full.clone()] {
        let session = worker.register(&body).await?;
        shaped(Noun::Session, &session.body)?;
        equal("state", &session.body["state"], "active")?;
        equal("agent_id", &session.body["agent_id"], worker.agent.id.as_str())?;
        for member in ["run_id", "label", "kind", "project", "labels"] {
            equal(member, &session.body[member], &body[member])?;
        }
        let read = worker.of_session(&session.id).lease().await?;
        shaped(Noun::Session, &read)?;
        equal("id", &read["id"], session.id.as_str())?;
    }
    Ok(())
}

/// In the namespace `sess_`, never the client's.
async fn the_hub_mints_the_session_id(stage: Arc<Stage>) -> Proof {
    let worker = worker(&stage).await?;
    let one = worker.register(&json!({"id": "sess_mine"})).await?;
    let two = worker.register(&json!({})).await?;
    holds(one.id.starts_with("sess_") && two.id.starts_with("sess_"), || {
        format!("{} and {}", one.id, two.id)
    })?;
    holds(one.id != "sess_mine" && one.id != two.id, || {
        "the client chose the id".to_owned()
    })
}

/// What is asked for beyond them is clamped.
async fn a_lease_keeps_within_the_advertised_bounds(stage: Arc<Stage>) -> Proof {
    let worker = worker(&stage).await?;
    let max = stage.hub.states("/sessions/max_ttl_seconds");
    let min = stage.hub.states("/sessions/min_ttl_seconds");
    for asked in [1, 100_000_000] {
        let reply = worker
            .agent
            .post("/v1/sessions", &json!({"ttl_seconds": asked}))
            .await?;
        if reply.status != 201 {
            reply.refused_somehow()?;
            continue;
        }
        let ttl = reply.json()?["session"]["ttl_seconds"].as_u64();
        let Some(ttl) = ttl else { continue };
        holds(max.is_none_or(|max| ttl <= max), || {
            format!("a lease of {ttl} s, at most {max:?}")
        })?;
        holds(min.is_none_or(|min| ttl >= min), || {
            format!("a lease of {ttl} s, at least {min:?}")
        })?;
    }
    Ok(())
}

/// As any malformed body.
async fn a_malformed_registration_is_refused(stage: Arc<Stage>) -> Proof {
    let worker = worker(&stage).await?;
    for body in [
        json!([]),
        json!({"ttl_seconds": "60"}),
        json!({"labels": {"a": 1}}),
        json!({"label": 7}),
    ] {
        let reply = worker.agent.post("/v1/sessions", &body).await?;
        reply.refused_as(&[(400, "validation_error"), (422, "invalid_field")])?;
    }
    Ok(())
}

/// And a closed one makes room.
async fn over_the_cap_is_429(stage: Arc<Stage>) -> Proof {
    let Some(cap) = stage.hub.states("/sessions/max_live_per_agent") else {
        return skipped("the capability document has no sessions.max_live_per_agent");
    };
    if cap > SESSIONS_MAX {
        return skipped(format!("{cap} sessions are not registered"));
    }
    let worker = worker(&stage).await?;
    let mut last = worker.session().await?;
    for _ in 1..cap {
        last = worker.session().await?;
    }
    let reply = worker.agent.post("/v1/sessions", &json!({})).await?;
    reply.refused(429, "rate_limited")?;
    last.close().await?;
    worker.session().await.map(drop)
}

/// Its address could not be told apart (§4).
async fn an_id_with_a_hash_registers_nothing(stage: Arc<Stage>) -> Proof {
    let account = stage.account().await?;
    let agent = account.agent("orchard#7", 0).await?;
    agent
        .post("/v1/sessions", &json!({}))
        .await?
        .refused(422, "invalid_field")
        .map(drop)
}

/// Nobody without an agent's credential has one.
async fn a_session_belongs_to_an_agent(stage: Arc<Stage>) -> Proof {
    let fleet = stage.fleet().await?;
    fleet
        .alice
        .post("/v1/sessions", &json!({}))
        .await?
        .refused_somehow()?;
    stage
        .anonymous()
        .post("/v1/sessions", &json!({}))
        .await?
        .refused(401, "unauthenticated")
        .map(drop)
}

/// The end of a lease that was registered a moment ago, once its clock has moved.
async fn lease_end(session: &Mailbox) -> Tried<String> {
    let first = session.lease().await?;
    // Ends are told in whole seconds by some: let one pass, so that a renewal shows.
    tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
    Ok(text(&first, "/expires_at")?.to_owned())
}

async fn renewed(session: &Mailbox, before: &str, expected: bool) -> Proof {
    let lease = session.lease().await?;
    let after = text(&lease, "/expires_at")?;
    equal(
        &format!("renewed from {before} to {after}"),
        &(after > before),
        &expected,
    )
}

/// `?session=`.
async fn a_drain_of_the_session_renews(stage: Arc<Stage>) -> Proof {
    let session = worker(&stage).await?.session().await?;
    let before = lease_end(&session).await?;
    session.drain().await?;
    renewed(&session, &before, true).await
}

/// It says nothing of any session.
async fn a_drain_without_the_session_does_not_renew(stage: Arc<Stage>) -> Proof {
    let worker = worker(&stage).await?;
    let session = worker.session().await?;
    let before = lease_end(&session).await?;
    worker.drain().await?;
    renewed(&session, &before, false).await
}

/// `?session=`.
async fn an_ack_of_the_session_renews(stage: Arc<Stage>) -> Proof {
    let session = worker(&stage).await?.session().await?;
    let before = lease_end(&session).await?;
    session.ack(&["dir_unknown".to_owned()]).await?.expect(200)?;
    renewed(&session, &before, true).await
}

/// Of several sessions nobody could know which one lives.
async fn an_ack_without_the_session_does_not_renew(stage: Arc<Stage>) -> Proof {
    let worker = worker(&stage).await?;
    let session = worker.session().await?;
    let before = lease_end(&session).await?;
    worker.ack(&["dir_unknown".to_owned()]).await?.expect(200)?;
    renewed(&session, &before, false).await
}

/// `agent.session`, also of a message for humans.
async fn a_submit_that_names_the_session_renews(stage: Arc<Stage>) -> Proof {
    let session = worker(&stage).await?.session().await?;
    let before = lease_end(&session).await?;
    session
        .agent
        .submitted(&session.naming(notify(&session.agent.id)))
        .await?;
    renewed(&session, &before, true).await
}

/// Neither of the session nor of the list, nor a submit that does not name it.
async fn a_read_does_not_renew(stage: Arc<Stage>) -> Proof {
    let session = worker(&stage).await?.session().await?;
    let before = lease_end(&session).await?;
    session.lease().await?;
    session.agent.get("/v1/sessions").await?.expect(200)?;
    session.agent.submitted(&notify(&session.agent.id)).await?;
    renewed(&session, &before, false).await
}

/// To close it again is no error and changes nothing.
async fn a_closed_session_stays_closed(stage: Arc<Stage>) -> Proof {
    let session = worker(&stage).await?.session().await?;
    session.close().await?;
    let closed = session.lease().await?;
    equal("state", &closed["state"], "closed")?;
    session.close().await?;
    equal("session", &session.lease().await?, &closed)
}

/// By the hub's clock, with nobody looking.
async fn a_session_that_is_not_renewed_expires(stage: Arc<Stage>) -> Proof {
    let worker = worker(&stage).await?;
    let session = worker.lapsed(&stage).await?;
    shaped(Noun::Session, &session.lease().await?)
}

/// Not by a drain, nor by an ack, nor by a close.
async fn an_expired_session_does_not_come_back(stage: Arc<Stage>) -> Proof {
    let worker = worker(&stage).await?;
    let session = worker.lapsed(&stage).await?;
    let before = session.lease().await?;
    session.ask("").await?.refused(410, "gone")?;
    session.ack(&[]).await?;
    session
        .agent
        .delete(&format!("/v1/sessions/{}", session.session_id()))
        .await?;
    equal("session", &session.lease().await?, &before)
}

/// 410 `gone` at every touchpoint: register again and go on.
async fn presenting_an_ended_session_is_gone(stage: Arc<Stage>) -> Proof {
    let session = worker(&stage).await?.session().await?;
    session.close().await?;
    for reply in session.presented().await? {
        reply.refused(410, "gone")?;
    }
    Ok(())
}

/// 410 `destination_gone`.
async fn a_submit_of_an_ended_session_is_gone(stage: Arc<Stage>) -> Proof {
    let session = worker(&stage).await?.session().await?;
    session.close().await?;
    let notify = session.naming(notify(&session.agent.id));
    session
        .agent
        .submit(&notify)
        .await?
        .refused(410, "destination_gone")
        .map(drop)
}
