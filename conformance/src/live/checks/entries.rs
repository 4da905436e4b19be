//! What agents find in their mailboxes of each other (§8.7.1, §9.8, dp-020).

use std::sync::Arc;

use futures_util::future::join_all;
use ma2h::EntryKind;
use serde_json::json;

use crate::live::envelope::with;
use crate::live::leg::Leg;
use crate::live::mailbox::{Drained, Mailbox};
use crate::live::registry::{Check, check};
use crate::live::stage::Stage;
use crate::live::verdict::{Proof, absent, equal, failed, holds, list};

pub(super) fn checks() -> Vec<Check> {
    [
        check("8.7.1", a_message_is_drained_signed_and_well_formed),
        check("8.7.1", its_sender_is_attested_with_the_session_it_named),
        check("8.7.1", what_is_the_senders_own_is_taken_off),
        check("8.7.1", a_drain_without_a_session_has_directives_only),
        check("8.7.1", a_sessions_mail_is_for_that_session),
        check("8.7.1", a_principals_mail_is_claimed_once),
        check("8.7.1", a_sibling_rescues_what_was_claimed_and_not_acked).within(120),
        check("8.7.1", an_acked_message_is_acknowledged_to_its_sender),
        check("8.7.1", a_response_comes_to_the_session_that_asked),
        check("8.7.1", to_ack_a_response_is_to_acknowledge_it),
        check("8.7.1", without_a_live_session_a_response_is_pulled),
        check("9.8", each_delivery_of_an_entry_is_signed_anew).within(120),
        check("9.8", a_tampered_entry_does_not_verify),
        check("9.8", a_response_is_signed_for_its_session),
        check("8.7.1", mail_between_agents_is_not_in_the_triage_inbox),
        check("8.7.1", mail_between_agents_can_be_read_by_the_human),
        check("13.2", a_directive_may_be_for_a_session),
    ]
    .into_iter()
    .map(|check| check.of(Leg::InterAgent))
    .collect()
}

/// As its addressee must find it, for each verb.
async fn a_message_is_drained_signed_and_well_formed(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    let worker = fleet.worker.session().await?;
    for envelope in [
        fleet.notify(&worker.address()),
        fleet.ask(&worker.address()),
        fleet.task(&worker.address()),
    ] {
        let id = fleet.sender.agent.submitted(&envelope).await?;
        let entry = worker.one(EntryKind::Message).await?;
        let message = entry.json()?;
        equal("id", &message["id"], id.as_str())?;
        for member in [
            "type",
            "to",
            "title",
            "request",
            "action",
            "idempotency_key",
            "agent",
            "ma2h_version",
        ] {
            equal(member, &message[member], &envelope[member])?;
        }
        worker.acked(&entry).await?;
    }
    Ok(())
}

/// Exactly that one, and none where it named none; never what the envelope says of it.
async fn its_sender_is_attested_with_the_session_it_named(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    let worker = fleet.worker.session().await?;
    let sender = fleet.sender.session().await?;
    let forged = with(fleet.notify(&worker.address()), "/from", json!("human:alice"));
    for (envelope, from) in [
        (sender.naming(fleet.notify(&worker.address())), sender.address()),
        (
            fleet.notify(&worker.address()),
            fleet.sender.agent.address.clone(),
        ),
        (forged, fleet.sender.agent.address.clone()),
    ] {
        fleet.sender.agent.submitted(&envelope).await?;
        let entry = worker.one(EntryKind::Message).await?;
        equal("from", &entry.json()?["from"], from.as_str())?;
        worker.acked(&entry).await?;
    }
    Ok(())
}

/// State, label and callback.
async fn what_is_the_senders_own_is_taken_off(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    let worker = fleet.worker.session().await?;
    let hidden = json!({"hidden": "pip-kernel-14"});
    let pull = json!({"mode": "pull"});
    for (envelope, callback) in [
        (fleet.ask(&worker.address()), "/request/callback"),
        (fleet.task(&worker.address()), "/action/callback"),
    ] {
        let envelope = with(
            with(envelope, "/state", hidden.clone()),
            "/client_ref",
            json!("pip-label"),
        );
        fleet
            .sender
            .agent
            .submitted(&with(envelope, callback, pull.clone()))
            .await?;
        let entry = worker.one(EntryKind::Message).await?;
        let message = entry.json()?;
        for pointer in ["/state", "/client_ref", callback] {
            absent(&message, pointer)?;
        }
        worker.acked(&entry).await?;
    }
    Ok(())
}

