//! Whose a session is, who sees it, and who ends it (§16.3, §16.4, dp-019).

use std::sync::Arc;

use futures_util::future::join_all;
use ma2h_schema::Noun;
use serde_json::json;

use crate::live::api::Reply;
use crate::live::envelope::{notify, with};
use crate::live::fleet::Fleet;
use crate::live::leg::Leg;
use crate::live::mailbox::Mailbox;
use crate::live::registry::{Check, check};
use crate::live::stage::Stage;
use crate::live::verdict::{Proof, Tried, absent, equal, holds, list, shaped};

pub(super) fn checks() -> Vec<Check> {
    [
        check("16.3", the_first_of_many_closes_wins),
        check("16.3", presenting_a_foreign_session_is_not_found),
        check("4.1", a_submit_of_a_foreign_session_is_refused),
        check("16.3", ended_sessions_stay_readable),
        check("16.4", only_its_owner_closes_a_session),
        check("16.4", an_operators_close_is_marked),
        check("16.4", an_operators_close_says_stop_to_its_owner),
        check("16.4", the_mark_is_never_set_afterwards).within(120),
        check("16.4", an_agent_always_lists_its_own_sessions),
        check("16.4", an_agent_lists_others_only_where_it_may),
        check("16.4", a_human_lists_all_of_her_account),
        check("16.4", another_accounts_sessions_are_unknown),
        check("16.4", a_session_tells_when_it_was_last_seen),
    ]
    .into_iter()
    .map(|check| check.of(Leg::Sessions))
    .collect()
}

async fn worker(stage: &Stage) -> Tried<Mailbox> {
    Ok(stage.fleet().await?.worker)
}

/// Owner and operator at the same time: one of them did it, for all to see the same.
async fn the_first_of_many_closes_wins(stage: Arc<Stage>) -> Proof {
    let fleet = stage.fleet().await?;
    for _ in 0..4 {
        let session = fleet.worker.session().await?;
        let path = format!("/v1/sessions/{}", session.session_id());
        let closers = (0..8).map(|at| if at % 2 == 0 { &session.agent } else { &fleet.alice });
        join_all(closers.map(|closer| closer.delete(&path))).await;
        let (owners, humans) = (session.lease().await?, fleet.alice.get(&path).await?.expect(200)?);
        equal("state", &owners["state"], "closed")?;
        equal("session", &owners, &humans["session"])?;
        let by_operator = owners["closed_by_operator"] == true;
        let code = if by_operator {
            "session_closed_by_operator"
        } else {
            "gone"
        };
        session.ask("").await?.refused(410, code)?;
        if by_operator {
            lift(&fleet, &session).await?;
        }
    }
    Ok(())
}

/// Lets an agent that an operator stopped register again, where a stop outlives the session.
async fn lift(fleet: &Fleet, session: &Mailbox) -> Proof {
    let path = format!("/v1/agents/{}/stop", crate::live::api::segment(&session.agent.id));
    fleet.alice.delete(&path).await.map(drop)
}

/// 404, in the words of one that never was.
async fn presenting_a_foreign_session_is_not_found(stage: Arc<Stage>) -> Proof {
    let fleet = stage.fleet().await?;
    let foreign = fleet.worker.session().await?;
    let known = fleet.sender.of_session(foreign.session_id());
    let unknown = fleet.sender.of_session("sess_01J00000000000000000000000");
    let (told, nothing) = (touched(&known).await?, touched(&unknown).await?);
    for (told, nothing) in told.into_iter().zip(nothing) {
        told.refused(404, "not_found")?;
        let nothing = nothing.but_for(unknown.session_id());
        equal("what is said", &told.but_for(known.session_id()), &nothing)?;
    }
    Ok(())
}

/// The session presented at every call, and read.
async fn touched(session: &Mailbox) -> Tried<Vec<Reply>> {
    let path = format!("/v1/sessions/{}", session.session_id());
    let mut replies = Vec::from(session.presented().await?);
    replies.push(session.agent.get(&path).await?);
    Ok(replies)
}

