//! Directives: who writes them, to whom, and how they are signed (§9.7, §13).

use std::sync::Arc;

use ma2h::EntryKind;
use serde_json::{Value, json};

use crate::live::envelope::{in_ms, with};
use crate::live::fleet::Fleet;
use crate::live::leg::Leg;
use crate::live::mailbox::Drained;
use crate::live::registry::{Check, check};
use crate::live::stage::{Stage, pause};
use crate::live::verdict::{Proof, Tried, absent, equal, failed, holds, text};

pub(super) fn checks() -> Vec<Check> {
    [
        check("13.1", a_directive_is_drained_signed_and_well_formed),
        check("13.1", its_author_is_the_one_who_was_authenticated),
        check("13.1", a_directive_carries_what_was_written),
        check("13.1", a_directive_asks_and_orders_nothing),
        check("13.1", a_malformed_directive_is_refused),
        check("13.1", an_agent_writes_no_directives),
        check("13.2", a_directive_to_nobody_is_refused),
        check("13.2", a_directive_to_another_account_is_to_nobody),
        check("13.3", a_directive_that_expired_is_not_delivered).within(120),
        check("13.3", an_expiry_of_a_directive_lies_ahead),
        check("9.7", a_tampered_directive_does_not_verify),
        check("9.7", the_hubs_own_key_signs_as_well),
        check("14.2", a_directives_track_follows_the_evidence),
        check("14.3", to_consume_is_to_acknowledge_with_a_note),
    ]
    .into_iter()
    .map(|check| check.of(Leg::Inbound))
    .collect()
}

/// As its addressee must find it (§13.4), in the shape of §13.1.
async fn a_directive_is_drained_signed_and_well_formed(stage: Arc<Stage>) -> Proof {
    let fleet = stage.fleet().await?;
    let id = fleet.directed("Stop picking").await?;
    holds(id.starts_with("dir_"), || {
        format!("{id} is not in the namespace dir_")
    })?;
    let directive = fleet.worker.one(EntryKind::Directive).await?.json()?;
    equal("id", &directive["id"], id.as_str())?;
    equal("to", &directive["to"], fleet.worker.agent.address.as_str())?;
    equal("type", &directive["type"], "directive")
}

/// Whatever the body says of it.
async fn its_author_is_the_one_who_was_authenticated(stage: Arc<Stage>) -> Proof {
    let fleet = stage.fleet().await?;
    let body = json!({
        "to": fleet.worker.agent.address, "title": "Stop", "from": "human:mallory", "id": "dir_mine",
        "created_at": "2001-01-01T00:00:00Z",
    });
    let reply = fleet.alice.post("/v1/directives", &body).await?;
    if reply.status != 201 {
        // A hub may take nothing that is its own to say; whoever says only the rest is still the author.
        reply.refused_somehow()?;
        fleet.directed("Stop").await?;
    }
    let directive = fleet.worker.one(EntryKind::Directive).await?.json()?;
    equal("from", &directive["from"], fleet.alice.address.as_str())?;
    holds(directive["id"] != "dir_mine", || {
        "the author chose the id".to_owned()
    })
}

/// Title, body, priority, tags, context, and the rest of §13.1.
async fn a_directive_carries_what_was_written(stage: Arc<Stage>) -> Proof {
    let fleet = stage.fleet().await?;
    let mut body = json!({
        "to": fleet.worker.agent.address, "title": "Pick the plums", "body": "They *spoil* — 1.50 kg",
        "priority": "urgent", "tags": ["plums"], "sensitive": true,
        "context": [{"kind": "data", "data": {"kg": 1.5}}],
    });
    body["expires_at"] = json!(in_ms(600_000));
    fleet.alice.post("/v1/directives", &body).await?.expect(201)?;
    let directive = fleet.worker.one(EntryKind::Directive).await?.json()?;
    for (member, value) in body.as_object().into_iter().flatten() {
        equal(member, &directive[member.as_str()], value)?;
    }
    Ok(())
}

