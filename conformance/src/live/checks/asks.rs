//! Asks that could never be answered are refused at submit (§5.2, dp-026, dp-027, dp-029).

use std::sync::Arc;

use serde_json::{Value, json};

use crate::live::envelope::{unique, with};
use crate::live::registry::{Check, check};
use crate::live::stage::Stage;
use crate::live::verdict::{Proof, equal, holds};

/// Every minor that has an ask; 0.10 is past 0.6.
pub(super) const MINORS: [&str; 7] = ["0.1", "0.3", "0.4", "0.5", "0.6", "0.7", "0.10"];

pub(super) fn checks() -> Vec<Check> {
    vec![
        check("5.2", two_options_of_one_value_are_refused),
        check("5.2", two_options_of_one_value_are_refused_at_every_minor),
        check("5.2", two_options_of_one_value_are_refused_in_a_confirm),
        check("5.2", options_are_told_apart_by_value_alone),
        check("5.2", an_input_without_fields_is_refused_by_name),
        check("5.2", an_input_without_fields_is_refused_at_every_minor),
        check("5.2", an_input_of_an_object_with_fields_is_taken),
        check("5.2", a_schema_of_no_input_means_nothing),
        check("8.1", of_a_refused_ask_nothing_comes),
        check("5.2", an_input_that_nobody_can_satisfy_stays_open),
    ]
}

fn option(value: &str, label: &str) -> Value {
    json!({"value": value, "label": label})
}

/// Whether their labels differ or not (dp-026).
async fn two_options_of_one_value_are_refused(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    for label in ["Another label", "One label"] {
        let options = json!([option("a", "One label"), option("b", "B"), option("a", label)]);
        let ask = with(scene.select(), "/request/options", options);
        scene.agent.submit(&ask).await?.refused(422, "invalid_field")?;
    }
    Ok(())
}

/// What was never answerable is refused whatever version it declares (dp-029).
async fn two_options_of_one_value_are_refused_at_every_minor(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    for version in MINORS {
        let options = json!([option("a", "One"), option("a", "Two")]);
        let ask = with(
            with(scene.select(), "/request/options", options),
            "/ma2h_version",
            json!(version),
        );
        scene.agent.submit(&ask).await?.refused(422, "invalid_field")?;
    }
    Ok(())
}

/// One that brings its own two (dp-026).
async fn two_options_of_one_value_are_refused_in_a_confirm(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let options = json!([option("go", "Go"), option("go", "Stay")]);
    let ask = with(scene.confirm(), "/request/options", options);
    scene
        .agent
        .submit(&ask)
        .await?
        .refused(422, "invalid_field")
        .map(drop)
}

/// Labels repeat as they like; case, space and accents make another value (dp-026).
async fn options_are_told_apart_by_value_alone(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let values = ["go", "Go", "go ", " go", "g\u{f6}", "go\u{308}"];
    let options: Vec<Value> = values.iter().map(|value| option(value, "Go")).collect();
    let ask = with(scene.select(), "/request/options", json!(options));
    for value in values {
        let ask = with(ask.clone(), "/idempotency_key", json!(format!("key {value}")));
        equal("value", &scene.answered(&ask, value).await?["value"], value)?;
    }
    Ok(())
}

/// A scalar, no properties, properties elsewhere: each refusal names `request.schema` (dp-027).
async fn an_input_without_fields_is_refused_by_name(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let fields = json!({"a": {"type": "string"}});
    for schema in [
        json!({"type": "string", "minLength": 1}),
        json!({"type": "object"}),
        json!({}),
        json!({"type": "object", "properties": {}}),
        json!({"type": "object", "allOf": [{"properties": fields}]}),
        json!({"type": "object", "patternProperties": {"^a": {}}}),
        json!({"type": "integer", "properties": fields}),
        json!({"type": ["string", "number"], "properties": fields}),
        json!({"type": [], "properties": fields}),
        json!({"type": ["object", "object"], "properties": fields}),
        json!({"type": ["object", "record"], "properties": fields}),
        json!({"type": "Object", "properties": fields}),
        json!({"type": null, "properties": fields}),
        json!({"type": "object", "properties": [{"a": {}}]}),
    ] {
        let ask = with(scene.input(), "/request/schema", schema.clone());
        let message = scene.agent.submit(&ask).await?.refused(422, "invalid_field")?;
        holds(message.contains("request.schema"), || {
            format!("{schema}: the message does not name request.schema: {message}")
        })?;
    }
    Ok(())
}

