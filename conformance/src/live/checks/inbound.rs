//! The mailbox that directives lie in (§8.7, dp-007).

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ma2h::EntryKind;
use serde_json::json;

use crate::live::leg::Leg;
use crate::live::registry::{Check, check};
use crate::live::stage::Stage;
use crate::live::verdict::{Proof, equal, holds};

pub(super) fn checks() -> Vec<Check> {
    [
        check("13.3", a_directive_is_kept_until_it_is_acked).within(120),
        check("8.7", a_drained_directive_is_hidden),
        check("8.7", a_drained_directive_comes_again_when_its_window_is_over).within(120),
        check("9.7", each_delivery_is_signed_anew).within(120),
        check("8.7", an_acked_directive_is_gone).within(120),
        check("8.7", to_ack_again_or_the_unknown_is_no_error),
        check("8.7", anothers_entry_is_not_acked_and_not_told_of).within(120),
        check("8.7", another_agent_drains_its_own_mailbox_only),
        check("8.7", first_deliveries_are_in_order),
        check("8.7", a_batch_is_no_larger_than_asked),
        check("8.7", a_batch_is_no_larger_than_advertised),
        check("8.7", a_waiting_drain_returns_with_the_directive),
        check("8.7", a_waiting_drain_ends_empty),
        check("8.7", a_malformed_ack_is_refused),
    ]
    .into_iter()
    .map(|check| check.of(Leg::Inbound))
    .collect()
}

/// However often it was drained.
async fn a_directive_is_kept_until_it_is_acked(stage: Arc<Stage>) -> Proof {
    stage.visibility_seconds()?;
    let fleet = stage.fleet().await?;
    let id = fleet.directed("Keep me").await?;
    for _ in 0..3 {
        let entry = fleet.worker.one(EntryKind::Directive).await?;
        equal("id", entry.ack_key()?.as_str(), id.as_str())?;
    }
    Ok(())
}

/// From every drain, while it is in flight.
async fn a_drained_directive_is_hidden(stage: Arc<Stage>) -> Proof {
    let fleet = stage.fleet().await?;
    let started = Instant::now();
    fleet.directed("Once").await?;
    fleet.worker.one(EntryKind::Directive).await?;
    let window = stage
        .hub
        .states("/inbound/visibility_timeout_seconds")
        .unwrap_or(u64::MAX);
    let again = fleet.worker.drain().await?;
    let in_time = started.elapsed() < Duration::from_secs(window);
    holds(again.is_empty() || !in_time, || {
        format!("it came again within its window: {again:?}")
    })
}

/// And not sooner.
async fn a_drained_directive_comes_again_when_its_window_is_over(stage: Arc<Stage>) -> Proof {
    let window = stage.visibility_seconds()?;
    let fleet = stage.fleet().await?;
    let id = fleet.directed("Twice").await?;
    let first = Instant::now();
    fleet.worker.one(EntryKind::Directive).await?;
    let again = fleet.worker.one(EntryKind::Directive).await?;
    equal("id", again.ack_key()?.as_str(), id.as_str())?;
    // A clock may tick between the two looks.
    let least = Duration::from_secs(window).mul_f64(0.8);
    let took = first.elapsed();
    holds(took >= least, || {
        format!("it came again after {} ms", took.as_millis())
    })
}

/// So that what has lain long is fresh where it arrives.
async fn each_delivery_is_signed_anew(stage: Arc<Stage>) -> Proof {
    stage.visibility_seconds()?;
    let fleet = stage.fleet().await?;
    fleet.directed("Signed twice").await?;
    let one = fleet.worker.one(EntryKind::Directive).await?;
    let two = fleet.worker.one(EntryKind::Directive).await?;
    equal("payload", two.payload.as_str(), one.payload.as_str())?;
    holds(one.jti()? != two.jti()?, || "a nonce was used twice".to_owned())
}

/// For good.
async fn an_acked_directive_is_gone(stage: Arc<Stage>) -> Proof {
    let window = stage.visibility_seconds()?;
    let fleet = stage.fleet().await?;
    fleet.directed("Done with").await?;
    let entry = fleet.worker.one(EntryKind::Directive).await?;
    fleet.worker.acked(&entry).await?;
    // It would come again within this.
    let drained = fleet.worker.drain_with(&format!("wait={}", window + 1)).await?;
    equal("entries", &drained.len(), &0)
}

/// 200 with a count, and nothing happens.
async fn to_ack_again_or_the_unknown_is_no_error(stage: Arc<Stage>) -> Proof {
    let fleet = stage.fleet().await?;
    let id = fleet.directed("Twice acked").await?;
    fleet.worker.one(EntryKind::Directive).await?;
    for keys in [
        vec![id.clone()],
        vec![id],
        vec!["dir_unknown".to_owned(), "nonsense".to_owned()],
        Vec::new(),
    ] {
        let reply = fleet.worker.ack(&keys).await?;
        if keys.is_empty() && reply.status != 200 {
            reply.refused_somehow()?;
            continue;
        }
        let said = reply.expect(200)?;
        holds(said["acked"].is_u64(), || {
            format!("acked: expected a count in {said}")
        })?;
    }
    Ok(())
}