/// It has no request, no action, no state.
async fn a_directive_asks_and_orders_nothing(stage: Arc<Stage>) -> Proof {
    let fleet = stage.fleet().await?;
    for (member, value) in [
        ("request", json!({"mode": "confirm"})),
        ("action", json!({"instructions": "x"})),
        ("state", json!({"x": 1})),
    ] {
        let mut body = json!({"to": fleet.worker.agent.address, "title": "Stop"});
        body[member] = value;
        let reply = fleet.alice.post("/v1/directives", &body).await?;
        if reply.status == 201 {
            // To leave it out is as good as to refuse it.
            absent(
                &fleet.worker.one(EntryKind::Directive).await?.json()?,
                &format!("/{member}"),
            )?;
        } else {
            reply.refused_somehow()?;
        }
    }
    Ok(())
}

/// No title, too long a title, no addressee, an addressee that is none.
async fn a_malformed_directive_is_refused(stage: Arc<Stage>) -> Proof {
    let fleet = stage.fleet().await?;
    let good = json!({"to": fleet.worker.agent.address, "title": "Stop"});
    for bad in [
        json!({"to": fleet.worker.agent.address}),
        json!({"title": "Stop"}),
        with(good.clone(), "/title", json!("x".repeat(201))),
        with(good.clone(), "/to", json!("human:alice")),
        with(
            good.clone(),
            "/to",
            json!(format!("{}#7", fleet.worker.agent.address)),
        ),
        with(good, "/priority", json!("whenever")),
    ] {
        fleet
            .alice
            .post("/v1/directives", &bad)
            .await?
            .refused_somehow()?;
    }
    fleet.worker.is_empty().await
}

/// Only a human does.
async fn an_agent_writes_no_directives(stage: Arc<Stage>) -> Proof {
    let fleet = stage.fleet().await?;
    let body = json!({"to": fleet.worker.agent.address, "title": "Stop"});
    let reply = fleet.sender.agent.post("/v1/directives", &body).await?;
    reply.refused_as(&[(403, "not_authorized"), (404, "not_found")])?;
    fleet.worker.is_empty().await
}

/// 422 at once: nothing is parked for one who will never come.
async fn a_directive_to_nobody_is_refused(stage: Arc<Stage>) -> Proof {
    let fleet = stage.fleet().await?;
    let body = json!({"to": "agent:orchard/nobody", "title": "Stop"});
    fleet
        .alice
        .post("/v1/directives", &body)
        .await?
        .refused(422, "unknown_destination")?;
    if Leg::Sessions.offered_by(&stage.hub).is_ok() {
        let body = json!({"to": format!("{}#sess_unknown", fleet.worker.agent.address), "title": "Stop"});
        let refused = fleet.alice.post("/v1/directives", &body).await?;
        refused.refused_as(&[(422, "unknown_destination"), (422, "invalid_field")])?;
    }
    Ok(())
}

/// In the same words (§4).
async fn a_directive_to_another_account_is_to_nobody(stage: Arc<Stage>) -> Proof {
    let fleet = stage.fleet().await?;
    let foreign = stage.account().await?.agent("orchard/foreign", 0).await?;
    let mut said = Vec::new();
    for to in [foreign.address.as_str(), "agent:orchard/nothing"] {
        let body = json!({"to": to, "title": "Stop"});
        let reply = fleet.alice.post("/v1/directives", &body).await?;
        reply.refused(422, "unknown_destination")?;
        said.push(reply.text.replace(to, "…"));
    }
    equal("what is said", &said[0], &said[1])
}

/// The hub drops it; its track says that it was never seen.
async fn a_directive_that_expired_is_not_delivered(stage: Arc<Stage>) -> Proof {
    let fleet = stage.fleet().await?;
    let body = json!({"to": fleet.worker.agent.address, "title": "Soon over", "expires_at": in_ms(2500)});
    let said = fleet.alice.post("/v1/directives", &body).await?.expect(201)?;
    let id = text(&said, "/directive/id")?;
    let track = track_comes_to(&fleet, id, "expired").await?;
    absent(&track, "/delivered_at")?;
    fleet.worker.is_empty().await
}

