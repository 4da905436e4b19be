//! Hand-made evidence: of a hub that is right, for a test to break.

pub(super) mod mailbox;

use std::time::Duration;

use serde_json::{Value, json};
use time::OffsetDateTime;
use time::macros::datetime;

use super::judge;
use crate::campaign::evidence::{Arrival, Evidence, Message};
use crate::campaign::history::{Call, Deed, OPEN, Told};

pub(super) const ID: &str = "msg_1";
const NAME: &str = "the first";
const RESOLUTION: &str = "res_1";
const TOKEN: &str = "word-of-alice";

#[derive(Default)]
pub(super) struct Sample {
    pub(super) evidence: Evidence,
}

/// Seconds after the campaign began.
pub(super) fn at(second: u64) -> OffsetDateTime {
    datetime!(2026-01-01 00:00 UTC) + Duration::from_secs(second)
}

/// The rules that a sample breaks.
pub(super) fn broken(sample: &Sample) -> Vec<&'static str> {
    judge(&sample.evidence).iter().map(|found| found.rule).collect()
}

impl Sample {
    /// Submitted at 1, and nothing more.
    pub(super) fn open() -> Self {
        let mut sample = Self::default();
        let message = Message {
            id: ID.to_owned(),
            name: NAME.to_owned(),
            status: OPEN.to_owned(),
            expires_at: None,
            terminal_at: None,
            resolution_id: None,
            detail: String::new(),
            delivery_state: None,
            delivered_at: None,
            is_pushed: true,
            push: None,
            attempts: Vec::new(),
            ack_note: None,
        };
        sample.evidence.messages.insert(ID.to_owned(), message);
        sample.evidence.read_at = Some(at(20));
        sample.told_submit(1, ID);
        sample
    }

    /// Answered at 5, and pushed.
    pub(super) fn answered() -> Self {
        let mut sample = Self::open();
        let message = sample.message_mut();
        message.status = "answered".to_owned();
        message.terminal_at = Some(at(5));
        message.resolution_id = Some(RESOLUTION.to_owned());
        message.detail = json!({"value": "approve", "comment": TOKEN}).to_string();
        message.delivery_state = Some("delivered-to-agent".to_owned());
        message.delivered_at = Some(at(7));
        message.push = Some("delivered".to_owned());
        message.attempts = vec!["delivered".to_owned()];
        let (deed, ended) = (Self::resolve(), sample.ended());
        sample.call(5, deed, ended);
        sample.evidence.arrivals.push(Arrival {
            at: at(6),
            id: ID.to_owned(),
            body: response(),
            jti: "jti-1".to_owned(),
            fault: None,
            status: Some(204),
        });
        sample
    }

    /// Pulled, and expired shortly after 6.
    pub(super) fn expired() -> Self {
        let mut sample = Self::open();
        let message = sample.message_mut();
        message.status = "expired".to_owned();
        message.expires_at = Some(at(6));
        message.terminal_at = Some(at(6) + Duration::from_millis(50));
        message.resolution_id = Some(RESOLUTION.to_owned());
        message.is_pushed = false;
        sample.call(
            8,
            Self::read(),
            Told::Seen {
                status: "expired".to_owned(),
                response: None,
            },
        );
        sample
    }

    pub(super) fn message(&self) -> Message {
        self.evidence.messages[ID].clone()
    }

    pub(super) fn message_mut(&mut self) -> &mut Message {
        self.evidence.messages.get_mut(ID).unwrap()
    }

    /// A call of a tenth of a second from that second on.
    pub(super) fn call(&mut self, second: u64, deed: Deed, told: Told) {
        self.evidence.calls.push(Call {
            client: "somebody".to_owned(),
            gateway: 0,
            began: at(second),
            ended: at(second) + Duration::from_millis(100),
            deed,
            told,
        });
    }

    pub(super) fn last(&mut self) -> &mut Call {
        self.evidence.calls.last_mut().unwrap()
    }

    pub(super) fn submit(&self) -> Deed {
        Deed::Submit {
            name: NAME.to_owned(),
            keyed: true,
            expires_at: self.message().expires_at,
        }
    }

    pub(super) fn told_submit(&mut self, second: u64, id: &str) {
        let (id, status) = (id.to_owned(), OPEN.to_owned());
        self.call(second, self.submit(), Told::Accepted { id, status });
    }

    /// The answer that won.
    pub(super) fn resolve() -> Deed {
        Deed::Resolve {
            id: ID.to_owned(),
            token: TOKEN.to_owned(),
        }
    }

    pub(super) fn ended(&self) -> Told {
        Told::Ended {
            status: self.message().status,
            resolution_id: Some(RESOLUTION.to_owned()),
        }
    }

    pub(super) fn read() -> Deed {
        Deed::Read {
            id: ID.to_owned(),
            by_submitter: true,
        }
    }

    /// The agent reads the Response, changed as given.
    pub(super) fn seen(&mut self, second: u64, change: impl FnOnce(&mut Value)) {
        let mut response = response();
        change(&mut response);
        let (status, response) = (self.message().status, Some(response));
        self.call(second, Self::read(), Told::Seen { status, response });
    }

    /// The agent acknowledges, and that stands.
    pub(super) fn acknowledged(&mut self, second: u64, note: &str) {
        let message = self.message_mut();
        message.delivery_state = Some("acknowledged".to_owned());
        message.ack_note = Some(note.to_owned());
        self.acknowledged_again(second, note, note);
    }

    /// The agent acknowledges, and is told that one with this note stands.
    pub(super) fn acknowledged_again(&mut self, second: u64, note: &str, standing: &str) {
        let ack = json!({"in_reply_to": ID, "note": standing});
        self.call(second, Self::ack(note, false), Told::Acknowledged(ack));
    }

    /// The agent is told that there is nothing to acknowledge.
    pub(super) fn refused_ack(&mut self, second: u64, in_handler: bool) {
        self.call(second, Self::ack("a word", in_handler), Told::TooEarly);
    }

    fn ack(note: &str, in_handler: bool) -> Deed {
        Deed::Ack {
            id: ID.to_owned(),
            note: note.to_owned(),
            in_handler,
        }
    }

    /// One more attempt arrives, changed as given.
    pub(super) fn push_again(&mut self, change: impl FnOnce(&mut Arrival)) {
        let mut arrival = self.evidence.arrivals[0].clone();
        arrival.jti = "jti-2".to_owned();
        change(&mut arrival);
        self.evidence.arrivals.push(arrival);
    }
}

fn response() -> Value {
    json!({
        "in_reply_to": ID,
        "resolution_id": RESOLUTION,
        "resolution": "answered",
        "response": {"value": "approve", "comment": TOKEN},
        "state": {"of": NAME},
    })
}
