//! What leaves the hub: pushes, pages, and what it says of itself.

use serde_json::json;

use super::Fault;
use super::signing::over_another_digest;
use super::tools::{ack, body, change, header, pretend, push, reply, set, take};

pub(super) static FAULTS: &[Fault] = &[
    // Signatures.
    push(
        "a signature over another digest",
        |push| {
            if let Some(signed) = over_another_digest(push) {
                header(push, |_| signed);
            }
        },
        &[
            "push/an-hmac-push-is-signed-with-its-secret",
            "push/a-task-without-detail-is-signed-too",
        ],
    ),
    push(
        "a signature with a character changed",
        |push| {
            header(push, |value| match value.split_once("v1=") {
                Some((start, v1)) => {
                    // Of the last character not every bit counts, of the first one it does.
                    let first = if v1.starts_with('A') { 'B' } else { 'A' };
                    format!("{start}v1={first}{}", v1.get(1..).unwrap_or_default())
                }
                None => value.to_owned(),
            });
        },
        &[
            "push/an-hmac-push-is-signed-with-its-secret",
            "push/a-bearer-push-carries-its-token-and-is-signed",
            "push/a-task-without-detail-is-signed-too",
            "webhook/a-directive-is-pushed-to-the-webhook-and-signed",
            "acks/a-pushed-acknowledgement-is-signed",
        ],
    ),
    push(
        "no signature",
        |push| {
            push.headers.remove("ma2h-signature");
        },
        &["push/a-signature-has-its-form"],
    ),
    push(
        "a signature of long ago",
        |push| {
            header(push, |value| {
                value.replacen("t=1", "t=0", 1).replacen("t=0", "t=1000", 1)
            });
        },
        &["push/a-signature-is-fresh"],
    ),
    push(
        "one nonce for all",
        |push| {
            header(push, |value| {
                let parts = value.split(',').map(|part| match part.split_once('=') {
                    Some(("jti", _)) => "jti=jti_always_the_same",
                    _ => part,
                });
                parts.collect::<Vec<_>>().join(",")
            });
        },
        &[
            "push/no-nonce-is-used-twice",
            "push-retry/every-attempt-is-one-resolution-freshly-signed",
            "webhook/a-webhook-that-fails-is-tried-again",
        ],
    ),
    push(
        "an answer flipped on the way",
        |push| push.body = push.body.replace("\"approve\"", "\"deny\""),
        &[
            "push/the-push-is-the-response-that-is-pulled",
            "push/an-hmac-push-is-signed-with-its-secret",
        ],
    ),
    push(
        "state left behind",
        |push| {
            if let Ok(mut body) = serde_json::from_str(&push.body) {
                take(&mut body, "", "state");
                push.body = body.to_string();
            }
        },
        &["push/the-push-is-the-response-that-is-pulled"],
    ),
    push(
        "a credential left behind",
        |push| {
            push.headers.remove("authorization");
            push.headers.remove("x-api-key");
        },
        &[
            "push/a-bearer-push-carries-its-token-and-is-signed",
            "push/an-apikey-push-carries-its-key-and-is-signed",
        ],
    ),
    // Callbacks.
    reply(
        "an unregistered host taken",
        |exchange, reply| {
            if exchange.submits() && reply.text.contains("callback") {
                pretend(reply, 422, 202, &ack("open"));
            }
        },
        &[
            "push-retry/a-host-that-is-not-registered-is-refused",
            "push-retry/a-port-is-part-of-the-host",
        ],
    ),
    body(
        "a 4xx tried again",
        |exchange, body| {
            if exchange.call.path.ends_with("/attempts")
                && let Some(attempts) = body["attempts"].as_array_mut()
                && let Some(last) = attempts.last().cloned()
            {
                attempts.push(last);
            }
        },
        &["push-retry/a-4xx-is-not-tried-again"],
    ),
    // What a screen is kept safe from.
    body(
        "raw HTML rendered",
        |_, body| {
            change(body, "/rendered/body_html", |html| {
                json!(format!("{}<script>", html.as_str().unwrap_or_default()))
            });
        },
        &["safety/no-raw-html-of-a-body-is-rendered"],
    ),
    body(
        "a remote image loaded",
        |_, body| {
            change(body, "/rendered/body_html", |_| {
                json!("<img src=\"https://track.example/tree.png\">")
            });
        },
        &["safety/no-remote-image-is-loaded"],
    ),
    // What a hub says of itself.
    body(
        "a capability document that is none",
        |exchange, body| {
            if exchange.call.path.starts_with("/.well-known/ma2h") {
                set(body, "", "max_body_bytes", json!("many"));
            }
        },
        &["discovery/the-capability-document-is-public-and-well-formed"],
    ),
    reply(
        "over the rate without Retry-After",
        |_, reply| {
            reply.headers.remove("retry-after");
        },
        &["limits/over-the-rate-is-429-with-retry-after"],
    ),
    // Presence.
    body(
        "online without a sign of life",
        |exchange, body| {
            if exchange.call.path.ends_with("/presence") {
                change(body, "/state", |_| json!("online"));
            }
        },
        &[
            "presence/a-submit-alone-is-not-listening",
            "presence/an-agent-never-seen-is-unknown",
            "presence/another-accounts-agent-is-as-one-never-seen",
        ],
    ),
    reply(
        "presence told to an agent",
        |exchange, reply| {
            if exchange.call.path.ends_with("/presence") {
                let told = json!({"agent_id": "x", "state": "online", "freshness_seconds": 90});
                pretend(reply, 403, 200, &told);
            }
        },
        &["presence/an-agent-does-not-read-presence"],
    ),
];