/// When it is written.
async fn an_expiry_of_a_directive_lies_ahead(stage: Arc<Stage>) -> Proof {
    let fleet = stage.fleet().await?;
    let body = json!({"to": fleet.worker.agent.address, "title": "Over", "expires_at": in_ms(-1000)});
    fleet
        .alice
        .post("/v1/directives", &body)
        .await?
        .refused(422, "invalid_field")
        .map(drop)
}

/// In what is bound; and what is not bound does not matter.
async fn a_tampered_directive_does_not_verify(stage: Arc<Stage>) -> Proof {
    let fleet = stage.fleet().await?;
    fleet.directed("Honest").await?;
    let honest = fleet.worker.one(EntryKind::Directive).await?;
    for (pointer, value) in [
        ("/title", json!("Changed")),
        ("/body", json!("Added")),
        ("/from", json!("human:mallory")),
        ("/to", json!("agent:orchard/other")),
        ("/id", json!("dir_other")),
        ("/priority", json!("urgent")),
    ] {
        let tampered = Drained {
            payload: with(honest.json()?, pointer, value).to_string(),
            ..honest.clone()
        };
        if fleet.worker.verified(&tampered).is_ok() {
            return failed(format!("it verifies though {pointer} was changed"));
        }
    }
    Ok(())
}

/// Where an agent has no secret of its own for it.
async fn the_hubs_own_key_signs_as_well(stage: Arc<Stage>) -> Proof {
    let algorithms = stage.hub.capability["inbound"]["signature_algs"].to_string();
    if !algorithms.contains("ed25519") {
        return Err(crate::live::verdict::Verdict::NotOffered(
            "inbound.signature_algs has no ed25519".to_owned(),
        ));
    }
    let fleet = stage.fleet().await?;
    let agent = fleet.account.agent("orchard/keyless", 2).await?;
    let mailbox = crate::live::mailbox::Mailbox {
        agent,
        key: stage.hub_key().await?,
        session: None,
    };
    fleet.direct(&mailbox.agent.address, "Signed by the hub").await?;
    mailbox.one(EntryKind::Directive).await.map(drop)
}

async fn track_comes_to(fleet: &Fleet, id: &str, state: &str) -> Tried<Value> {
    loop {
        let track = fleet.track(id).await?;
        if track["state"] == state {
            return Ok(track);
        }
        pause().await;
    }
}

/// Queued, delivered by the drain, acknowledged by the ack; never sooner.
async fn a_directives_track_follows_the_evidence(stage: Arc<Stage>) -> Proof {
    let fleet = stage.fleet().await?;
    let said = fleet.direct(&fleet.worker.agent.address, "Followed").await?;
    equal("state at first", &said["delivery"]["state"], "queued")?;
    let id = text(&said, "/directive/id")?;
    equal("state before", &fleet.track(id).await?["state"], "queued")?;
    let entry = fleet.worker.one(EntryKind::Directive).await?;
    let delivered = fleet.track(id).await?;
    equal("state after the drain", &delivered["state"], "delivered")?;
    holds(delivered["delivered_at"].is_string(), || {
        format!("delivered, but when? {delivered}")
    })?;
    fleet.worker.acked(&entry).await?;
    let acknowledged = fleet.track(id).await?;
    equal("state after the ack", &acknowledged["state"], "acknowledged")?;
    equal(
        "delivered_at",
        &acknowledged["delivered_at"],
        &delivered["delivered_at"],
    )
}

/// The note reaches the human.
async fn to_consume_is_to_acknowledge_with_a_note(stage: Arc<Stage>) -> Proof {
    let fleet = stage.fleet().await?;
    let id = fleet.directed("Answer me").await?;
    fleet.worker.one(EntryKind::Directive).await?;
    let body = json!({"ids": [id], "note": "On it — at once"});
    fleet.worker.ack_with(&body).await?.expect(200)?;
    let track = fleet.track(&id).await?;
    equal("state", &track["state"], "acknowledged")?;
    equal("note", &track["ack"]["note"], "On it — at once")?;
    equal("by", &track["ack"]["by"], fleet.worker.agent.address.as_str())
}
