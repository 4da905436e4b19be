//! One message, as its page shows it. Nothing of `state`, `client_ref` and callback credentials is in it.

use hub_proto::{Timestamp, lifecycle};
use ma2h::ack::Ack;
use ma2h::envelope::Envelope;
use ma2h::error::Problem;
use ma2h::status::Status;
use serde::Deserialize;
use serde_json::value::RawValue;
use time::OffsetDateTime;

use crate::edge::answer;

use super::controls::form::{Field, fields};
use super::markdown;

/// A message and what became of it.
pub(super) struct Shown {
    pub(super) id: String,
    pub(super) status: Status,
    pub(super) envelope: Envelope,
    /// The body, drawn; none where nothing stands in it.
    pub(super) body_html: Option<String>,
    pub(super) context: Vec<Part>,
    /// What an ask of mode `input` wants to know, in the agent's order.
    pub(super) fields: Vec<Field>,
    pub(super) accepted_at: Option<OffsetDateTime>,
    /// When the status last changed.
    pub(super) changed_at: Option<OffsetDateTime>,
    pub(super) response: Option<Response>,
    /// Who decided, as the hub attests it.
    pub(super) actor: Option<String>,
    pub(super) delivery: Option<Delivery>,
}

/// Something attached. Exactly one of the three is there.
#[derive(Deserialize)]
pub(super) struct Part {
    pub(super) text: Option<String>,
    /// As the agent wrote it: no number loses a digit.
    pub(super) data: Option<Box<RawValue>>,
    pub(super) file: Option<File>,
    pub(super) metadata: Option<Box<RawValue>>,
}

/// A file that is elsewhere; the hub never fetches it.
#[derive(Deserialize)]
pub(super) struct File {
    pub(super) uri: String,
    pub(super) name: Option<String>,
    pub(super) mime_type: Option<String>,
}

/// What came of it.
#[derive(Deserialize)]
pub(super) struct Response {
    #[serde(default)]
    pub(super) defaulted: bool,
    pub(super) response: Option<Answer>,
}

/// What was decided.
#[derive(Deserialize)]
pub(super) struct Answer {
    pub(super) value: Option<Box<RawValue>>,
    #[serde(default)]
    pub(super) edited: bool,
    pub(super) comment: Option<String>,
    #[serde(default)]
    pub(super) checklist: Vec<Step>,
}

/// An item of a checklist, as it was left.
#[derive(Deserialize)]
pub(super) struct Step {
    pub(super) text: String,
    pub(super) done: bool,
}

/// How far the Response has come on its way to the agent.
pub(super) struct Delivery {
    pub(super) state: String,
    pub(super) delivered_at: Option<OffsetDateTime>,
    /// What the agent said once it had it.
    pub(super) ack: Option<Ack>,
}

/// What the pure crate does not read of an envelope, because no decision needs it.
#[derive(Deserialize)]
struct Rest<'a> {
    #[serde(default)]
    context: Vec<Part>,
    #[serde(borrow)]
    request: Option<&'a RawValue>,
}

impl Shown {
    /// Reads what lifecycle keeps.
    pub(super) fn read(message: lifecycle::Message) -> Result<Self, Problem> {
        let envelope = Envelope::parse(&message.envelope)?;
        let rest: Rest<'_> = serde_json::from_str(&message.envelope).map_err(|_| Problem::internal())?;
        let time = |stamp: &Option<Timestamp>| stamp.as_ref().and_then(hub_proto::time_of);
        Ok(Self {
            fields: if envelope.ask.as_ref().is_some_and(|ask| ask.schema.is_some()) {
                rest.request
                    .and_then(|request| ma2h::json::member(request.get(), "schema"))
                    .map(fields)
                    .unwrap_or_default()
            } else {
                Vec::new()
            },
            context: rest.context,
            accepted_at: time(&message.accepted_at),
            changed_at: time(&message.changed_at),
            response: serde_json::from_str(&message.response).ok(),
            actor: message.actor,
            delivery: message.delivery.map(|delivery| Delivery {
                delivered_at: time(&delivery.delivered_at),
                ack: delivery.ack.as_ref().and_then(answer::ack),
                state: delivery.state,
            }),
            id: message.message_id,
            status: message.status.parse().map_err(|_| Problem::internal())?,
            body_html: envelope
                .body
                .as_deref()
                .filter(|body| !body.trim().is_empty())
                .map(markdown::render),
            envelope,
        })
    }

    /// The address of its page.
    pub(super) fn path(&self) -> String {
        format!("/inbox/{}", self.id)
    }

    /// Whether it waits for somebody.
    pub(super) fn is_open(&self) -> bool {
        self.status == Status::Open
    }

    /// Whether somebody decided on it.
    pub(super) fn is_resolved(&self) -> bool {
        !self.is_open() && (self.envelope.ask.is_some() || self.envelope.task.is_some())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::{Value, json};

    use super::{Shown, lifecycle};

    /// An open message with this envelope.
    pub(in super::super) fn open(envelope: &Value) -> Shown {
        Shown::read(message(envelope, "open", "")).unwrap()
    }

    /// A resolved message with this envelope and Response.
    pub(in super::super) fn resolved(envelope: &Value, status: &str, response: &Value) -> Shown {
        let mut message = message(envelope, status, &response.to_string());
        message.actor = response["response"]["actor"].as_str().map(str::to_owned);
        Shown::read(message).unwrap()
    }

    fn message(envelope: &Value, status: &str, response: &str) -> lifecycle::Message {
        lifecycle::Message {
            message_id: "msg_1".to_owned(),
            status: status.to_owned(),
            envelope: envelope.to_string(),
            response: response.to_owned(),
            ..lifecycle::Message::default()
        }
    }

    /// An ask with this `request`.
    pub(in super::super) fn ask(request: &Value) -> Value {
        json!({
            "ma2h_version": "0.6",
            "type": "ask",
            "created_at": "2026-06-04T18:00:00Z",
            "agent": {"id": "deploybot/dev", "run_id": "run_1", "runtime": "cli", "labels": {"model": "m-1"}},
            "title": "Ship it?",
            "idempotency_key": "k",
            "state": {"secret": "agents-own"},
            "request": request
        })
    }

    #[test]
    fn reads_what_the_pure_crate_does_not() {
        let mut envelope = ask(&json!({"mode": "confirm"}));
        envelope["context"] =
            json!([{"kind": "text", "text": "a"}, {"kind": "file", "file": {"uri": "https://x.example/y"}}]);
        let shown = open(&envelope);
        assert_eq!(shown.envelope.labels, [("model".to_owned(), "m-1".to_owned())]);
        assert_eq!(shown.context.len(), 2);
        assert!(shown.is_open() && !shown.is_resolved());
    }

    #[test]
    fn reads_an_answer() {
        let response =
            json!({"resolution": "answered", "response": {"value": "approve", "actor": "human:alice"}});
        let shown = resolved(&ask(&json!({"mode": "confirm"})), "answered", &response);
        assert!(shown.is_resolved());
        assert_eq!(shown.actor.as_deref(), Some("human:alice"));
    }
}