/// An older reader never sees what it does not know.
async fn a_drain_without_a_session_has_directives_only(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    fleet
        .sender
        .agent
        .submitted(&fleet.notify(&fleet.worker.agent.address))
        .await?;
    fleet.directed("For everybody").await?;
    for entry in fleet.worker.some().await? {
        equal("kind", &entry.kind, &EntryKind::Directive)?;
    }
    let session = fleet.worker.session().await?;
    session.first(EntryKind::Message).await.map(drop)
}

/// Not for a sibling.
async fn a_sessions_mail_is_for_that_session(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    let (addressee, sibling) = (fleet.worker.session().await?, fleet.worker.session().await?);
    fleet
        .sender
        .agent
        .submitted(&fleet.notify(&addressee.address()))
        .await?;
    sibling.is_empty().await?;
    addressee.one(EntryKind::Message).await.map(drop)
}

/// By whichever session comes first, of many at once.
async fn a_principals_mail_is_claimed_once(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    let mut sessions = Vec::new();
    for _ in 0..4 {
        sessions.push(fleet.worker.session().await?);
    }
    for _ in 0..5 {
        let id = fleet
            .sender
            .agent
            .submitted(&fleet.notify(&fleet.worker.agent.address))
            .await?;
        let drained = join_all(sessions.iter().chain(&sessions).map(Mailbox::drain)).await;
        let mut claims = 0;
        for entries in drained {
            for entry in entries? {
                if entry.ack_key()? == id {
                    claims += 1;
                }
                fleet.worker.acked(&entry).await?;
            }
        }
        equal("claims", &claims, &1)?;
    }
    Ok(())
}

/// Once its window is over.
async fn a_sibling_rescues_what_was_claimed_and_not_acked(stage: Arc<Stage>) -> Proof {
    stage.visibility_seconds()?;
    let fleet = stage.talking_fleet().await?;
    let (first, sibling) = (fleet.worker.session().await?, fleet.worker.session().await?);
    let id = fleet
        .sender
        .agent
        .submitted(&fleet.notify(&fleet.worker.agent.address))
        .await?;
    first.one(EntryKind::Message).await?;
    first.close().await?;
    let entry = sibling.one(EntryKind::Message).await?;
    equal("id", entry.ack_key()?.as_str(), id.as_str())
}

/// Queued, delivered, acknowledged: on the evidence.
async fn an_acked_message_is_acknowledged_to_its_sender(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    let worker = fleet.worker.session().await?;
    for (envelope, is_notify) in [
        (fleet.notify(&worker.address()), true),
        (fleet.ask(&worker.address()), false),
    ] {
        let id = fleet.sender.agent.submitted(&envelope).await?;
        equal("before", &fleet.read(&id).await?["mailbox"]["state"], "queued")?;
        let entry = worker.one(EntryKind::Message).await?;
        let read = fleet.read(&id).await?;
        equal("after the drain", &read["mailbox"]["state"], "delivered")?;
        let note = json!({"ids": [entry.ack_key()?], "note": "Got it"});
        worker.ack_with(&note).await?.expect(200)?;
        let read = fleet.read(&id).await?;
        equal("after the ack", &read["mailbox"]["state"], "acknowledged")?;
        equal(
            "status",
            &read["status"],
            if is_notify { "acknowledged" } else { "open" },
        )?;
    }
    Ok(())
}

/// Signed for it, the very Response that is pulled.
async fn a_response_comes_to_the_session_that_asked(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    let sender = fleet.sender.session().await?;
    let ask = sender.naming(fleet.ask(&fleet.worker.agent.address));
    let id = fleet
        .sender
        .agent
        .submitted(&with(ask, "/state", json!({"step": 7})))
        .await?;
    fleet.worker.agent.answer(&id, "approve").await?.expect(200)?;
    let entry = sender.one(EntryKind::Response).await?;
    equal("response", &entry.json()?, &fleet.read(&id).await?["response"])?;
    // Also for an ask to humans.
    let ask = crate::live::envelope::confirm(&fleet.sender.agent.id, &fleet.alice.address);
    sender.acked(&entry).await?;
    let id = fleet.sender.agent.submitted(&sender.naming(ask)).await?;
    fleet.alice.answer(&id, "deny").await?.expect(200)?;
    let entry = sender.one(EntryKind::Response).await?;
    equal("in_reply_to", &entry.json()?["in_reply_to"], id.as_str())
}

