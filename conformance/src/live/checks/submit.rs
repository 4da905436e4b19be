//! Submitting, and submitting again (§8.1).

use std::sync::Arc;

use futures_util::future::join_all;
use ma2h_schema::Noun;
use serde_json::json;

use crate::live::envelope::{in_ms, unique, with, without};
use crate::live::registry::{Check, check};
use crate::live::stage::Stage;
use crate::live::verdict::{Proof, equal, failed, holds, shaped, text};

pub(super) fn checks() -> Vec<Check> {
    vec![
        check("8.1", an_accepted_message_is_acknowledged),
        check("8.1", where_to_poll_is_where_the_message_is),
        check("8.1", a_replay_gets_the_original_ack),
        check("8.1", a_replay_gets_the_current_status),
        check("8.1", a_replay_from_another_run_gets_the_original_ack),
        check("8.1", a_replay_gets_its_ack_though_time_has_passed),
        check("8.1", a_differing_replay_is_refused),
        check("8.1", numbers_that_differ_beyond_a_double_differ),
        check("8.1", a_key_belongs_to_its_agent),
        check("8.1", of_identical_submits_at_once_comes_one_message),
        check("8.1", of_differing_submits_at_once_comes_one_message),
        check("8.1", an_ask_and_a_task_need_a_key),
        check("8.1", a_notify_without_a_key_is_new_each_time),
        check("8.1", a_label_is_no_key),
    ]
}

/// 202 with id, status and address, in the shape of §8.1.
async fn an_accepted_message_is_acknowledged(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    for (envelope, status) in [
        (scene.notify(), "delivered"),
        (scene.confirm(), "open"),
        (scene.task(), "open"),
    ] {
        let ack = scene.agent.submit(&envelope).await?.expect(202)?;
        shaped(Noun::SubmitAck, &ack)?;
        equal("status", &ack["status"], status)?;
    }
    Ok(())
}

/// HTTPS, at this hub, and the submitter reads it there.
async fn where_to_poll_is_where_the_message_is(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let ack = scene.agent.submit(&scene.confirm()).await?.expect(202)?;
    let (url, id) = (text(&ack, "/poll_url")?, text(&ack, "/id")?);
    let Some(path) = url
        .strip_prefix("https://")
        .and_then(|rest| rest.find('/').map(|at| &rest[at..]))
    else {
        return failed(format!("poll_url: expected an HTTPS address, got {url}"));
    };
    equal(
        "id of what is there",
        &scene.agent.get(path).await?.expect(200)?["id"],
        id,
    )
}

/// The recipe for a lost ack: the same key until an answer comes.
async fn a_replay_gets_the_original_ack(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    for envelope in [scene.notify(), scene.confirm(), scene.task()] {
        let first = scene.agent.submit(&envelope).await?.expect(202)?;
        for _ in 0..3 {
            equal(
                "the ack again",
                &scene.agent.submit(&envelope).await?.expect(202)?,
                &first,
            )?;
        }
    }
    Ok(())
}

/// So that an agent that crashed learns its outcome.
async fn a_replay_gets_the_current_status(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let ask = scene.confirm();
    let id = scene.approved(&ask).await?;
    let ack = scene.agent.submit(&ask).await?.expect(202)?;
    equal("id", &ack["id"], id.as_str())?;
    equal("status", &ack["status"], "answered")?;
    let task = scene.task();
    let id = scene.agent.submitted(&task).await?;
    scene
        .alice
        .resolve(&id, &json!({"resolution": "dismissed"}))
        .await?
        .expect(200)?;
    equal(
        "status",
        &scene.agent.submit(&task).await?.expect(202)?["status"],
        "dismissed",
    )
}

/// The run is no part of the payload; the first submit stays the bound caller.
async fn a_replay_from_another_run_gets_the_original_ack(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let ask = with(scene.confirm(), "/agent/run_id", json!("run-1"));
    let id = scene.agent.submitted(&ask).await?;
    let again = with(ask, "/agent/run_id", json!("run-2"));
    equal("id", &scene.agent.submitted(&again).await?, &id)?;
    scene.alice.answer(&id, "approve").await?.expect(200)?;
    let response = scene.agent.read(&id).await?["response"].take();
    equal("agent.run_id", &response["agent"]["run_id"], "run-1")
}

/// What a first submit must satisfy, a retry need not: its `expires_at` is over by now.
async fn a_replay_gets_its_ack_though_time_has_passed(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let ask = with(scene.confirm(), "/expires_at", json!(in_ms(2500)));
    let id = scene.agent.submitted(&ask).await?;
    equal("status", &scene.agent.wait(&id, 20).await?["status"], "expired")?;
    let ack = scene.agent.submit(&ask).await?.expect(202)?;
    equal("id", &ack["id"], id.as_str())?;
    equal("status", &ack["status"], "expired")
}

