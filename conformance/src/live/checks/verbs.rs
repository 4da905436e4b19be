//! Notify, ask and task (§5).

use std::sync::Arc;

use serde_json::{Value, json};

use crate::live::envelope::{with, without};
use crate::live::registry::{Check, check};
use crate::live::stage::Stage;
use crate::live::verdict::{Proof, absent, equal};

pub(super) fn checks() -> Vec<Check> {
    vec![
        check("5.1", a_notify_is_delivered_on_acceptance_and_stays_readable),
        check("5.1", a_notify_gets_no_response),
        check("5.2", a_bare_confirm_offers_approve_and_deny),
        check("5.2", a_confirm_with_options_offers_only_those),
        check("5.2", a_confirm_has_two_options_or_none),
        check("5.2", a_select_is_answered_with_one_of_its_values),
        check("5.2", an_input_is_answered_with_an_object_that_fits),
        check("5.2", who_may_not_answer_may_only_decline),
        check("5.2", who_may_not_decline_may_only_answer),
        check("5.2", ignoring_is_declining),
        check("5.3", a_task_is_completed_with_its_checklist),
        check("5.3", a_task_is_dismissed),
        check("8.8", a_resolution_fits_its_verb),
        check("8.8", a_value_belongs_to_an_answer_only),
    ]
}

/// It is never created, nor lost.
async fn a_notify_is_delivered_on_acceptance_and_stays_readable(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    for envelope in [scene.notify(), without(scene.notify(), "/idempotency_key")] {
        let ack = scene.agent.submit(&envelope).await?.expect(202)?;
        equal("status of the ack", &ack["status"], "delivered")?;
        let id = ack["id"].as_str().unwrap_or_default();
        equal("status", &scene.agent.read(id).await?["status"], "delivered")?;
        equal(
            "status for a human",
            &scene.alice.read(id).await?["status"],
            "delivered",
        )?;
    }
    Ok(())
}

/// It can be neither resolved nor cancelled, and none is ever routed.
async fn a_notify_gets_no_response(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = scene.agent.submitted(&scene.notify()).await?;
    for body in [
        json!({"resolution": "answered", "value": "x"}),
        json!({"resolution": "declined"}),
        json!({"resolution": "completed"}),
    ] {
        scene.alice.resolve(&id, &body).await?.refused_somehow()?;
    }
    scene.agent.cancel(&id).await?.refused_somehow()?;
    let read = scene.agent.read(&id).await?;
    equal("status", &read["status"], "delivered")?;
    absent(&read, "/response")
}

/// Two values, and no other.
async fn a_bare_confirm_offers_approve_and_deny(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    for value in ["approve", "deny"] {
        let id = scene.agent.submitted(&scene.confirm()).await?;
        for other in ["yes", "Approve", "approve ", ""] {
            scene
                .alice
                .answer(&id, other)
                .await?
                .refused(422, "invalid_field")?;
        }
        scene.alice.answer(&id, value).await?.expect(200)?;
        equal(
            "value",
            &scene.agent.read(&id).await?["response"]["response"]["value"],
            value,
        )?;
    }
    Ok(())
}

/// The pair that is supplied replaces the other.
async fn a_confirm_with_options_offers_only_those(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let options = json!([{"value": "go", "label": "Go"}, {"value": "stay", "label": "Stay"}]);
    let id = scene
        .agent
        .submitted(&with(scene.confirm(), "/request/options", options))
        .await?;
    scene
        .alice
        .answer(&id, "approve")
        .await?
        .refused(422, "invalid_field")?;
    scene.alice.answer(&id, "stay").await?.expect(200).map(drop)
}

/// One, or three, are refused.
async fn a_confirm_has_two_options_or_none(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    for count in [1, 3] {
        let options: Vec<Value> = (0..count)
            .map(|at| json!({"value": format!("v{at}"), "label": "L"}))
            .collect();
        let ask = with(scene.confirm(), "/request/options", json!(options));
        scene
            .agent
            .submit(&ask)
            .await?
            .refused_as(&[(400, "validation_error"), (422, "invalid_field")])?;
    }
    Ok(())
}

/// Any other, a label, or another type is refused, and the ask stays open.
async fn a_select_is_answered_with_one_of_its_values(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = scene.agent.submitted(&scene.select()).await?;
    for other in [
        json!("apples"),
        json!("Pears first"),
        json!("PEARS"),
        json!({"value": "pears"}),
    ] {
        scene
            .alice
            .answer(&id, other)
            .await?
            .refused(422, "invalid_field")?;
    }
    equal("status", &scene.agent.read(&id).await?["status"], "open")?;
    scene.alice.answer(&id, "plums").await?.expect(200)?;
    equal(
        "value",
        &scene.agent.read(&id).await?["response"]["response"]["value"],
        "plums",
    )
}

/// Its schema decides, and no other value is an object that fits.
async fn an_input_is_answered_with_an_object_that_fits(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = scene.agent.submitted(&scene.input()).await?;
    for other in [
        json!({}),
        json!({"crates": 0}),
        json!({"crates": "3"}),
        json!({"note": "n"}),
        json!("3"),
    ] {
        scene
            .alice
            .answer(&id, other)
            .await?
            .refused(422, "invalid_field")?;
    }
    equal("status", &scene.agent.read(&id).await?["status"], "open")?;
    let value = json!({"crates": 3, "note": "the small ones"});
    scene.alice.answer(&id, value.clone()).await?.expect(200)?;
    equal(
        "value",
        &scene.agent.read(&id).await?["response"]["response"]["value"],
        &value,
    )
}