/// 422, whether it is another's or nobody's.
async fn a_submit_of_a_foreign_session_is_refused(stage: Arc<Stage>) -> Proof {
    let fleet = stage.fleet().await?;
    let foreign = fleet.worker.session().await?;
    let mut said = Vec::new();
    for id in [foreign.session_id(), "sess_01J00000000000000000000000"] {
        let notify = with(notify(&fleet.sender.agent.id), "/agent/session", json!(id));
        let reply = fleet.sender.agent.submit(&notify).await?;
        reply.refused_as(&[(422, "invalid_field"), (422, "unknown_destination")])?;
        said.push(reply.text.replace(id, "…"));
    }
    equal("what is said", &said[0], &said[1])
}

/// For as long as is advertised.
async fn ended_sessions_stay_readable(stage: Arc<Stage>) -> Proof {
    let session = worker(&stage).await?.session().await?;
    session.close().await?;
    let listed = session.agent.get("/v1/sessions").await?.expect(200)?;
    let found = list(&listed, "/sessions")?
        .iter()
        .any(|one| one["id"] == session.session_id());
    holds(found, || format!("the ended session is not listed: {listed}"))?;
    equal("state", &session.lease().await?["state"], "closed")
}

/// Another agent's close is of nothing.
async fn only_its_owner_closes_a_session(stage: Arc<Stage>) -> Proof {
    let fleet = stage.fleet().await?;
    let session = fleet.worker.session().await?;
    let path = format!("/v1/sessions/{}", session.session_id());
    fleet
        .sender
        .agent
        .delete(&path)
        .await?
        .refused(404, "not_found")?;
    let mallory = stage.account().await?.human("mallory", "owner").await?;
    mallory.delete(&path).await?.refused(404, "not_found")?;
    equal("state", &session.lease().await?["state"], "active")
}

/// And only hers: `true`, never `false`.
async fn an_operators_close_is_marked(stage: Arc<Stage>) -> Proof {
    let fleet = stage.fleet().await?;
    let (killed, closed) = (fleet.worker.session().await?, fleet.sender.session().await?);
    absent(&killed.lease().await?, "/closed_by_operator")?;
    closed.close().await?;
    absent(&closed.lease().await?, "/closed_by_operator")?;
    kill(&fleet, &killed).await?;
    let lease = killed.lease().await?;
    equal("state", &lease["state"], "closed")?;
    equal("closed_by_operator", &lease["closed_by_operator"], &true)
}

async fn kill(fleet: &Fleet, session: &Mailbox) -> Proof {
    let reply = fleet
        .alice
        .delete(&format!("/v1/sessions/{}", session.session_id()))
        .await?;
    holds((200..300).contains(&reply.status), || reply.told())
}

/// 410 `session_closed_by_operator`: do not register again.
async fn an_operators_close_says_stop_to_its_owner(stage: Arc<Stage>) -> Proof {
    let fleet = stage.fleet().await?;
    let session = fleet.worker.session().await?;
    kill(&fleet, &session).await?;
    for reply in session.presented().await? {
        reply.refused(410, "session_closed_by_operator")?;
    }
    let notify = session.naming(notify(&session.agent.id));
    session
        .agent
        .submit(&notify)
        .await?
        .refused(410, "session_closed_by_operator")
        .map(drop)
}

/// Who closes what had ended did not end it.
async fn the_mark_is_never_set_afterwards(stage: Arc<Stage>) -> Proof {
    let fleet = stage.fleet().await?;
    let closed = fleet.worker.session().await?;
    closed.close().await?;
    kill(&fleet, &closed).await?;
    absent(&closed.lease().await?, "/closed_by_operator")?;
    closed.ask("").await?.refused(410, "gone")?;
    let expired = fleet.sender.lapsed(&stage).await?;
    kill(&fleet, &expired).await?;
    absent(&expired.lease().await?, "/closed_by_operator")?;
    equal("state", &expired.lease().await?["state"], "expired")
}

