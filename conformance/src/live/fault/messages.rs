//! Whose a message is, how it ends, and what is shown of it.

use serde_json::json;

use super::Fault;
use super::tools::{ack, body, change, pretend, reply, resolved, restate, set, take};
use crate::live::envelope::unique;

pub(super) static FAULTS: &[Fault] = &[
    // What is not one's own.
    reply(
        "403 for 404",
        |exchange, reply| {
            if exchange.call.path.starts_with("/v1/messages/") {
                restate(reply, 404, 403, "not_authorized");
            }
        },
        &[
            "binding/another-agent-does-not-read-it",
            "cancel/nobody-else-cancels",
        ],
    ),
    reply(
        "a foreign message told from an unknown one",
        |exchange, reply| {
            // No message has such an id.
            if reply.status == 404 && !exchange.call.path.contains("msg_01J0000000") {
                reply.text = reply.text.replace("\"message\":\"", "\"message\":\"not yours: ");
            }
        },
        &["binding/a-foreign-message-is-as-unknown-as-no-message"],
    ),
    reply(
        "401 as 403",
        |_, reply| restate(reply, 401, 403, "not_authorized"),
        &["errors/who-has-no-credential-is-unauthenticated"],
    ),
    reply(
        "another's id accepted",
        |exchange, reply| {
            if exchange.submits() {
                pretend(reply, 403, 202, &ack("open"));
            }
        },
        &["errors/another-agents-id-is-a-mismatch"],
    ),
    // Who may resolve, and how it is told.
    reply(
        "anybody resolves",
        |exchange, reply| {
            if exchange.resolves() {
                pretend(reply, 403, 200, &resolved());
            }
        },
        &[
            "resolvers/without-a-list-only-the-submitter-resolves",
            "resolvers/a-list-says-who-and-nobody-else",
        ],
    ),
    body(
        "the actor of the body",
        |exchange, body| {
            if exchange.reads() {
                change(body, "/response/response/actor", |_| json!("human:mallory"));
            }
        },
        &[
            "response/the-actor-is-the-one-who-was-authenticated",
            "resolvers/a-listed-agent-resolves-in-its-own-name",
        ],
    ),
    reply(
        "any value taken",
        |exchange, reply| {
            if exchange.resolves() {
                pretend(reply, 422, 200, &resolved());
            }
        },
        &[
            "verbs/a-select-is-answered-with-one-of-its-values",
            "verbs/an-input-is-answered-with-an-object-that-fits",
            "free-form/off-the-list-is-refused-without-permission",
            "verbs/a-resolution-fits-its-verb",
        ],
    ),
    // One terminal state.
    reply(
        "a second winner",
        |exchange, reply| {
            if exchange.resolves() {
                pretend(reply, 409, 200, &resolved());
            }
        },
        &[
            "lifecycle/of-many-resolves-at-once-one-wins",
            "lifecycle/the-first-resolution-wins-and-the-second-is-told",
            "expiry/an-answer-after-expiry-loses",
        ],
    ),
    body(
        "a second resolution id",
        |exchange, body| {
            if exchange.reads() {
                change(body, "/response/resolution_id", |_| {
                    json!(format!("res_{}", unique()))
                });
            }
        },
        &[
            "lifecycle/a-resolve-says-what-it-did",
            "lifecycle/a-terminal-message-reads-the-same-for-ever",
            "pull/a-read-changes-nothing",
        ],
    ),
    body(
        "a conflict without its outcome",
        |exchange, body| {
            if exchange.status == 409 {
                take(body, "", "resolution");
            }
        },
        &[
            "lifecycle/the-first-resolution-wins-and-the-second-is-told",
            "cancel/after-another-end-the-canceller-is-told-of-that",
        ],
    ),
    reply(
        "a cancel that came too late, applied",
        |exchange, reply| {
            if exchange.cancels() {
                pretend(reply, 409, 200, &json!({"id": "msg_1", "status": "cancelled"}));
            }
        },
        &[
            "expiry/a-cancel-after-expiry-loses",
            "cancel/after-another-end-the-canceller-is-told-of-that",
        ],
    ),
    reply(
        "a task cancelled",
        |exchange, reply| {
            if exchange.cancels() {
                let said = json!({"id": "msg_1", "status": "cancelled"});
                pretend(reply, 422, 200, &said);
                pretend(reply, 400, 200, &said);
            }
        },
        &["cancel/a-task-is-not-cancelled"],
    ),
    // Expiry.
    body(
        "expired, read as open",
        |exchange, body| {
            if exchange.reads() && body["status"] == "expired" {
                change(body, "/status", |_| json!("open"));
                take(body, "", "response");
            }
        },
        &["expiry/an-ask-expires-to-its-default"],
    ),
    body(
        "a default in a human's name",
        |exchange, body| {
            if exchange.reads() && body["response"]["defaulted"] == true {
                change(body, "/response/response/actor", |_| json!("human:alice"));
            }
        },
        &["response/a-default-is-never-in-a-humans-name"],
    ),
    body(
        "a default not said to be one",
        |_, body| take(body, "/response", "defaulted"),
        &["response/a-default-is-never-in-a-humans-name"],
    ),
    reply(
        "a default that does not fit, taken",
        |exchange, reply| {
            if exchange.submits() && reply.text.contains("default_on_expire") {
                pretend(reply, 422, 202, &ack("open"));
            }
        },
        &[
            "expiry/a-default-fits-the-request",
            "free-form/permission-to-edit-does-not-reach-the-default",
        ],
    ),
    // What is shown to whom.
    body(
        "state shown to a human",
        |exchange, body| {
            if exchange.reads() && exchange.is_human() {
                set(body, "", "state", json!({"hidden": "pip-kernel-13"}));
            }
        },
        &["envelopes/state-is-not-shown-to-humans"],
    ),
    body(
        "a label shown to a resolver",
        |exchange, body| {
            if exchange.reads() && exchange.is_human() {
                set(body, "", "client_ref", json!("label-77-secret"));
            }
        },
        &["envelopes/client-ref-is-not-shown-to-resolvers"],
    ),
    reply(
        "state spelled anew",
        |exchange, reply| {
            if exchange.reads() {
                reply.text = reply.text.replace("1.50", "1.5");
            }
        },
        &["envelopes/state-comes-back-byte-for-byte"],
    ),
    body(
        "what the agent forged, believed",
        |exchange, body| {
            if exchange.reads() && body["status"] == "open" {
                set(body, "", "delivery", json!({"state": "acknowledged"}));
            }
        },
        &["envelopes/what-only-the-hub-may-say-is-not-believed"],
    ),
    body(
        "unknown members dropped",
        |exchange, body| {
            if exchange.reads() {
                take(body, "", "later");
            }
        },
        &["envelopes/unknown-members-are-let-be"],
    ),
];