/// 409, for any difference; the message is what it was.
async fn a_differing_replay_is_refused(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let ask = with(scene.select(), "/state", json!({"step": 1}));
    let id = scene.agent.submitted(&ask).await?;
    for other in [
        with(ask.clone(), "/title", json!("Another title")),
        with(ask.clone(), "/state", json!({"step": 2})),
        without(ask.clone(), "/state"),
        with(ask.clone(), "/priority", json!("urgent")),
        with(ask.clone(), "/request/allowed_resolvers", json!(["human:bob"])),
        with(ask.clone(), "/unknown", json!(1)),
        with(
            with(ask.clone(), "/type", json!("notify")),
            "/request",
            json!(null),
        ),
        with(scene.task(), "/idempotency_key", ask["idempotency_key"].clone()),
    ] {
        let reply = scene.agent.submit(&other).await?;
        reply.refused_as(&[(409, "idempotency_conflict"), (400, "validation_error")])?;
    }
    equal("title", &scene.agent.read(&id).await?["title"], &ask["title"])
}

/// 2^53 and the number after it are one double, and two payloads.
async fn numbers_that_differ_beyond_a_double_differ(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let text = with(scene.confirm(), "/state", json!({"n": "N"})).to_string();
    let numbered = |number: &str| text.replace("\"N\"", number);
    let agent = &scene.agent;
    agent
        .post_text("/v1/messages", numbered("9007199254740992"))
        .await?
        .expect(202)?;
    let other = agent
        .post_text("/v1/messages", numbered("9007199254740993"))
        .await?;
    other.refused(409, "idempotency_conflict").map(drop)
}

/// Two agents, one key: two messages.
async fn a_key_belongs_to_its_agent(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let other = scene.other_agent().await?;
    let ask = scene.confirm();
    let one = scene.agent.submitted(&ask).await?;
    let two = other.submitted(&with(ask, "/agent/id", json!(other.id))).await?;
    holds(one != two, || "two agents share a message by its key".to_owned())
}

/// All get the one ack.
async fn of_identical_submits_at_once_comes_one_message(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let ask = scene.confirm();
    let acks = join_all((0..24).map(|_| scene.agent.submitted(&ask))).await;
    let ids: Vec<String> = acks.into_iter().collect::<Result<_, _>>()?;
    holds(ids.iter().all(|id| *id == ids[0]), || {
        format!("several messages: {ids:?}")
    })
}

/// One is taken; of the others each is a replay of that one or a conflict.
async fn of_differing_submits_at_once_comes_one_message(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let ask = scene.confirm();
    let variants = (0..12).map(|at| with(ask.clone(), "/title", json!(format!("Title {}", at % 3))));
    let variants: Vec<_> = variants.collect();
    let replies = join_all(variants.iter().map(|variant| scene.agent.submit(variant))).await;
    let mut ids = Vec::new();
    for reply in replies {
        let reply = reply?;
        if reply.status == 202 {
            ids.push(reply.json()?["id"].clone());
        } else {
            reply.refused(409, "idempotency_conflict")?;
        }
    }
    holds(!ids.is_empty() && ids.iter().all(|id| *id == ids[0]), || {
        format!("not one message: {ids:?}")
    })
}

/// 400: without one a lost ack would become a second decision.
async fn an_ask_and_a_task_need_a_key(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    for envelope in [scene.select(), scene.input(), scene.confirm(), scene.task()] {
        let keyless = without(envelope, "/idempotency_key");
        scene
            .agent
            .submit(&keyless)
            .await?
            .refused(400, "validation_error")?;
    }
    Ok(())
}

/// Only a key makes it the same.
async fn a_notify_without_a_key_is_new_each_time(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let notify = without(scene.notify(), "/idempotency_key");
    let (one, two) = (
        scene.agent.submitted(&notify).await?,
        scene.agent.submitted(&notify).await?,
    );
    holds(one != two, || {
        "a notify without a key was taken for another".to_owned()
    })
}

/// `client_ref` is never used for that (§4).
async fn a_label_is_no_key(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let ask = with(scene.confirm(), "/client_ref", json!("one label"));
    let one = scene.agent.submitted(&ask).await?;
    let two = scene
        .agent
        .submitted(&with(ask, "/idempotency_key", json!(unique())))
        .await?;
    holds(one != two, || "a label was taken for a key".to_owned())
}
