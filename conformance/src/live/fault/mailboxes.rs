//! Mailboxes, acknowledgements, sessions, and mail between agents.

use serde_json::json;

use super::Fault;
use super::tools::{body, change, entries, pretend, reply, restate, set, take};
use crate::live::envelope::{in_ms, unique};

pub(super) static FAULTS: &[Fault] = &[
    // The mailbox.
    body(
        "a directive altered",
        |exchange, body| {
            entries(exchange, body, "directive", |entry| {
                set(entry, "", "title", json!("Pick all"));
            });
        },
        &["directives/a-directive-is-drained-signed-and-well-formed"],
    ),
    body(
        "the author of the body",
        |exchange, body| {
            entries(exchange, body, "directive", |entry| {
                set(entry, "", "from", json!("human:mallory"));
            });
        },
        &["directives/its-author-is-the-one-who-was-authenticated"],
    ),
    reply(
        "a directive to nobody taken",
        |exchange, reply| {
            if exchange.call.path == "/v1/directives" {
                let said = json!({"directive": {"id": "dir_1"}, "delivery": {"state": "queued"}});
                pretend(reply, 422, 201, &said);
            }
        },
        &["directives/a-directive-to-nobody-is-refused"],
    ),
    body(
        "delivered before it was drained",
        |exchange, body| {
            if exchange.call.path.starts_with("/v1/directives") && body["delivery"]["state"] == "queued" {
                change(body, "/delivery/state", |_| json!("delivered"));
            }
        },
        &[
            "directives/a-directives-track-follows-the-evidence",
            "streams/a-stream-alone-delivers-nothing",
        ],
    ),
    body(
        "unstripped state in an entry",
        |exchange, body| {
            entries(exchange, body, "message", |entry| {
                set(entry, "", "state", json!({"s": 1}));
            });
        },
        &[
            "entries/what-is-the-senders-own-is-taken-off",
            "entries/a-message-is-drained-signed-and-well-formed",
        ],
    ),
    body(
        "a sender's session left out",
        |exchange, body| {
            entries(exchange, body, "message", |entry| {
                change(entry, "/from", |from| {
                    json!(from.as_str().unwrap_or_default().split('#').next())
                });
            });
        },
        &["entries/its-sender-is-attested-with-the-session-it-named"],
    ),
    // Acknowledgements.
    reply(
        "an open message acknowledged",
        |exchange, reply| {
            if exchange.call.path.ends_with("/ack") {
                let said = json!({
                    "ma2h_version": "0.6", "type": "ack", "in_reply_to": "msg_1", "by": "agent:x", "acked_at": in_ms(0),
                });
                pretend(reply, 409, 200, &said);
            }
        },
        &[
            "acks/an-open-message-is-not-acknowledged",
            "acks/an-answer-not-yet-seen-is-not-acknowledged",
        ],
    ),
    body(
        "a second acknowledgement wins",
        |exchange, body| {
            if exchange.call.path.ends_with("/ack") {
                set(body, "", "note", json!(unique()));
            }
        },
        &["acks/the-first-acknowledgement-wins"],
    ),
    // Sessions.
    body(
        "a lease renewed by whatever comes",
        |exchange, body| {
            if exchange.call.path.starts_with("/v1/sessions/") {
                change(body, "/session/expires_at", |_| json!(in_ms(900_000)));
            }
        },
        &[
            "sessions/a-read-does-not-renew",
            "sessions/an-ack-without-the-session-does-not-renew",
            "streams/an-open-stream-does-not-renew",
        ],
    ),
    reply(
        "an operator's close told as any",
        |_, reply| reply.text = reply.text.replace("session_closed_by_operator", "gone"),
        &[
            "owners/an-operators-close-says-stop-to-its-owner",
            "stops/a-stopped-agent-registers-no-session",
        ],
    ),
    body(
        "not closed by an operator, and said so",
        |_, body| set(body, "/session", "closed_by_operator", json!(false)),
        &["owners/an-operators-close-is-marked"],
    ),
    reply(
        "a foreign session told from an unknown one",
        |_, reply| restate(reply, 404, 410, "gone"),
        &["owners/presenting-a-foreign-session-is-not-found"],
    ),
    // Mail between agents.
    body(
        "no word of the destination",
        |exchange, body| {
            if exchange.submits() {
                take(body, "", "destination");
            }
        },
        &["addressed/every-addressed-ack-tells-of-its-destination"],
    ),
    body(
        "a destination always online",
        |exchange, body| {
            if exchange.submits() {
                change(
                    body,
                    "/destination",
                    |_| json!({"state": "online", "last_seen": in_ms(0)}),
                );
            }
        },
        &["addressed/who-may-not-see-is-told-unknown-and-nothing-else"],
    ),
    body(
        "an addressed notify delivered at once",
        |exchange, body| {
            if (exchange.submits() || exchange.reads()) && body["status"] == "queued" {
                change(body, "/status", |_| json!("delivered"));
            }
        },
        &["addressed/an-addressed-notify-is-queued-never-delivered"],
    ),
    body(
        "a bounce that says it was seen",
        |exchange, body| {
            if exchange.reads() && body["mailbox"]["state"] == "bounced" {
                set(body, "/mailbox", "prior", json!("delivered"));
            }
        },
        &["honesty/what-a-dead-session-never-saw-bounces"],
    ),
    body(
        "undeliverable in the addressee's name",
        |exchange, body| {
            if exchange.reads() {
                change(body, "/response/response/actor", |_| {
                    json!("agent:orchard/worker")
                });
            }
        },
        &["honesty/a-bounced-ask-is-cancelled-as-undeliverable"],
    ),
];
