//! The body of a resolve.

use serde_json::Value;

use crate::{Edition, Noun, Violation, document};

/// Checks the shape of a resolve; whether the value fits the request is not looked at.
pub fn check_shape(body: &Value) -> Result<(), Violation> {
    document::check(Edition::V06, Noun::ResolveRequest, body)
}

#[cfg(test)]
mod tests {
    use super::check_shape;
    use serde_json::{Value, json};

    #[test]
    fn a_resolve_says_what_it_should_have_been() {
        let cases: [(Value, &str); 8] = [
            (
                json!({ "resolution": "answered", "value": "yes", "edited": 3 }),
                "",
            ),
            (
                json!({ "resolution": "completed", "checklist": [{ "text": "a", "done": true }] }),
                "",
            ),
            (json!({}), "resolution: is required"),
            (json!({ "resolution": "answered" }), "value: is required"),
            (
                json!({ "resolution": "answered", "value": 1 }),
                "value: must be a string or an object",
            ),
            (
                json!({ "resolution": "declined", "value": "x" }),
                "value: must be left out unless the resolution is answered",
            ),
            (
                json!({ "resolution": "completed", "checklist": [{ "text": "a" }] }),
                "checklist[0].done: is required",
            ),
            (
                json!({ "resolution": "declined", "checklist": [] }),
                "checklist: must be left out when an ask is resolved",
            ),
        ];
        for (body, expected) in cases {
            let found = check_shape(&body).err().map(|violation| violation.to_string());
            assert_eq!(found.unwrap_or_default(), expected, "{body}");
        }
    }
}
