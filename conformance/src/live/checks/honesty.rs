//! Nobody is left believing that a message arrived (§7, §14.2, dp-022).

use std::sync::Arc;

use ma2h::EntryKind;
use serde_json::{Value, json};

use crate::live::envelope::{in_ms, with};
use crate::live::fleet::Fleet;
use crate::live::leg::Leg;
use crate::live::registry::{Check, check};
use crate::live::stage::{Stage, pause};
use crate::live::verdict::{Proof, Tried, absent, equal, holds};

pub(super) fn checks() -> Vec<Check> {
    [
        check("14.2", what_a_dead_session_never_saw_bounces),
        check("14.2", what_a_dead_session_saw_and_did_not_ack_bounces),
        check("14.2", what_was_acked_does_not_bounce),
        check("14.2", a_directive_to_a_dead_session_bounces),
        check("14.2", a_lapsed_session_bounces_as_a_closed_one).within(120),
        check("7", a_bounced_ask_is_cancelled_as_undeliverable),
        check("7", a_bounced_task_is_dismissed_as_undeliverable),
        check("7", what_was_resolved_before_stays_resolved),
        check("8.7.1", a_bounce_is_told_to_the_senders_session),
        check("8.7.1", a_receipt_says_what_the_mailbox_says),
        check("8.7.1", receipts_and_responses_do_not_bounce),
        check("14.2", mail_for_a_principal_survives_a_session),
        check("14.2", what_expired_unseen_was_never_delivered).within(120),
        check("14.2", what_was_seen_and_expired_stays_seen).within(120),
        check("16.4", a_kill_looks_like_a_crash_to_the_sender),
    ]
    .into_iter()
    .map(|check| check.of(Leg::InterAgent))
    .collect()
}

/// What the sender reads, once the mailbox's track is there.
async fn comes_to(fleet: &Fleet, id: &str, state: &str) -> Tried<Value> {
    loop {
        let read = fleet.read(id).await?;
        if read["mailbox"]["state"] == state {
            return Ok(read);
        }
        pause().await;
    }
}

fn is_prior(mailbox: &Value, prior: &str) -> Proof {
    // It should be said; where it is, it must be true.
    let said = mailbox["prior"].as_str();
    holds(said.is_none_or(|said| said == prior), || {
        format!("prior: expected {prior}, got {mailbox}")
    })
}

/// `bounced`, prior `queued`.
async fn what_a_dead_session_never_saw_bounces(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    let worker = fleet.worker.session().await?;
    let id = fleet
        .sender
        .agent
        .submitted(&fleet.notify(&worker.address()))
        .await?;
    worker.close().await?;
    let read = comes_to(&fleet, &id, "bounced").await?;
    equal("status", &read["status"], "bounced")?;
    absent(&read["mailbox"], "/delivered_at")?;
    is_prior(&read["mailbox"], "queued")
}

/// Prior `delivered`: seen, then orphaned.
async fn what_a_dead_session_saw_and_did_not_ack_bounces(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    let worker = fleet.worker.session().await?;
    let id = fleet
        .sender
        .agent
        .submitted(&fleet.notify(&worker.address()))
        .await?;
    worker.one(EntryKind::Message).await?;
    worker.close().await?;
    let read = comes_to(&fleet, &id, "bounced").await?;
    is_prior(&read["mailbox"], "delivered")
}

/// It was taken.
async fn what_was_acked_does_not_bounce(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    let worker = fleet.worker.session().await?;
    let kept = fleet
        .sender
        .agent
        .submitted(&fleet.notify(&worker.address()))
        .await?;
    let entry = worker.one(EntryKind::Message).await?;
    worker.acked(&entry).await?;
    let bounced = fleet
        .sender
        .agent
        .submitted(&fleet.notify(&worker.address()))
        .await?;
    worker.close().await?;
    comes_to(&fleet, &bounced, "bounced").await?;
    equal(
        "state",
        &fleet.read(&kept).await?["mailbox"]["state"],
        "acknowledged",
    )
}

/// As a message does.
async fn a_directive_to_a_dead_session_bounces(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    let worker = fleet.worker.session().await?;
    let said = fleet.direct(&worker.address(), "For one run").await?;
    let id = said["directive"]["id"].as_str().unwrap_or_default();
    worker.close().await?;
    while fleet.track(id).await?["state"] != "bounced" {
        pause().await;
    }
    is_prior(&fleet.track(id).await?, "queued")
}