/// Whatever the policy says: one that crashes over and over finds its leases.
async fn an_agent_always_lists_its_own_sessions(stage: Arc<Stage>) -> Proof {
    let worker = worker(&stage).await?;
    let (one, two) = (worker.session().await?, worker.session().await?);
    let listed = worker.agent.get("/v1/sessions").await?.expect(200)?;
    let ids: Vec<&str> = list(&listed, "/sessions")?
        .iter()
        .filter_map(|one| one["id"].as_str())
        .collect();
    for session in [&one, &two] {
        holds(ids.contains(&session.session_id()), || {
            format!("{} is not in {ids:?}", session.session_id())
        })?;
    }
    for session in list(&listed, "/sessions")? {
        shaped(Noun::Session, session)?;
    }
    Ok(())
}

/// Beneath the advertised ceiling and its account's policy; the scope told is the one applied.
async fn an_agent_lists_others_only_where_it_may(stage: Arc<Stage>) -> Proof {
    let fleet = stage.fleet().await?;
    let other = fleet.worker.session().await?;
    let own = fleet.sender.session().await?;
    let ceiling = stage.hub.capability["sessions"]["agent_list_visibility"] == true;
    for granted in [false, true] {
        let policy = json!({"sessions": {"agent_list_visibility": granted}});
        let body = json!({"policy": policy});
        let set = fleet
            .account
            .admin()?
            .patch(&fleet.account.path(""), &body)
            .await?;
        if set.status != 200 {
            // A hub may refuse to promise what it will not give.
            set.refused_somehow()?;
            continue;
        }
        let listed = own.agent.get("/v1/sessions").await?.expect(200)?;
        let text = listed.to_string();
        let sees = text.contains(other.session_id());
        let may = granted && ceiling;
        holds(sees == may, || {
            format!("sees others: {sees}, may: {may} (ceiling {ceiling}, policy {granted})")
        })?;
        if let Some(scope) = listed["scope"].as_str() {
            equal("scope", scope, if may { "account" } else { "own" })?;
        }
    }
    Ok(())
}

/// Each with its state.
async fn a_human_lists_all_of_her_account(stage: Arc<Stage>) -> Proof {
    let fleet = stage.fleet().await?;
    let (one, two) = (fleet.worker.session().await?, fleet.sender.session().await?);
    let listed = fleet.alice.get("/v1/sessions").await?.expect(200)?;
    for session in [one, two] {
        let found = list(&listed, "/sessions")?
            .iter()
            .find(|found| found["id"] == session.session_id());
        equal(
            "state",
            &found.map(|found| &found["state"]),
            &Some(&json!("active")),
        )?;
        fleet
            .alice
            .get(&format!("/v1/sessions/{}", session.session_id()))
            .await?
            .expect(200)?;
    }
    Ok(())
}

/// To its humans and its agents alike.
async fn another_accounts_sessions_are_unknown(stage: Arc<Stage>) -> Proof {
    let session = worker(&stage).await?.session().await?;
    let account = stage.account().await?;
    let human = account.human("mallory", "owner").await?;
    let agent = account.agent(&session.agent.id, 0).await?;
    for stranger in [human, agent] {
        let listed = stranger.get("/v1/sessions").await?.expect(200)?;
        equal("sessions", &list(&listed, "/sessions")?.len(), &0)?;
        stranger
            .get(&format!("/v1/sessions/{}", session.session_id()))
            .await?
            .refused(404, "not_found")?;
    }
    Ok(())
}

/// Whoever may read it may read that too.
async fn a_session_tells_when_it_was_last_seen(stage: Arc<Stage>) -> Proof {
    let session = worker(&stage).await?.session().await?;
    session.drain().await?;
    let lease = session.lease().await?;
    holds(lease["last_seen"].is_string(), || {
        format!("no last_seen in {lease}")
    })
}
