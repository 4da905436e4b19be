//! The message an agent submits.

use serde_json::Value;

use crate::{Edition, Violation, compiled};

/// Checks an envelope that declares version `0.minor`.
///
/// Two rules of 0.6 are left out, because they hold for every minor and are told with another status: that options
/// differ, and that an input schema describes an object with fields.
pub fn check_shape(minor: u32, envelope: &Value) -> Result<(), Violation> {
    compiled::message_shape(Edition::of(minor))?.check(envelope)
}

#[cfg(test)]
mod tests {
    use super::check_shape;
    use crate::{Edition, Noun, document};
    use serde_json::{Value, json};

    fn ask(request: &Value) -> Value {
        json!({
            "ma2h_version": "0.6", "type": "ask", "created_at": "2026-01-02T03:04:05Z", "title": "Ship?",
            "agent": { "id": "bot", "run_id": "run_1", "runtime": "cli" }, "idempotency_key": "k", "request": request,
        })
    }

    fn finding(minor: u32, envelope: &Value) -> String {
        check_shape(minor, envelope)
            .expect_err("the envelope is malformed")
            .to_string()
    }

    #[test]
    fn a_finding_names_the_field_and_what_was_expected() {
        let select = ask(&json!({ "mode": "select", "options": [{ "value": "a", "label": "A" }] }));
        assert_eq!(check_shape(6, &select), Ok(()));
        for (pointer, value, expected) in [
            (
                "/request/options/0/value",
                json!(7),
                "request.options[0].value: must be a string",
            ),
            (
                "/request/options/0",
                json!({ "value": "a" }),
                "request.options[0].label: is required",
            ),
            (
                "/request/options",
                json!([]),
                "request.options: must have at least 1 item",
            ),
            (
                "/request/mode",
                json!("poll"),
                "request.mode: must be one of select, input, confirm",
            ),
            ("/type", json!("tusk"), "type: must be one of notify, ask, task"),
            ("/title", json!(""), "title: must not be empty"),
            (
                "/title",
                json!("x".repeat(201)),
                "title: must have at most 200 characters",
            ),
            (
                "/created_at",
                json!("yesterday"),
                "created_at: must be an RFC 3339 date and time",
            ),
            ("/agent/id", json!(null), "agent.id: must be a string"),
            (
                "/ma2h_version",
                json!("0.06"),
                "ma2h_version: must be a version of the form 0.N without leading zeros",
            ),
            ("/type", json!("notify"), "request: must be left out of a notify"),
        ] {
            let mut broken = select.clone();
            *broken.pointer_mut(pointer).expect("the field is there") = value;
            assert_eq!(finding(6, &broken), expected);
        }
        assert_eq!(finding(6, &json!([])), "the body must be an object");
        assert_eq!(finding(6, &json!({})), "ma2h_version: is required");
    }

    #[test]
    fn odd_names_are_quoted_and_long_ones_cut() {
        let mut envelope = ask(&json!({ "mode": "confirm" }));
        envelope["agent"]["labels"] = json!({ "a b": 1 });
        assert_eq!(finding(6, &envelope), r#"agent.labels["a b"]: must be a string"#);
        envelope["agent"]["labels"] = json!({ "é".repeat(5000): 1 });
        assert!(finding(6, &envelope).len() < 600);
    }

    #[test]
    fn a_secret_belongs_to_its_scheme() {
        let callback = |auth: Value| {
            ask(
                &json!({ "mode": "confirm", "callback": { "mode": "push", "url": "https://a.example/", "auth": auth } }),
            )
        };
        let both = callback(json!({ "scheme": "hmac", "secret_ref": "s", "token_ref": "t" }));
        assert_eq!(
            finding(6, &both),
            "request.callback.auth.token_ref: must be left out with hmac"
        );
        let none = callback(json!({ "scheme": "bearer" }));
        assert_eq!(finding(6, &none), "request.callback.auth.token_ref: is required");
    }

    #[test]
    fn the_rules_told_with_422_are_left_to_the_hub() {
        let option = json!({ "value": "a", "label": "A" });
        let alike = ask(&json!({ "mode": "select", "options": [option, option] }));
        let scalar = ask(&json!({ "mode": "input", "schema": { "type": "string" } }));
        for envelope in [alike, scalar] {
            assert!(document::check(Edition::V06, Noun::Message, &envelope).is_err());
            for minor in [4, 5, 6, 7] {
                assert_eq!(check_shape(minor, &envelope), Ok(()));
            }
        }
        let list = ask(&json!({ "mode": "input", "schema": [] }));
        assert_eq!(finding(6, &list), "request.schema: must be an object");
        assert_eq!(
            finding(6, &ask(&json!({ "mode": "input" }))),
            "request.schema: is required"
        );
    }
}
