//! Submitting to another agent (§4, §5.1, §8.0, §8.1, dp-023).

use std::sync::Arc;

use ma2h::EntryKind;
use ma2h_schema::Noun;
use serde_json::{Value, json};

use crate::live::envelope::{notify, with};
use crate::live::fleet::Fleet;
use crate::live::leg::Leg;
use crate::live::registry::{Check, check};
use crate::live::stage::Stage;
use crate::live::verdict::{Proof, Tried, absent, equal, holds, shaped, skipped};

pub(super) fn checks() -> Vec<Check> {
    [
        check("8.0", an_account_has_to_opt_in),
        check("8.1", every_addressed_ack_tells_of_its_destination),
        check("5.1", an_addressed_notify_is_queued_never_delivered),
        check("4", an_unknown_destination_is_refused),
        check("4", another_account_is_no_destination),
        check("8.0", a_sender_that_is_not_allowed_is_told_of_nobody),
        check("4", an_ended_session_is_no_destination),
        check("8.1", who_may_not_see_is_told_unknown_and_nothing_else),
        check("15.1", who_only_drains_without_a_session_is_not_online),
        check("15.1", who_drains_with_a_session_is_online),
        check("4", an_id_with_a_hash_sends_nothing),
        check("4", an_address_is_from_0_5_on),
        check("8.1", a_replay_from_another_session_gets_the_original_ack),
        check("8.1", a_replay_follows_the_track_of_its_verb),
        check("4", an_address_splits_at_its_first_hash),
    ]
    .into_iter()
    .map(|check| check.of(Leg::InterAgent))
    .collect()
}

/// Until then nothing is taken.
async fn an_account_has_to_opt_in(stage: Arc<Stage>) -> Proof {
    let fleet = stage.fleet().await?;
    let to = fleet.worker.agent.address.clone();
    for envelope in [fleet.notify(&to), fleet.ask(&to), fleet.task(&to)] {
        fleet.sender.agent.submit(&envelope).await?.refused_somehow()?;
    }
    fleet
        .account
        .set_policy(json!({"inter_agent": {"enabled": true}}))
        .await?;
    fleet.sender.agent.submitted(&fleet.notify(&to)).await?;
    fleet
        .account
        .set_policy(json!({"inter_agent": {"enabled": false}}))
        .await?;
    fleet
        .sender
        .agent
        .submit(&fleet.notify(&to))
        .await?
        .refused_somehow()
}

async fn ack(fleet: &Fleet, envelope: &Value) -> Tried<Value> {
    let ack = fleet.sender.agent.submit(envelope).await?.expect(202)?;
    shaped(Noun::SubmitAck, &ack)?;
    Ok(ack)
}

/// Of each verb; the ack of a message for humans has none.
async fn every_addressed_ack_tells_of_its_destination(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    let to = fleet.worker.agent.address.clone();
    let session = fleet.worker.session().await?;
    for to in [to, session.address()] {
        for (envelope, status) in [
            (fleet.notify(&to), "queued"),
            (fleet.ask(&to), "open"),
            (fleet.task(&to), "open"),
        ] {
            let ack = ack(&fleet, &envelope).await?;
            equal("status", &ack["status"], status)?;
            let told = ack["destination"]["state"].as_str().unwrap_or_default();
            holds(["online", "offline", "unknown"].contains(&told), || {
                format!("no destination in {ack}")
            })?;
        }
    }
    absent(
        &ack(&fleet, &notify(&fleet.sender.agent.id)).await?,
        "/destination",
    )
}

/// Before anybody has drained it.
async fn an_addressed_notify_is_queued_never_delivered(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    let id = fleet
        .sender
        .agent
        .submitted(&fleet.notify(&fleet.worker.agent.address))
        .await?;
    let read = fleet.read(&id).await?;
    equal("status", &read["status"], "queued")?;
    equal("mailbox", &read["mailbox"]["state"], "queued")
}

/// 422: no agent of that name, no such session of an agent.
async fn an_unknown_destination_is_refused(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    let session = format!("{}#sess_01J00000000000000000000000", fleet.worker.agent.address);
    for to in ["agent:orchard/nobody", session.as_str()] {
        fleet
            .sender
            .agent
            .submit(&fleet.notify(to))
            .await?
            .refused(422, "unknown_destination")?;
    }
    Ok(())
}

