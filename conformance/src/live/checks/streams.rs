//! The mailbox as a stream of events (§8.7.2, dp-021).

use std::sync::Arc;
use std::time::{Duration, Instant};

use ma2h::EntryKind;
use serde_json::json;

use crate::live::leg::Leg;
use crate::live::mailbox::{Drained, Mailbox};
use crate::live::registry::{Check, check};
use crate::live::sse::Events;
use crate::live::stage::{Stage, pause};
use crate::live::verdict::{Proof, Tried, equal, holds, skipped, text};

pub(super) fn checks() -> Vec<Check> {
    [
        check("8.7.2", a_stream_brings_entries_signed_for_the_session).of(Leg::InterAgent),
        check("8.7.2", a_stream_alone_delivers_nothing),
        check("8.7.2", what_was_streamed_and_not_acked_comes_again).within(120),
        check("8.7.2", a_stream_is_closed_at_its_bound).within(180),
        check("8.7.2", a_stream_is_closed_before_the_lease_ends).within(180),
        check("8.7.2", an_open_stream_does_not_renew).within(180),
        check("8.7.2", a_reconnect_renews).within(180),
        check("16.3", a_stream_of_an_ended_session_is_gone),
        check("8.7.2", a_stream_ends_with_its_session),
    ]
    .into_iter()
    .map(|check| check.of(Leg::Stream))
    .collect()
}

/// Opens the stream of a session.
async fn open(session: &Mailbox) -> Tried<Events> {
    let query = format!("?session={}", session.session_id());
    Events::open(&session.agent, &format!("/v1/inbox/stream{query}")).await
}

/// The next entry, believed.
async fn next(events: &mut Events, session: &Mailbox) -> Tried<Drained> {
    loop {
        let Some(event) = events.next().await? else {
            return crate::live::verdict::failed("the stream ended without an entry");
        };
        if event.name == "entry" {
            let entry = Drained::parse(&event.data)?;
            session.believe(&entry)?;
            equal("id of the event", event.id.as_str(), entry.ack_key()?.as_str())?;
            return Ok(entry);
        }
    }
}

/// Of each kind, as a drain would.
async fn a_stream_brings_entries_signed_for_the_session(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    let session = fleet.worker.session().await?;
    let mut events = open(&session).await?;
    fleet.directed("Streamed").await?;
    let entry = next(&mut events, &session).await?;
    equal("kind", &entry.kind, &EntryKind::Directive)?;
    session.acked(&entry).await?;
    let id = fleet
        .sender
        .agent
        .submitted(&fleet.notify(&session.address()))
        .await?;
    let entry = next(&mut events, &session).await?;
    equal("id", entry.ack_key()?.as_str(), id.as_str())
}

/// It stays `queued` until the client gives a sign; an ack is one.
async fn a_stream_alone_delivers_nothing(stage: Arc<Stage>) -> Proof {
    let fleet = stage.fleet().await?;
    let session = fleet.worker.session().await?;
    let mut events = open(&session).await?;
    let id = fleet.directed("Into the socket").await?;
    let entry = next(&mut events, &session).await?;
    equal("state", &fleet.track(&id).await?["state"], "queued")?;
    session.acked(&entry).await?;
    equal("state", &fleet.track(&id).await?["state"], "acknowledged")
}

/// To whoever drains, and its track had never left `queued`.
async fn what_was_streamed_and_not_acked_comes_again(stage: Arc<Stage>) -> Proof {
    stage.visibility_seconds()?;
    let fleet = stage.fleet().await?;
    let session = fleet.worker.session().await?;
    let mut events = open(&session).await?;
    let id = fleet.directed("Into a dead socket").await?;
    let one = next(&mut events, &session).await?;
    drop(events);
    equal("state", &fleet.track(&id).await?["state"], "queued")?;
    let two = session.one(EntryKind::Directive).await?;
    equal("payload", one.payload.as_str(), two.payload.as_str())?;
    equal("state", &fleet.track(&id).await?["state"], "delivered")
}