/// Found without anybody asking.
async fn a_lapsed_session_bounces_as_a_closed_one(stage: Arc<Stage>) -> Proof {
    let ttl = stage.shortest_lease_seconds()?;
    let fleet = stage.talking_fleet().await?;
    let session = fleet.worker.register(&json!({"ttl_seconds": ttl})).await?;
    let worker = fleet.worker.of_session(&session.id);
    let id = fleet
        .sender
        .agent
        .submitted(&fleet.ask(&worker.address()))
        .await?;
    let read = comes_to(&fleet, &id, "bounced").await?;
    is_prior(&read["mailbox"], "queued")?;
    while fleet.read(&id).await?["status"] == "open" {
        pause().await;
    }
    equal("status", &fleet.read(&id).await?["status"], "cancelled")
}

async fn undeliverable(fleet: &Fleet, id: &str, resolution: &str) -> Proof {
    comes_to(fleet, id, "bounced").await?;
    let read = fleet.sender.agent.wait(id, 20).await?;
    equal("status", &read["status"], resolution)?;
    equal("resolution", &read["response"]["resolution"], resolution)?;
    equal(
        "actor",
        &read["response"]["response"]["actor"],
        "system:undeliverable",
    )
}

/// So that its sender goes on.
async fn a_bounced_ask_is_cancelled_as_undeliverable(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    let worker = fleet.worker.session().await?;
    let id = fleet
        .sender
        .agent
        .submitted(&fleet.ask(&worker.address()))
        .await?;
    worker.close().await?;
    undeliverable(&fleet, &id, "cancelled").await
}

/// Likewise.
async fn a_bounced_task_is_dismissed_as_undeliverable(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    let worker = fleet.worker.session().await?;
    let id = fleet
        .sender
        .agent
        .submitted(&fleet.task(&worker.address()))
        .await?;
    worker.close().await?;
    undeliverable(&fleet, &id, "dismissed").await
}

/// The first terminal state wins, here too.
async fn what_was_resolved_before_stays_resolved(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    let worker = fleet.worker.session().await?;
    let id = fleet
        .sender
        .agent
        .submitted(&fleet.ask(&worker.address()))
        .await?;
    worker.one(EntryKind::Message).await?;
    fleet.worker.agent.answer(&id, "deny").await?.expect(200)?;
    let before = fleet.read(&id).await?["response"].take();
    worker.close().await?;
    comes_to(&fleet, &id, "bounced").await?;
    let read = fleet.read(&id).await?;
    equal("status", &read["status"], "answered")?;
    equal("response", &read["response"], &before)
}

/// A receipt, signed, of its shape.
async fn a_bounce_is_told_to_the_senders_session(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    let (worker, sender) = (fleet.worker.session().await?, fleet.sender.session().await?);
    let notify = sender.naming(fleet.notify(&worker.address()));
    let id = fleet.sender.agent.submitted(&notify).await?;
    worker.close().await?;
    let receipt = sender.one(EntryKind::Receipt).await?.json()?;
    equal("in_reply_to", &receipt["in_reply_to"], id.as_str())?;
    equal("event", &receipt["event"], "bounced")?;
    equal("session", &receipt["session"], worker.session_id())?;
    equal("to", &receipt["to"], sender.address().as_str())
}

/// One stamp, two surfaces; beside it the Response of an ask, each with a key of its own.
async fn a_receipt_says_what_the_mailbox_says(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    let (worker, sender) = (fleet.worker.session().await?, fleet.sender.session().await?);
    let ask = sender.naming(fleet.ask(&worker.address()));
    let id = fleet.sender.agent.submitted(&ask).await?;
    worker.one(EntryKind::Message).await?;
    worker.close().await?;
    let (mut receipt, mut response) = (None, None);
    while receipt.is_none() || response.is_none() {
        for entry in sender.some().await? {
            match entry.kind {
                EntryKind::Receipt => receipt = Some(entry.json()?),
                EntryKind::Response => response = Some(entry.json()?),
                _ => {}
            }
            sender.acked(&entry).await?;
        }
    }
    let (receipt, response) = (receipt.unwrap_or_default(), response.unwrap_or_default());
    equal("prior", &receipt["prior"], "delivered")?;
    is_prior(&comes_to(&fleet, &id, "bounced").await?["mailbox"], "delivered")?;
    equal("resolution", &response["resolution"], "cancelled")?;
    equal("in_reply_to", &response["in_reply_to"], id.as_str())
}