/// In the words of one that does not exist.
async fn another_account_is_no_destination(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    let foreign = stage.account().await?.agent("orchard/foreign", 0).await?;
    same_refusal(&fleet, &foreign.address, "agent:orchard/nothing").await
}

async fn same_refusal(fleet: &Fleet, one: &str, other: &str) -> Proof {
    let mut said = Vec::new();
    for to in [one, other] {
        let reply = fleet.sender.agent.submit(&fleet.notify(to)).await?;
        reply.refused(422, "unknown_destination")?;
        said.push(reply.text.replace(to, "…"));
    }
    equal("what is said", &said[0], &said[1])
}

/// Its own allowlist blocks it: as if there were no such agent.
async fn a_sender_that_is_not_allowed_is_told_of_nobody(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    let path = fleet
        .account
        .agent_path(&fleet.worker.agent.id, "/sender-allowlist");
    let put = fleet
        .account
        .admin()?
        .put(&path, &json!({"allow": ["agent:orchard/friend"]}))
        .await?;
    holds((200..300).contains(&put.status), || put.told())?;
    same_refusal(&fleet, &fleet.worker.agent.address, "agent:orchard/nothing").await?;
    let put = fleet
        .account
        .admin()?
        .put(&path, &json!({"allow": [fleet.sender.agent.address]}))
        .await?;
    holds((200..300).contains(&put.status), || put.told())?;
    fleet
        .sender
        .agent
        .submitted(&fleet.notify(&fleet.worker.agent.address))
        .await
        .map(drop)
}

/// 410 to who may see sessions, 422 as if unknown to who may not; the sender's own other session is its own.
async fn an_ended_session_is_no_destination(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    let ended = fleet.worker.session().await?;
    ended.close().await?;
    let reply = fleet.sender.agent.submit(&fleet.notify(&ended.address())).await?;
    reply.refused_as(&[(422, "unknown_destination"), (410, "destination_gone")])?;
    let own = fleet.sender.session().await?;
    own.close().await?;
    let reply = fleet.sender.agent.submit(&fleet.notify(&own.address())).await?;
    reply.refused(410, "destination_gone").map(drop)
}

/// Neither when the other was seen nor whether a session has ended.
async fn who_may_not_see_is_told_unknown_and_nothing_else(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    fleet
        .account
        .set_policy(json!({"sessions": {"agent_list_visibility": false}}))
        .await?;
    let (live, ended) = (fleet.worker.session().await?, fleet.worker.session().await?);
    live.drain().await?;
    ended.close().await?;
    for to in [fleet.worker.agent.address.clone(), live.address()] {
        let ack = ack(&fleet, &fleet.notify(&to)).await?;
        equal("destination", &ack["destination"], &json!({"state": "unknown"}))?;
    }
    let never = format!("{}#sess_01J00000000000000000000000", fleet.worker.agent.address);
    same_refusal(&fleet, &ended.address(), &never).await
}

/// A fleet whose agents may see each other, where a hub lets them.
async fn seeing(stage: &Stage) -> Tried<Fleet> {
    if stage.hub.capability["sessions"]["agent_list_visibility"] != true {
        return skipped("agents see no sessions but their own on this hub");
    }
    let fleet = stage.talking_fleet().await?;
    fleet
        .account
        .set_policy(json!({"sessions": {"agent_list_visibility": true}}))
        .await?;
    Ok(fleet)
}

/// It could never be shown the message.
async fn who_only_drains_without_a_session_is_not_online(stage: Arc<Stage>) -> Proof {
    let fleet = seeing(&stage).await?;
    fleet.worker.drain().await?;
    let ack = ack(&fleet, &fleet.notify(&fleet.worker.agent.address)).await?;
    holds(ack["destination"]["state"] != "online", || {
        format!("online, without a session: {ack}")
    })
}

