//! What is taken at submit, and what it means.

use serde_json::json;

use super::Fault;
use super::tools::{ack, body, change, pretend, reply, set, take};
use crate::live::envelope::unique;

pub(super) static FAULTS: &[Fault] = &[
    // Submitting again.
    body(
        "a new id for a replay",
        |exchange, body| {
            if exchange.submits() {
                change(body, "/id", |_| json!(format!("msg_{}", unique())));
            }
        },
        &[
            "submit/a-replay-gets-the-original-ack",
            "submit/of-identical-submits-at-once-comes-one-message",
            "free-form/permission-to-edit-is-kept-where-it-does-not-count",
        ],
    ),
    body(
        "the first status for a replay",
        |exchange, body| {
            if exchange.submits() && body["status"] != "delivered" {
                change(body, "/status", |_| json!("open"));
            }
        },
        &["submit/a-replay-gets-the-current-status"],
    ),
    reply(
        "a differing replay taken",
        |exchange, reply| {
            if exchange.submits() {
                pretend(reply, 409, 202, &ack("open"));
            }
        },
        &[
            "submit/a-differing-replay-is-refused",
            "submit/numbers-that-differ-beyond-a-double-differ",
            "free-form/a-raised-version-is-another-payload",
        ],
    ),
    body(
        "nowhere to poll",
        |exchange, body| {
            if exchange.submits() {
                take(body, "", "poll_url");
            }
        },
        &[
            "submit/an-accepted-message-is-acknowledged",
            "submit/where-to-poll-is-where-the-message-is",
        ],
    ),
    // What is refused at submit.
    reply(
        "a broken ask taken",
        |exchange, reply| {
            if exchange.submits() {
                pretend(reply, 422, 202, &ack("open"));
            }
        },
        &[
            "asks/two-options-of-one-value-are-refused",
            "asks/two-options-of-one-value-are-refused-at-every-minor",
            "asks/an-input-without-fields-is-refused-at-every-minor",
            "envelopes/an-expiry-in-the-past-is-refused",
            "limits/a-body-up-to-the-limit-is-taken-and-no-longer-one",
        ],
    ),
    reply(
        "a refusal that does not name the field",
        |_, reply| reply.text = reply.text.replace("request.schema", "something"),
        &["asks/an-input-without-fields-is-refused-by-name"],
    ),
    reply(
        "a malformed envelope taken",
        |exchange, reply| {
            if exchange.submits() && reply.text.contains("validation_error") {
                pretend(reply, 400, 202, &ack("open"));
            }
        },
        &[
            "errors/a-malformed-envelope-is-a-validation-error",
            "submit/an-ask-and-a-task-need-a-key",
            "versions/another-spelling-of-a-minor-is-refused",
        ],
    ),
    reply(
        "any version taken",
        |exchange, reply| {
            if exchange.submits() && reply.text.contains("version_not_supported") {
                pretend(reply, 400, 202, &ack("open"));
            }
        },
        &[
            "errors/an-unknown-major-is-not-supported",
            "versions/a-push-below-0-3-is-refused",
        ],
    ),
    body(
        "an error of another shape",
        |_, body| {
            if let Some(error) = body.get("error").cloned() {
                *body = json!({"error": error["code"], "message": error["message"]});
            }
        },
        &["errors/every-refusal-has-the-one-shape"],
    ),
    // Free-form answers.
    body(
        "an edited answer not said to be",
        |_, body| take(body, "/response/response", "edited"),
        &["free-form/off-the-list-is-taken-verbatim-with-permission"],
    ),
    body(
        "a listed answer said to be edited",
        |exchange, body| {
            if exchange.reads() {
                set(body, "/response/response", "edited", json!(true));
            }
        },
        &[
            "free-form/a-listed-answer-is-not-edited",
            "free-form/what-a-resolver-says-of-edited-is-ignored",
        ],
    ),
    body(
        "a permission that does not count, removed",
        |exchange, body| {
            if exchange.reads() {
                take(body, "/request", "permissions");
            }
        },
        &["free-form/permission-to-edit-is-kept-where-it-does-not-count"],
    ),
    // Verbs.
    body(
        "a Response of a notify",
        |exchange, body| {
            if exchange.reads() && body["type"] == "notify" {
                set(body, "", "response", json!({"resolution": "completed"}));
            }
        },
        &["verbs/a-notify-gets-no-response"],
    ),
    body(
        "a comment lost",
        |_, body| take(body, "/response/response", "comment"),
        &[
            "response/a-comment-reaches-the-agent",
            "verbs/a-task-is-completed-with-its-checklist",
        ],
    ),
    body(
        "the hub's version in a Response",
        |_, body| change(body, "/response/ma2h_version", |_| json!("0.9")),
        &["response/a-response-carries-the-version-of-its-ask"],
    ),
];
