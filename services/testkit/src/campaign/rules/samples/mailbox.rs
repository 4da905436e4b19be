//! A mailbox with one directive, written at 1 and drained to its end from 15 on; the window is 2 seconds.

use std::time::Duration;

use serde_json::Value;

use super::{Sample, at};
use crate::campaign::evidence::Entry;
use crate::campaign::history::{Deed, Told};
use crate::campaign::mailbox::{Shown, Track};

const ID: &str = "dir_1";
const NAME: &str = "the first directive";
const AUTHOR: &str = "human:alice";
const AGENT: &str = "agent:worker";
const NOTE: &str = "on it";

/// The directive, as one delivery shows it.
pub(in crate::campaign::rules) fn shown(jti: &str) -> Shown {
    Shown {
        id: ID.to_owned(),
        name: NAME.to_owned(),
        from: AUTHOR.to_owned(),
        to: AGENT.to_owned(),
        jti: jti.to_owned(),
        fault: None,
    }
}

impl Sample {
    /// Nobody drained it before the last drain.
    pub(in crate::campaign::rules) fn queued() -> Self {
        let mut sample = Self::written();
        sample.entry_mut().state = "delivered".to_owned();
        sample.entry_mut().delivered_at = Some(at(15));
        sample.drain(15, vec![shown("jti-last")]);
        sample
    }

    /// Drained at 3, and never acknowledged.
    pub(in crate::campaign::rules) fn drained() -> Self {
        let mut sample = Self::written();
        sample.entry_mut().state = "delivered".to_owned();
        sample.entry_mut().delivered_at = Some(at(3));
        sample.drain(3, vec![shown("jti-1")]);
        sample.drain(15, vec![shown("jti-last")]);
        sample
    }

    /// Drained at 3, and acknowledged at 7.
    pub(in crate::campaign::rules) fn consumed() -> Self {
        let mut sample = Self::written();
        let entry = sample.entry_mut();
        entry.state = "acknowledged".to_owned();
        entry.delivered_at = Some(at(3));
        entry.ended_at = Some(at(7));
        entry.acked_at = Some(at(7));
        entry.note = Some(NOTE.to_owned());
        sample.drain(3, vec![shown("jti-1")]);
        sample.consume(7, 1);
        sample
    }

    /// Expired shortly after 6, undrained.
    pub(in crate::campaign::rules) fn dropped() -> Self {
        let mut sample = Self::written();
        let entry = sample.entry_mut();
        entry.state = "expired".to_owned();
        entry.expires_at = Some(at(6));
        entry.ended_at = Some(at(6) + Duration::from_millis(50));
        sample.follow(8, "expired", None);
        sample
    }

    fn written() -> Self {
        let mut sample = Self::default();
        let entry = Entry {
            id: ID.to_owned(),
            name: NAME.to_owned(),
            agent: AGENT.to_owned(),
            author: AUTHOR.to_owned(),
            expires_at: None,
            state: "queued".to_owned(),
            place: (at(1), 1),
            delivered_at: None,
            ended_at: None,
            acked_at: None,
            note: None,
        };
        sample.evidence.entries.insert(ID.to_owned(), entry);
        sample.evidence.window = Duration::from_secs(2);
        sample.evidence.closing_at = Some(at(15));
        sample.evidence.read_at = Some(at(20));
        let deed = Deed::Direct {
            name: NAME.to_owned(),
            keyed: true,
            expires_at: None,
        };
        sample.call(1, deed, tracked("queued", None));
        sample
    }

    /// One more, that came a second later and was first drained at 16; and how that shows it.
    pub(in crate::campaign::rules) fn second_entry(&mut self) -> Shown {
        let mut entry = self.evidence.entries[ID].clone();
        entry.id = "dir_2".to_owned();
        entry.name = "the second directive".to_owned();
        entry.place = (at(2), 2);
        entry.delivered_at = Some(at(16));
        let mut shown = shown("jti-2");
        (shown.id, shown.name) = (entry.id.clone(), entry.name.clone());
        self.evidence.entries.insert(entry.id.clone(), entry);
        shown
    }

    pub(in crate::campaign::rules) fn entry_mut(&mut self) -> &mut Entry {
        self.evidence.entries.get_mut(ID).unwrap()
    }

    /// What the latest drain showed.
    pub(in crate::campaign::rules) fn shown_mut(&mut self) -> &mut Shown {
        match &mut self.last().told {
            Told::Drained(shown) => &mut shown[0],
            _ => panic!("the latest call is no drain"),
        }
    }

    pub(in crate::campaign::rules) fn drain(&mut self, second: u64, shown: Vec<Shown>) {
        self.drain_by(AGENT, second, shown);
    }

    pub(in crate::campaign::rules) fn drain_by(&mut self, agent: &str, second: u64, shown: Vec<Shown>) {
        let agent = agent.to_owned();
        self.call(second, Deed::Drain { agent }, Told::Drained(shown));
    }

    /// A drain whose client went away.
    pub(in crate::campaign::rules) fn cut_drain(&mut self, second: u64) {
        let agent = AGENT.to_owned();
        self.call(second, Deed::Drain { agent }, Told::Nothing("cut".to_owned()));
    }

    /// The agent acknowledges, and is told how many that consumed.
    pub(in crate::campaign::rules) fn consume(&mut self, second: u64, count: u64) {
        let deed = Deed::Consume {
            agent: AGENT.to_owned(),
            ids: vec![ID.to_owned()],
            note: Some(NOTE.to_owned()),
        };
        self.call(second, deed, Told::Consumed(count));
    }

    /// A human looks how far it got.
    pub(in crate::campaign::rules) fn follow(&mut self, second: u64, state: &str, ack: Option<Value>) {
        let id = ID.to_owned();
        self.call(second, Deed::Follow { id }, tracked(state, ack));
    }
}

fn tracked(state: &str, ack: Option<Value>) -> Told {
    Told::Tracked(Track {
        id: ID.to_owned(),
        state: state.to_owned(),
        ack,
    })
}
