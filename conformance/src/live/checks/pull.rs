//! Reading a message back (§8.2).

use std::sync::Arc;
use std::time::{Duration, Instant};

use ma2h_schema::Noun;
use serde_json::json;

use crate::live::api::segment;
use crate::live::envelope::in_ms;
use crate::live::registry::{Check, check};
use crate::live::stage::{Scene, Stage};
use crate::live::verdict::{Proof, Tried, equal, holds, shaped, skipped};

pub(super) fn checks() -> Vec<Check> {
    vec![
        check("8.2", what_is_read_has_its_shape),
        check("8.2", a_read_changes_nothing),
        check("8.2", a_waiting_read_returns_with_the_answer),
        check("8.2", a_waiting_read_returns_with_the_cancel),
        check("8.2", a_waiting_read_ends_with_the_message_open),
        check("8.2", a_waiting_read_of_what_has_ended_does_not_wait),
        check("8.2", many_may_wait_for_one_message),
        check("8.2", unchanged_since_then_is_not_modified),
        check("8.2", a_cursor_in_the_future_hides_nothing),
        check("8.2", a_deleted_message_is_gone),
    ]
}

/// Open and terminal, for each type.
async fn what_is_read_has_its_shape(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let answered = scene.approved(&scene.confirm()).await?;
    let mut ids = vec![answered];
    for envelope in [scene.notify(), scene.select(), scene.task()] {
        ids.push(scene.agent.submitted(&envelope).await?);
    }
    for id in ids {
        let read = scene.agent.read(&id).await?;
        shaped(Noun::GetMessage, &read)?;
        equal("id", &read["id"], id.as_str())?;
    }
    Ok(())
}

/// However often.
async fn a_read_changes_nothing(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = scene.agent.submitted(&scene.confirm()).await?;
    let first = scene.agent.message(&id).await?;
    for _ in 0..3 {
        first.same_as(&scene.agent.message(&id).await?)?;
    }
    scene.alice.answer(&id, "approve").await?.expect(200)?;
    let first = scene.agent.message(&id).await?;
    for _ in 0..3 {
        first.same_as(&scene.agent.message(&id).await?)?;
    }
    Ok(())
}

/// The agent's read, once it is held, and what happens meanwhile.
async fn held(scene: &Scene, id: &str, then: impl Future<Output = Proof>) -> Tried<serde_json::Value> {
    let waiting = scene.agent.wait(id, 50);
    let happening = async {
        // That it is held by then is likely, and not needed for the clause to hold.
        tokio::time::sleep(Duration::from_millis(300)).await;
        then.await
    };
    let started = Instant::now();
    let (read, happened) = tokio::join!(waiting, happening);
    happened?;
    let took = started.elapsed();
    holds(took < Duration::from_secs(20), || {
        format!("the read returned after {} s only", took.as_secs())
    })?;
    read
}

/// Long before the time it asked for is up.
async fn a_waiting_read_returns_with_the_answer(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = scene.agent.submitted(&scene.confirm()).await?;
    let answer = async { scene.alice.answer(&id, "deny").await?.expect(200).map(drop) };
    let read = held(&scene, &id, answer).await?;
    equal("status", &read["status"], "answered")?;
    equal("value", &read["response"]["response"]["value"], "deny")
}

/// Any terminal state ends the wait.
async fn a_waiting_read_returns_with_the_cancel(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = scene.agent.submitted(&scene.confirm()).await?;
    let cancel = async { scene.agent.cancel(&id).await?.expect(200).map(drop) };
    equal("status", &held(&scene, &id, cancel).await?["status"], "cancelled")
}

/// 200 and `open`, after about the time it asked for: not an error.
async fn a_waiting_read_ends_with_the_message_open(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = scene.agent.submitted(&scene.confirm()).await?;
    let started = Instant::now();
    equal("status", &scene.agent.wait(&id, 1).await?["status"], "open")?;
    let took = started.elapsed();
    holds(took < Duration::from_secs(15), || {
        format!("wait=1 took {} s", took.as_secs())
    })
}

/// It returns at once.
async fn a_waiting_read_of_what_has_ended_does_not_wait(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = scene.approved(&scene.confirm()).await?;
    let started = Instant::now();
    equal("status", &scene.agent.wait(&id, 50).await?["status"], "answered")?;
    let took = started.elapsed();
    holds(took < Duration::from_secs(15), || {
        format!("it took {} s", took.as_secs())
    })
}

/// And all are told.
async fn many_may_wait_for_one_message(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = scene.agent.submitted(&scene.confirm()).await?;
    let others = futures_util::future::join_all((0..8).map(|_| scene.agent.wait(&id, 50)));
    let answer = async { scene.alice.answer(&id, "deny").await?.expect(200).map(drop) };
    let (read, others) = tokio::join!(held(&scene, &id, answer), others);
    equal("status", &read?["status"], "answered")?;
    for other in others {
        equal("status", &other?["status"], "answered")?;
    }
    Ok(())
}

/// 304, until something happens.
async fn unchanged_since_then_is_not_modified(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = scene.agent.submitted(&scene.confirm()).await?;
    let path = format!("/v1/messages/{id}?since={}", segment(&in_ms(0)));
    let unchanged = scene.agent.get(&path).await?;
    if unchanged.status == 200 {
        return skipped("the hub has no cursor");
    }
    equal("status", &unchanged.status, &304)?;
    scene.alice.answer(&id, "approve").await?.expect(200)?;
    equal(
        "status",
        &scene.agent.get(&path).await?.expect(200)?["status"],
        "answered",
    )
}

/// An agent whose clock runs ahead still learns of the answer.
async fn a_cursor_in_the_future_hides_nothing(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = scene.approved(&scene.confirm()).await?;
    let path = format!("/v1/messages/{id}?since={}", segment(&in_ms(600_000)));
    equal(
        "status",
        &scene.agent.get(&path).await?.expect(200)?["status"],
        "answered",
    )
}

/// 410, which is not 404.
async fn a_deleted_message_is_gone(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = scene.approved(&scene.confirm()).await?;
    let open = scene.agent.submitted(&scene.confirm()).await?;
    let deleted = scene.alice.delete(&format!("/v1/messages/{id}")).await?;
    if [404, 405, 501].contains(&deleted.status) {
        return skipped("the hub has no call to delete a message");
    }
    holds((200..300).contains(&deleted.status), || deleted.told())?;
    for reader in [&scene.agent, &scene.alice] {
        reader.message(&id).await?.refused(410, "gone")?;
    }
    scene
        .alice
        .delete(&format!("/v1/messages/{open}"))
        .await?
        .refused_somehow()?;
    let body = json!({"resolution": "declined"});
    scene
        .alice
        .resolve(&id, &body)
        .await?
        .refused(410, "gone")
        .map(drop)
}
