//! Who resolves a message between agents (§6, §8.8, §9.1, dp-024).

use std::sync::Arc;

use serde_json::json;

use crate::live::api::Reply;
use crate::live::envelope::with;
use crate::live::leg::Leg;
use crate::live::mailbox::Mailbox;
use crate::live::registry::{Check, check};
use crate::live::stage::Stage;
use crate::live::verdict::{Proof, Tried, equal};

/// Refusing one who may see the message, and one who may not.
const EITHER: [(u16, &str); 2] = [(403, "not_authorized"), (404, "not_found")];

pub(super) fn checks() -> Vec<Check> {
    [
        check("9.1", the_addressee_resolves),
        check("9.1", the_submitter_does_not_resolve_what_it_sent),
        check("9.1", a_human_resolves_only_where_she_is_listed),
        check("9.1", a_third_agent_does_not_resolve),
        check("9.1", a_principal_matches_under_any_session),
        check("9.1", a_session_matches_itself_only),
        check("8.8", the_session_presented_is_in_the_actor),
    ]
    .into_iter()
    .map(|check| check.of(Leg::InterAgent))
    .collect()
}

/// As this session, or as the bare principal.
async fn approve(resolver: &Mailbox, id: &str) -> Tried<Reply> {
    let body = json!({"resolution": "answered", "value": "approve"});
    let query = match &resolver.session {
        Some(session) => format!("?session={session}"),
        None => String::new(),
    };
    resolver
        .agent
        .post(&format!("/v1/messages/{id}/resolve{query}"), &body)
        .await
}

/// An ask and a task, with no list.
async fn the_addressee_resolves(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    let id = fleet
        .sender
        .agent
        .submitted(&fleet.ask(&fleet.worker.agent.address))
        .await?;
    approve(&fleet.worker, &id).await?.expect(200)?;
    let read = fleet.read(&id).await?;
    equal(
        "actor",
        &read["response"]["response"]["actor"],
        fleet.worker.agent.address.as_str(),
    )?;
    let id = fleet
        .sender
        .agent
        .submitted(&fleet.task(&fleet.worker.agent.address))
        .await?;
    let body = json!({"resolution": "completed", "comment": "done"});
    fleet.worker.agent.resolve(&id, &body).await?.expect(200)?;
    equal("status", &fleet.read(&id).await?["status"], "completed")
}

/// It is the one party who must not answer.
async fn the_submitter_does_not_resolve_what_it_sent(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    let id = fleet
        .sender
        .agent
        .submitted(&fleet.ask(&fleet.worker.agent.address))
        .await?;
    approve(&fleet.sender, &id).await?.refused_as(&EITHER)?;
    approve(&fleet.sender.session().await?, &id)
        .await?
        .refused_as(&EITHER)?;
    equal("status", &fleet.read(&id).await?["status"], "open")
}

/// She does not speak for an agent.
async fn a_human_resolves_only_where_she_is_listed(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    let ask = fleet.ask(&fleet.worker.agent.address);
    let id = fleet.sender.agent.submitted(&ask).await?;
    fleet.alice.answer(&id, "approve").await?.refused_as(&EITHER)?;
    let listed = with(ask, "/request/allowed_resolvers", json!([fleet.alice.address]));
    let id = fleet
        .sender
        .agent
        .submitted(&with(listed, "/idempotency_key", json!("listed")))
        .await?;
    fleet.alice.answer(&id, "approve").await?.expect(200).map(drop)
}

/// 404 or 403.
async fn a_third_agent_does_not_resolve(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    let third = fleet.account.agent("orchard/third", 2).await?;
    let id = fleet
        .sender
        .agent
        .submitted(&fleet.ask(&fleet.worker.agent.address))
        .await?;
    third.answer(&id, "approve").await?.refused_as(&EITHER)?;
    equal("status", &fleet.read(&id).await?["status"], "open")
}

/// A session-addressed ask too: its addressee is the principal.
async fn a_principal_matches_under_any_session(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    let (one, two) = (fleet.worker.session().await?, fleet.worker.session().await?);
    for (at, resolver) in [&one, &two, &fleet.worker].into_iter().enumerate() {
        let ask = with(
            fleet.ask(&one.address()),
            "/idempotency_key",
            json!(format!("key-{at}")),
        );
        let ask = with(
            ask,
            "/request/allowed_resolvers",
            json!([fleet.worker.agent.address]),
        );
        let id = fleet.sender.agent.submitted(&ask).await?;
        approve(resolver, &id).await?.expect(200)?;
    }
    Ok(())
}

/// Not a sibling, not the bare principal.
async fn a_session_matches_itself_only(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    let (one, sibling) = (fleet.worker.session().await?, fleet.worker.session().await?);
    let ask = with(
        fleet.ask(&one.address()),
        "/request/allowed_resolvers",
        json!([one.address()]),
    );
    let id = fleet.sender.agent.submitted(&ask).await?;
    approve(&sibling, &id).await?.refused_as(&EITHER)?;
    approve(&fleet.worker, &id).await?.refused_as(&EITHER)?;
    approve(&one, &id).await?.expect(200).map(drop)
}

/// And only then.
async fn the_session_presented_is_in_the_actor(stage: Arc<Stage>) -> Proof {
    let fleet = stage.talking_fleet().await?;
    let session = fleet.worker.session().await?;
    for (at, resolver) in [&session, &fleet.worker].into_iter().enumerate() {
        let ask = with(
            fleet.ask(&fleet.worker.agent.address),
            "/idempotency_key",
            json!(format!("key-{at}")),
        );
        let id = fleet.sender.agent.submitted(&ask).await?;
        approve(resolver, &id).await?.expect(200)?;
        let read = fleet.read(&id).await?;
        equal(
            "actor",
            &read["response"]["response"]["actor"],
            resolver.address().as_str(),
        )?;
    }
    Ok(())
}