/// By the resolution's id; the first acknowledgement wins.
async fn to_ack_a_response_is_to_acknowledge_it(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    let sender = fleet.sender.session().await?;
    let ask = sender.naming(fleet.ask(&fleet.worker.agent.address));
    let id = fleet.sender.agent.submitted(&ask).await?;
    fleet.worker.agent.answer(&id, "approve").await?.expect(200)?;
    let entry = sender.one(EntryKind::Response).await?;
    sender.acked(&entry).await?;
    equal(
        "delivery",
        &fleet.read(&id).await?["delivery"]["state"],
        "acknowledged",
    )?;
    let path = format!("/v1/messages/{id}/ack");
    let said = fleet
        .sender
        .agent
        .post(&path, &json!({"note": "too late"}))
        .await?
        .expect(200)?;
    absent(&said, "/note")
}

/// And nothing bounces (§6).
async fn without_a_live_session_a_response_is_pulled(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    let (asking, other) = (fleet.sender.session().await?, fleet.sender.session().await?);
    let ask = asking.naming(fleet.ask(&fleet.worker.agent.address));
    let id = fleet.sender.agent.submitted(&ask).await?;
    asking.close().await?;
    fleet.worker.agent.answer(&id, "approve").await?.expect(200)?;
    equal("status", &fleet.read(&id).await?["status"], "answered")?;
    other.is_empty().await
}

/// With another nonce, over the same payload (dp-018).
async fn each_delivery_of_an_entry_is_signed_anew(stage: Arc<Stage>) -> Proof {
    stage.visibility_seconds()?;
    let fleet = stage.talking_fleet().await?;
    let worker = fleet.worker.session().await?;
    fleet
        .sender
        .agent
        .submitted(&fleet.ask(&worker.address()))
        .await?;
    let one = worker.one(EntryKind::Message).await?;
    let two = worker.one(EntryKind::Message).await?;
    equal("payload", one.payload.as_str(), two.payload.as_str())?;
    holds(one.jti()? != two.jti()?, || "a nonce was used twice".to_owned())
}

/// In what is bound.
async fn a_tampered_entry_does_not_verify(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    let worker = fleet.worker.session().await?;
    fleet
        .sender
        .agent
        .submitted(&fleet.ask(&worker.address()))
        .await?;
    let honest = worker.one(EntryKind::Message).await?;
    for (pointer, value) in [
        ("/title", json!("Changed")),
        ("/type", json!("task")),
        ("/from", json!("agent:orchard/imposter")),
        ("/to", json!(fleet.worker.agent.address)),
        ("/id", json!("msg_other")),
        ("/request/mode", json!("select")),
        ("/sensitive", json!(true)),
    ] {
        let tampered = Drained {
            payload: with(honest.json()?, pointer, value).to_string(),
            ..honest.clone()
        };
        if worker.verified(&tampered).is_ok() {
            return failed(format!("it verifies though {pointer} was changed"));
        }
    }
    Ok(())
}

/// At another session of the same agent it is not to be believed (dp-014).
async fn a_response_is_signed_for_its_session(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    let (sender, sibling) = (fleet.sender.session().await?, fleet.sender.session().await?);
    let ask = sender.naming(fleet.ask(&fleet.worker.agent.address));
    let id = fleet.sender.agent.submitted(&ask).await?;
    fleet.worker.agent.answer(&id, "approve").await?.expect(200)?;
    let entry = sender.one(EntryKind::Response).await?;
    holds(sibling.verified(&entry).is_err(), || {
        "it verifies at another session".to_owned()
    })
}

/// Unless one asks for it.
async fn mail_between_agents_is_not_in_the_triage_inbox(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    let id = fleet
        .sender
        .agent
        .submitted(&fleet.ask(&fleet.worker.agent.address))
        .await?;
    let inbox = fleet.alice.get("/v1/messages").await?.expect(200)?;
    let ids = list(&inbox, "/messages")?
        .iter()
        .filter(|message| message["id"] == id.as_str());
    equal("times it is listed", &ids.count(), &0)
}

/// The operator owns the account.
async fn mail_between_agents_can_be_read_by_the_human(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    let id = fleet
        .sender
        .agent
        .submitted(&fleet.ask(&fleet.worker.agent.address))
        .await?;
    equal("id", &fleet.alice.read(&id).await?["id"], id.as_str())?;
    let all = fleet
        .alice
        .get("/v1/messages?addressed=true")
        .await?
        .expect(200)?;
    let found = list(&all, "/messages")?
        .iter()
        .any(|message| message["id"] == id.as_str());
    holds(found, || format!("it is in no list: {all}"))
}

/// Then no drain without that session shows it.
async fn a_directive_may_be_for_a_session(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    let session = fleet.worker.session().await?;
    fleet.direct(&session.address(), "For one run").await?;
    fleet.worker.is_empty().await?;
    let entry = session.one(EntryKind::Directive).await?;
    equal("to", &entry.json()?["to"], session.address().as_str())
}