/// `allow_respond: false` (§7).
async fn who_may_not_answer_may_only_decline(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let ask = with(
        scene.confirm(),
        "/request/permissions",
        json!({"allow_respond": false}),
    );
    let id = scene.agent.submitted(&ask).await?;
    scene
        .alice
        .answer(&id, "approve")
        .await?
        .refused(422, "invalid_field")?;
    scene
        .alice
        .resolve(&id, &json!({"resolution": "declined"}))
        .await?
        .expect(200)
        .map(drop)
}

/// `allow_ignore: false` (§7).
async fn who_may_not_decline_may_only_answer(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let ask = with(
        scene.confirm(),
        "/request/permissions",
        json!({"allow_ignore": false}),
    );
    let id = scene.agent.submitted(&ask).await?;
    scene
        .alice
        .resolve(&id, &json!({"resolution": "declined"}))
        .await?
        .refused(422, "invalid_field")?;
    scene.alice.answer(&id, "approve").await?.expect(200).map(drop)
}

/// There is no resolution `ignored`.
async fn ignoring_is_declining(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = scene.agent.submitted(&scene.confirm()).await?;
    let ignored = json!({"resolution": "ignored"});
    scene
        .alice
        .resolve(&id, &ignored)
        .await?
        .refused_as(&[(400, "validation_error"), (422, "invalid_field")])?;
    scene
        .alice
        .resolve(&id, &json!({"resolution": "declined"}))
        .await?
        .expect(200)?;
    equal("status", &scene.agent.read(&id).await?["status"], "declined")
}

/// Its final state and the comment reach the agent.
async fn a_task_is_completed_with_its_checklist(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = scene.agent.submitted(&scene.task()).await?;
    let checklist = json!([{"text": "Saw", "done": true}, {"text": "Ladder", "done": false}]);
    let body = json!({"resolution": "completed", "comment": "No ladder needed", "checklist": checklist});
    let resolved = scene.alice.resolve(&id, &body).await?.expect(200)?;
    equal("status", &resolved["status"], "completed")?;
    let read = scene.agent.read(&id).await?;
    let response = &read["response"];
    equal("resolution", &response["resolution"], "completed")?;
    equal("checklist", &response["response"]["checklist"], &checklist)?;
    equal("comment", &response["response"]["comment"], "No ladder needed")?;
    absent(response, "/response/value")
}

/// The human declines to act.
async fn a_task_is_dismissed(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = scene.agent.submitted(&scene.task()).await?;
    scene
        .alice
        .resolve(&id, &json!({"resolution": "dismissed"}))
        .await?
        .expect(200)?;
    let read = scene.agent.read(&id).await?;
    equal("status", &read["status"], "dismissed")?;
    equal("resolution", &read["response"]["resolution"], "dismissed")
}

/// An ask is not completed, a task not answered, and neither expires by a call.
async fn a_resolution_fits_its_verb(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let ask = scene.agent.submitted(&scene.confirm()).await?;
    let task = scene.agent.submitted(&scene.task()).await?;
    for (id, body) in [
        (&ask, json!({"resolution": "completed"})),
        (&ask, json!({"resolution": "dismissed"})),
        (&task, json!({"resolution": "answered", "value": "approve"})),
        (&task, json!({"resolution": "declined"})),
    ] {
        scene
            .alice
            .resolve(id, &body)
            .await?
            .refused(422, "invalid_field")?;
    }
    let either = [(400, "validation_error"), (422, "invalid_field")];
    for (id, name) in [
        (&ask, "cancelled"),
        (&ask, "expired"),
        (&task, "expired"),
        (&task, "cancelled"),
    ] {
        scene
            .alice
            .resolve(id, &json!({"resolution": name}))
            .await?
            .refused_as(&either)?;
    }
    for id in [&ask, &task] {
        equal("status", &scene.agent.read(id).await?["status"], "open")?;
    }
    Ok(())
}

/// And a checklist to a task only; the ask and the task stay open.
async fn a_value_belongs_to_an_answer_only(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let ask = scene.agent.submitted(&scene.confirm()).await?;
    let task = scene.agent.submitted(&scene.task()).await?;
    let either = [(400, "validation_error"), (422, "invalid_field")];
    for (id, body) in [
        (&ask, json!({"resolution": "answered"})),
        (&ask, json!({"resolution": "declined", "value": "deny"})),
        (
            &ask,
            json!({"resolution": "answered", "value": "approve", "checklist": []}),
        ),
        (&task, json!({"resolution": "completed", "value": "approve"})),
        (
            &task,
            json!({"resolution": "completed", "checklist": [{"text": "Saw"}]}),
        ),
    ] {
        scene.alice.resolve(id, &body).await?.refused_as(&either)?;
    }
    for id in [&ask, &task] {
        equal("status", &scene.agent.read(id).await?["status"], "open")?;
    }
    Ok(())
}
