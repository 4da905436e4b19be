//! Answers off the list, where an ask permits them (§5.2, §6, dp-028, dp-029).

use std::sync::Arc;

use serde_json::{Value, json};

use super::asks::MINORS;
use crate::live::envelope::{unique, with, without};
use crate::live::registry::{Check, check};
use crate::live::stage::{Scene, Stage};
use crate::live::verdict::{Proof, equal, failed, holds, skipped};

const OFF_LIST: &str = "Pears, but only the *ripe* ones — ümläut\n ";

pub(super) fn checks() -> Vec<Check> {
    vec![
        check("5.2", off_the_list_is_refused_without_permission),
        check("5.2", off_the_list_is_taken_verbatim_with_permission),
        check("5.2", what_is_no_text_is_refused_with_permission),
        check("6", a_listed_answer_is_not_edited),
        check("8.8", what_a_resolver_says_of_edited_is_ignored),
        check("7", permission_to_edit_does_not_reach_the_default),
        check("5.2", an_input_ignores_permission_to_edit),
        check("5.2", permission_to_edit_counts_from_0_6_on),
        check("8.1", permission_to_edit_is_kept_where_it_does_not_count),
        check("8.1", a_raised_version_is_another_payload),
        check("5.2", a_leftover_permission_is_ignored_and_kept),
        check("9.2", an_edited_answer_is_signed),
    ]
}

fn editable(scene: &Scene) -> Value {
    with(
        scene.select(),
        "/request/permissions",
        json!({"allow_edit": true}),
    )
}

fn not_edited(response: &Value) -> Proof {
    holds(
        response.get("edited").is_none_or(|edited| edited == false),
        || format!("should not be edited: {response}"),
    )
}

/// 422, and the ask stays open (dp-028, 1).
async fn off_the_list_is_refused_without_permission(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    for ask in [
        scene.select(),
        with(
            scene.select(),
            "/request/permissions",
            json!({"allow_edit": false}),
        ),
    ] {
        let id = scene
            .agent
            .submitted(&with(ask, "/idempotency_key", json!(unique())))
            .await?;
        scene
            .alice
            .answer(&id, OFF_LIST)
            .await?
            .refused(422, "invalid_field")?;
        equal("status", &scene.agent.read(&id).await?["status"], "open")?;
    }
    Ok(())
}

/// And the Response says that it is edited; a confirm likewise (dp-028, 2).
async fn off_the_list_is_taken_verbatim_with_permission(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let confirm = with(
        scene.confirm(),
        "/request/permissions",
        json!({"allow_edit": true}),
    );
    for ask in [editable(&scene), confirm] {
        let response = scene.answered(&ask, OFF_LIST).await?;
        equal("value", &response["value"], OFF_LIST)?;
        equal("edited", &response["edited"], &true)?;
    }
    Ok(())
}

/// 422, or 400 where the shape of a resolve says so already: to edit an answer is to write another text.
async fn what_is_no_text_is_refused_with_permission(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = scene.agent.submitted(&editable(&scene)).await?;
    for other in [json!(7), json!(true), json!(["pears"]), json!({"value": "pears"})] {
        let reply = scene.alice.answer(&id, other).await?;
        reply.refused_as(&[(422, "invalid_field"), (400, "validation_error")])?;
    }
    equal("status", &scene.agent.read(&id).await?["status"], "open")
}

/// Whatever box it was typed into (dp-028, 3).
async fn a_listed_answer_is_not_edited(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let response = scene.answered(&editable(&scene), "plums").await?;
    equal("value", &response["value"], "plums")?;
    not_edited(&response)?;
    let confirm = with(
        scene.confirm(),
        "/request/permissions",
        json!({"allow_edit": true}),
    );
    not_edited(&scene.answered(&confirm, "deny").await?)
}

/// The hub computes it (dp-028, 4).
async fn what_a_resolver_says_of_edited_is_ignored(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    for (value, said, is_edited) in [
        ("plums", json!(true), false),
        (OFF_LIST, json!(false), true),
        ("pears", json!("x"), false),
    ] {
        let ask = with(editable(&scene), "/idempotency_key", json!(unique()));
        let id = scene.agent.submitted(&ask).await?;
        let body = json!({"resolution": "answered", "value": value, "edited": said});
        scene.alice.resolve(&id, &body).await?.expect(200)?;
        let response = &scene.agent.read(&id).await?["response"]["response"];
        if is_edited {
            equal("edited", &response["edited"], &true)?;
        } else {
            not_edited(response)?;
        }
    }
    Ok(())
}