/// How long a hub holds a stream, at most.
fn hold(stage: &Stage) -> Tried<Duration> {
    match stage.hub.states("/inbound/stream_max_hold_seconds") {
        Some(seconds) if seconds <= 60 => Ok(Duration::from_secs(seconds)),
        Some(seconds) => skipped(format!("a stream that is held {seconds} s is not waited for")),
        None => skipped("the capability document has no stream_max_hold_seconds"),
    }
}

/// The client's reconnect is the sign of life.
async fn a_stream_is_closed_at_its_bound(stage: Arc<Stage>) -> Proof {
    let hold = hold(&stage)?;
    let fleet = stage.fleet().await?;
    let session = fleet.worker.session().await?;
    let started = Instant::now();
    open(&session).await?.ended().await?;
    let took = started.elapsed();
    holds(took <= hold + Duration::from_secs(5), || {
        format!("held {} s", took.as_secs())
    })
}

/// With time to come back, where the lease is shorter than the hold.
async fn a_stream_is_closed_before_the_lease_ends(stage: Arc<Stage>) -> Proof {
    let ttl = stage.shortest_lease_seconds()?;
    let fleet = stage.fleet().await?;
    let session = fleet.worker.register(&json!({"ttl_seconds": ttl})).await?;
    let session = fleet.worker.of_session(&session.id);
    for _ in 0..2 {
        open(&session).await?.ended().await?;
        equal(
            "state when the stream was closed",
            &session.lease().await?["state"],
            "active",
        )?;
    }
    Ok(())
}

/// A socket that merely stands is no sign: nobody comes back, and the lease lapses.
async fn an_open_stream_does_not_renew(stage: Arc<Stage>) -> Proof {
    let ttl = stage.shortest_lease_seconds()?;
    let fleet = stage.fleet().await?;
    let session = fleet.worker.register(&json!({"ttl_seconds": ttl})).await?;
    let session = fleet.worker.of_session(&session.id);
    let events = open(&session).await?;
    let end = text(&session.lease().await?, "/expires_at")?.to_owned();
    while session.lease().await?["state"] == "active" {
        equal(
            "expires_at",
            text(&session.lease().await?, "/expires_at")?,
            end.as_str(),
        )?;
        pause().await;
    }
    drop(events);
    equal("state", &session.lease().await?["state"], "expired")
}

/// Each connect moves the end of the lease.
async fn a_reconnect_renews(stage: Arc<Stage>) -> Proof {
    let fleet = stage.fleet().await?;
    let session = fleet.worker.session().await?;
    let mut end = text(&session.lease().await?, "/expires_at")?.to_owned();
    for _ in 0..2 {
        tokio::time::sleep(Duration::from_millis(1100)).await;
        drop(open(&session).await?);
        let lease = session.lease().await?;
        let later = text(&lease, "/expires_at")?;
        holds(later > end.as_str(), || {
            format!("not renewed: {end}, then {later}")
        })?;
        later.clone_into(&mut end);
    }
    Ok(())
}

/// 410, a foreign one 404.
async fn a_stream_of_an_ended_session_is_gone(stage: Arc<Stage>) -> Proof {
    let fleet = stage.fleet().await?;
    let session = fleet.worker.session().await?;
    let path = format!("/v1/inbox/stream?session={}", session.session_id());
    fleet.sender.agent.get(&path).await?.refused(404, "not_found")?;
    session.close().await?;
    session.agent.get(&path).await?.refused(410, "gone")?;
    let killed = fleet.sender.session().await?;
    fleet
        .alice
        .delete(&format!("/v1/sessions/{}", killed.session_id()))
        .await?;
    let path = format!("/v1/inbox/stream?session={}", killed.session_id());
    killed
        .agent
        .get(&path)
        .await?
        .refused(410, "session_closed_by_operator")
        .map(drop)
}

/// Nobody reads on after a kill.
async fn a_stream_ends_with_its_session(stage: Arc<Stage>) -> Proof {
    let fleet = stage.fleet().await?;
    let session = fleet.worker.session().await?;
    let events = open(&session).await?;
    let started = Instant::now();
    session.close().await?;
    events.ended().await?;
    holds(started.elapsed() < Duration::from_secs(10), || {
        "it stood on".to_owned()
    })
}