/// They are only told; when their session dies nothing follows.
async fn receipts_and_responses_do_not_bounce(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    let (worker, sender) = (fleet.worker.session().await?, fleet.sender.session().await?);
    let sibling = fleet.sender.session().await?;
    let ask = sender.naming(fleet.ask(&worker.address()));
    let id = fleet.sender.agent.submitted(&ask).await?;
    worker.close().await?;
    undeliverable(&fleet, &id, "cancelled").await?;
    // Now there are a receipt and a Response for a session that dies.
    sender.close().await?;
    let last = fleet.worker.session().await?;
    let after = sibling.naming(fleet.notify(&last.address()));
    let after = fleet.sender.agent.submitted(&after).await?;
    last.close().await?;
    let receipt = sibling.one(EntryKind::Receipt).await?.json()?;
    equal("in_reply_to", &receipt["in_reply_to"], after.as_str())?;
    equal("status", &fleet.read(&id).await?["status"], "cancelled")
}

/// A sibling has it.
async fn mail_for_a_principal_survives_a_session(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    let (one, sibling) = (fleet.worker.session().await?, fleet.worker.session().await?);
    let kept = fleet
        .sender
        .agent
        .submitted(&fleet.notify(&fleet.worker.agent.address))
        .await?;
    let bounced = fleet
        .sender
        .agent
        .submitted(&fleet.notify(&one.address()))
        .await?;
    one.close().await?;
    comes_to(&fleet, &bounced, "bounced").await?;
    equal("state", &fleet.read(&kept).await?["mailbox"]["state"], "queued")?;
    let entry = sibling.one(EntryKind::Message).await?;
    equal("id", entry.ack_key()?.as_str(), kept.as_str())
}

/// A notify of which the time is over, and an ask.
async fn what_expired_unseen_was_never_delivered(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    let worker = fleet.worker.session().await?;
    for envelope in [fleet.notify(&worker.address()), fleet.ask(&worker.address())] {
        let soon = with(envelope, "/expires_at", json!(in_ms(2500)));
        let id = fleet.sender.agent.submitted(&soon).await?;
        let read = comes_to(&fleet, &id, "expired").await?;
        absent(&read["mailbox"], "/delivered_at")?;
        absent(&read["mailbox"], "/prior")?;
    }
    worker.is_empty().await
}

/// Nobody answered; but it was seen.
async fn what_was_seen_and_expired_stays_seen(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    let worker = fleet.worker.session().await?;
    let soon = with(fleet.ask(&worker.address()), "/expires_at", json!(in_ms(2500)));
    let id = fleet.sender.agent.submitted(&soon).await?;
    worker.one(EntryKind::Message).await?;
    let read = fleet.sender.agent.wait(&id, 20).await?;
    equal("status", &read["status"], "expired")?;
    equal("mailbox", &read["mailbox"]["state"], "delivered")
}

/// Neither the receipt nor the mailbox tells who ended the session.
async fn a_kill_looks_like_a_crash_to_the_sender(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    let (worker, sender) = (fleet.worker.session().await?, fleet.sender.session().await?);
    let notify = sender.naming(fleet.notify(&worker.address()));
    let id = fleet.sender.agent.submitted(&notify).await?;
    let killed = fleet
        .alice
        .delete(&format!("/v1/sessions/{}", worker.session_id()))
        .await?;
    holds((200..300).contains(&killed.status), || killed.told())?;
    let receipt = sender.one(EntryKind::Receipt).await?;
    let read = comes_to(&fleet, &id, "bounced").await?;
    for told in [receipt.payload, read.to_string()] {
        holds(
            !told.contains("operator") && !told.contains(&fleet.alice.id),
            || format!("it tells who: {told}"),
        )?;
    }
    let reply = fleet
        .sender
        .agent
        .submit(&fleet.notify(&worker.address()))
        .await?;
    reply
        .refused_as(&[(410, "destination_gone"), (422, "unknown_destination")])
        .map(drop)
}