/// It is an unknown id, and stays where it is.
async fn anothers_entry_is_not_acked_and_not_told_of(stage: Arc<Stage>) -> Proof {
    let fleet = stage.fleet().await?;
    let id = fleet.directed("Not yours").await?;
    let foreign = fleet.sender.ack(std::slice::from_ref(&id)).await?;
    let unknown = "dir_01J00000000000000000000000";
    let unknown = fleet.sender.ack(&[unknown.to_owned()]).await?.but_for(unknown);
    equal("what is said", &foreign.but_for(&id), &unknown)?;
    let entry = fleet.worker.one(EntryKind::Directive).await?;
    equal("id", entry.ack_key()?.as_str(), id.as_str())
}

/// Whatever it asks for.
async fn another_agent_drains_its_own_mailbox_only(stage: Arc<Stage>) -> Proof {
    let fleet = stage.fleet().await?;
    fleet.directed("For the worker").await?;
    fleet.sender.is_empty().await?;
    let query = format!("agent={}", crate::live::api::segment(&fleet.worker.agent.id));
    let reply = fleet.sender.ask(&query).await?;
    holds(!reply.text.contains("For the worker"), || reply.told())?;
    stage
        .anonymous()
        .get("/v1/inbox")
        .await?
        .refused(401, "unauthenticated")?;
    fleet.worker.one(EntryKind::Directive).await.map(drop)
}

/// First in, first out.
async fn first_deliveries_are_in_order(stage: Arc<Stage>) -> Proof {
    let fleet = stage.fleet().await?;
    let mut sent = Vec::new();
    for at in 0..6 {
        sent.push(fleet.directed(&format!("Number {at}")).await?);
    }
    let mut drained = Vec::new();
    while drained.len() < sent.len() {
        for entry in fleet.worker.some().await? {
            drained.push(entry.ack_key()?);
        }
    }
    equal("order", &drained, &sent)
}

/// `max=`.
async fn a_batch_is_no_larger_than_asked(stage: Arc<Stage>) -> Proof {
    let fleet = stage.fleet().await?;
    for at in 0..3 {
        fleet.directed(&format!("Number {at}")).await?;
    }
    let mut seen = BTreeSet::new();
    for _ in 0..3 {
        let drained = fleet.worker.drain_with("max=1").await?;
        equal("entries", &drained.len(), &1)?;
        seen.insert(drained[0].ack_key()?);
    }
    equal("different entries", &seen.len(), &3)
}

/// `inbound.max_batch`, whatever is asked.
async fn a_batch_is_no_larger_than_advertised(stage: Arc<Stage>) -> Proof {
    let max = stage.hub.states("/inbound/max_batch").unwrap_or(u64::MAX);
    if max > 64 {
        return crate::live::verdict::skipped(format!("a batch of {max} is not filled"));
    }
    let fleet = stage.fleet().await?;
    for at in 0..=max {
        fleet.directed(&format!("Number {at}")).await?;
    }
    let reply = fleet.worker.ask("max=100000").await?;
    if reply.status != 200 {
        return reply.refused_somehow();
    }
    let count = reply.json()?["messages"].as_array().map_or(0, Vec::len) as u64;
    holds(count <= max, || format!("{count} entries, advertised are {max}"))
}

/// Long before its time is up.
async fn a_waiting_drain_returns_with_the_directive(stage: Arc<Stage>) -> Proof {
    let fleet = stage.fleet().await?;
    let started = Instant::now();
    let author = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        fleet.directed("At last").await
    };
    let (drained, directed) = tokio::join!(fleet.worker.drain_with("wait=50"), author);
    directed?;
    equal("entries", &drained?.len(), &1)?;
    holds(started.elapsed() < Duration::from_secs(20), || {
        "it waited on".to_owned()
    })
}

/// 200 with nothing.
async fn a_waiting_drain_ends_empty(stage: Arc<Stage>) -> Proof {
    let fleet = stage.fleet().await?;
    let started = Instant::now();
    equal("entries", &fleet.worker.drain_with("wait=1").await?.len(), &0)?;
    holds(started.elapsed() < Duration::from_secs(15), || {
        "it waited on".to_owned()
    })
}

/// As any malformed body.
async fn a_malformed_ack_is_refused(stage: Arc<Stage>) -> Proof {
    let fleet = stage.fleet().await?;
    for body in [
        json!({}),
        json!({"ids": "dir_1"}),
        json!({"ids": [7]}),
        json!([]),
        json!({"ids": [], "note": 7}),
    ] {
        let reply = fleet.worker.ack_with(&body).await?;
        reply.refused_as(&[(400, "validation_error"), (422, "invalid_field")])?;
    }
    Ok(())
}