/// With the time it was last seen; its closed session is not.
async fn who_drains_with_a_session_is_online(stage: Arc<Stage>) -> Proof {
    let fleet = seeing(&stage).await?;
    let session = fleet.worker.session().await?;
    session.drain().await?;
    for to in [session.address(), fleet.worker.agent.address.clone()] {
        let ack = ack(&fleet, &fleet.notify(&to)).await?;
        equal("state", &ack["destination"]["state"], "online")?;
        holds(ack["destination"]["last_seen"].is_string(), || {
            format!("online, but when? {ack}")
        })?;
    }
    session.close().await?;
    let ack = ack(&fleet, &fleet.notify(&fleet.worker.agent.address)).await?;
    holds(ack["destination"]["state"] != "online", || {
        format!("online, though its session has ended: {ack}")
    })
}

/// It could not be named as who it is from.
async fn an_id_with_a_hash_sends_nothing(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    let hashed = fleet.account.agent("orchard#7", 2).await?;
    let addressed = with(notify(&hashed.id), "/to", json!(fleet.worker.agent.address));
    let with_session = with(notify(&hashed.id), "/agent/session", json!("sess_any"));
    for envelope in [addressed, with_session] {
        hashed
            .submit(&envelope)
            .await?
            .refused_as(&[(422, "invalid_field"), (400, "validation_error")])?;
    }
    hashed.submitted(&notify(&hashed.id)).await.map(drop)
}

/// Below that a sender does not speak of it.
async fn an_address_is_from_0_5_on(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    for version in ["0.3", "0.4"] {
        let envelope = with(
            fleet.notify(&fleet.worker.agent.address),
            "/ma2h_version",
            json!(version),
        );
        let reply = fleet.sender.agent.submit(&envelope).await?;
        if reply.status == 202 {
            // An older schema knows no such member: then it is for the human inbox, and says so.
            absent(&reply.json()?, "/destination")?;
        } else {
            reply.refused_somehow()?;
        }
    }
    Ok(())
}

/// The session is no part of the payload; the first one stays the caller.
async fn a_replay_from_another_session_gets_the_original_ack(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    let worker = fleet.worker.session().await?;
    let (first, second) = (fleet.sender.session().await?, fleet.sender.session().await?);
    let ask = first.naming(fleet.ask(&worker.address()));
    let id = fleet.sender.agent.submitted(&ask).await?;
    let mut again = second.naming(ask);
    again["agent"]["run_id"] = json!("run-2");
    equal("id", &fleet.sender.agent.submitted(&again).await?, &id)?;
    let resolve = format!("/v1/messages/{id}/resolve?session={}", worker.session_id());
    let body = json!({"resolution": "answered", "value": "approve"});
    worker.agent.post(&resolve, &body).await?.expect(200)?;
    first.first(EntryKind::Response).await?;
    second.is_empty().await
}

/// The track of a notify, the resolution of an ask; never a mixture.
async fn a_replay_follows_the_track_of_its_verb(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    let worker = fleet.worker.session().await?;
    let (notify, ask) = (fleet.notify(&worker.address()), fleet.ask(&worker.address()));
    for envelope in [&notify, &ask] {
        fleet.sender.agent.submitted(envelope).await?;
    }
    let mut drained = 0;
    while drained < 2 {
        drained += worker.some().await?.len();
    }
    equal("notify", &ack(&fleet, &notify).await?["status"], "delivered")?;
    equal("ask", &ack(&fleet, &ask).await?["status"], "open")?;
    worker.close().await?;
    let mut status = Value::Null;
    while status != "bounced" {
        status = ack(&fleet, &notify).await?["status"].take();
        crate::live::stage::pause().await;
    }
    while ack(&fleet, &ask).await?["status"] != "cancelled" {
        crate::live::stage::pause().await;
    }
    Ok(())
}

/// And what comes after it is a session's id or nothing.
async fn an_address_splits_at_its_first_hash(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    let address = &fleet.worker.agent.address;
    for to in [
        format!("{address}#7"),
        format!("{address}#"),
        format!("{address}#x#sess_1"),
        "agent:".to_owned(),
        "agent:#sess_1".to_owned(),
    ] {
        let reply = fleet.sender.agent.submit(&fleet.notify(&to)).await?;
        reply.refused_as(&[
            (400, "validation_error"),
            (422, "invalid_field"),
            (422, "unknown_destination"),
        ])?;
    }
    Ok(())
}