/// No human is there when it expires (dp-028, 6).
async fn permission_to_edit_does_not_reach_the_default(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let ask = with(editable(&scene), "/request/default_on_expire", json!("apples"));
    scene.agent.submit(&ask).await?.refused(422, "invalid_field")?;
    let listed = with(editable(&scene), "/request/default_on_expire", json!("plums"));
    scene.agent.submitted(&listed).await.map(drop)
}

/// Its answer satisfies the schema, and is never edited (dp-028, 7).
async fn an_input_ignores_permission_to_edit(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let ask = with(scene.input(), "/request/permissions", json!({"allow_edit": true}));
    let id = scene.agent.submitted(&ask).await?;
    scene
        .alice
        .answer(&id, OFF_LIST)
        .await?
        .refused(422, "invalid_field")?;
    scene
        .alice
        .answer(&id, json!({"crates": 0}))
        .await?
        .refused(422, "invalid_field")?;
    scene.alice.answer(&id, json!({"crates": 1})).await?.expect(200)?;
    not_edited(&scene.agent.read(&id).await?["response"]["response"])
}

/// By the number, not the text: 0.10 is past it (dp-029).
async fn permission_to_edit_counts_from_0_6_on(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    for version in MINORS {
        let ask = with(editable(&scene), "/ma2h_version", json!(version));
        let id = scene
            .agent
            .submitted(&with(ask, "/idempotency_key", json!(version)))
            .await?;
        let reply = scene.alice.answer(&id, OFF_LIST).await?;
        if ["0.6", "0.7", "0.10"].contains(&version) {
            reply.expect(200)?;
        } else {
            reply.refused(422, "invalid_field")?;
            equal("status", &scene.agent.read(&id).await?["status"], "open")?;
        }
    }
    Ok(())
}

/// To ignore it is not to remove it: it is read back, and a retry is the same payload (dp-029).
async fn permission_to_edit_is_kept_where_it_does_not_count(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let ask = with(editable(&scene), "/ma2h_version", json!("0.5"));
    let id = scene.agent.submitted(&ask).await?;
    equal(
        "allow_edit",
        &scene.agent.read(&id).await?["request"]["permissions"]["allow_edit"],
        &true,
    )?;
    equal("id of the retry", &scene.agent.submitted(&ask).await?, &id)?;
    let without_it = without(ask, "/request/permissions");
    scene
        .agent
        .submit(&without_it)
        .await?
        .refused(409, "idempotency_conflict")?;
    scene
        .alice
        .answer(&id, OFF_LIST)
        .await?
        .refused(422, "invalid_field")
        .map(drop)
}

/// The terms first accepted hold.
async fn a_raised_version_is_another_payload(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let ask = with(editable(&scene), "/ma2h_version", json!("0.5"));
    let id = scene.agent.submitted(&ask).await?;
    let raised = with(ask, "/ma2h_version", json!("0.6"));
    scene
        .agent
        .submit(&raised)
        .await?
        .refused(409, "idempotency_conflict")?;
    scene
        .alice
        .answer(&id, OFF_LIST)
        .await?
        .refused(422, "invalid_field")
        .map(drop)
}

/// `allow_accept` never meant anything; from 0.6 on it may be of any type.
async fn a_leftover_permission_is_ignored_and_kept(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let permissions = json!({"allow_accept": {"what": ["ever"]}});
    let ask = with(scene.select(), "/request/permissions", permissions.clone());
    let id = scene.agent.submitted(&ask).await?;
    scene
        .alice
        .answer(&id, OFF_LIST)
        .await?
        .refused(422, "invalid_field")?;
    scene.alice.answer(&id, "pears").await?.expect(200)?;
    equal(
        "permissions",
        &scene.agent.read(&id).await?["request"]["permissions"],
        &permissions,
    )
}

/// That it is edited cannot be flipped on the way (dp-028, 5).
async fn an_edited_answer_is_signed(stage: Arc<Stage>) -> Proof {
    let scene = stage.callback_scene().await?;
    let id = scene.agent.submitted(&scene.pushed(editable(&scene))).await?;
    scene.alice.answer(&id, OFF_LIST).await?.expect(200)?;
    let push = scene.receiver.push().await?;
    let response = scene.verified(&push)?;
    equal("edited", &response["response"]["edited"], &true)?;
    let mut flipped = push.clone();
    flipped.body = push.body.replace("\"edited\":true", "\"edited\":false");
    if flipped.body == push.body {
        return skipped("the push spells its members in another way");
    }
    match scene.verified(&flipped) {
        Err(_) => Ok(()),
        Ok(_) => failed("the signature verifies though edited was flipped"),
    }
}