/// dp-029.
async fn an_input_without_fields_is_refused_at_every_minor(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    for version in MINORS {
        for schema in [json!({"type": "string"}), json!({"type": "object"})] {
            let ask = with(
                with(scene.input(), "/request/schema", schema),
                "/ma2h_version",
                json!(version),
            );
            scene.agent.submit(&ask).await?.refused(422, "invalid_field")?;
        }
    }
    Ok(())
}

/// With `type` absent, `object`, or a list with it; the answer is an object (dp-027).
async fn an_input_of_an_object_with_fields_is_taken(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    for kind in [
        None,
        Some(json!("object")),
        Some(json!(["object"])),
        Some(json!(["null", "object"])),
    ] {
        let mut schema = json!({"properties": {"crates": {"type": "integer"}}, "required": ["crates"]});
        if let Some(kind) = kind {
            schema["type"] = kind;
        }
        let ask = with(scene.input(), "/request/schema", schema);
        let ask = with(ask, "/idempotency_key", json!(unique()));
        let id = scene.agent.submitted(&ask).await?;
        scene.alice.answer(&id, Value::Null).await?.refused_somehow()?;
        scene.alice.answer(&id, json!({"crates": 2})).await?.expect(200)?;
    }
    Ok(())
}

/// On a select or a confirm it is only a stray member.
async fn a_schema_of_no_input_means_nothing(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    for ask in [scene.select(), scene.confirm()] {
        for schema in [json!({}), json!({"type": "string"}), json!({"type": 42})] {
            let ask = with(ask.clone(), "/request/schema", schema);
            let ask = with(ask, "/idempotency_key", json!(unique()));
            scene.agent.submitted(&ask).await?;
        }
    }
    Ok(())
}

/// No message under its key, which is free for the mended one (dp-027).
async fn of_a_refused_ask_nothing_comes(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let title = format!("Refused {}", unique());
    let good = with(scene.input(), "/title", json!(title));
    let bad = with(good.clone(), "/request/schema", json!({"type": "string"}));
    scene.agent.submit(&bad).await?.refused(422, "invalid_field")?;
    for reader in [&scene.agent, &scene.alice] {
        let listed = reader.get("/v1/messages").await?;
        holds(!listed.text.contains(&title), || "it is listed".to_owned())?;
    }
    let id = scene.agent.submitted(&good).await?;
    let read = scene.agent.read(&id).await?;
    equal("schema", &read["request"]["schema"], &good["request"]["schema"])
}

/// Fields that contradict each other pass; every answer is refused, never a fault of the hub's, and declining works.
async fn an_input_that_nobody_can_satisfy_stays_open(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let schema =
        json!({"properties": {"a": {"type": "integer", "minimum": 2, "maximum": 1}}, "required": ["a"]});
    let id = scene
        .agent
        .submitted(&with(scene.input(), "/request/schema", schema))
        .await?;
    scene
        .alice
        .answer(&id, json!({"a": 1}))
        .await?
        .refused(422, "invalid_field")?;
    equal("status", &scene.agent.read(&id).await?["status"], "open")?;
    scene
        .alice
        .resolve(&id, &json!({"resolution": "declined"}))
        .await?
        .expect(200)?;
    let odd = with(
        scene.input(),
        "/request/schema",
        json!({"properties": {"a": {"$ref": "https://nowhere.example/s"}}}),
    );
    let reply = scene.agent.submit(&odd).await?;
    if reply.status == 202 {
        let id = reply.json()?["id"].as_str().unwrap_or_default().to_owned();
        return scene.alice.answer(&id, json!({"a": 1})).await?.refused_somehow();
    }
    reply.refused_somehow()
}
