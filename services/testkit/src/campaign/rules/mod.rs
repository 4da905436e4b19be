//! What must hold of a hub whatever has failed, judged by its clients' word, its rows and its pushes. Pure: each rule is
//! proved on hand-made histories that break it.

mod accepted;
mod honesty;
mod order;
mod outcome;
mod push;
#[cfg(test)]
mod samples;

use std::collections::BTreeMap;
use std::fmt;

use super::evidence::{Arrival, Evidence, Message};
use super::history::Call;

/// A rule that was broken.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Violation {
    /// The rule.
    pub(crate) rule: &'static str,
    /// The message, by its id or else by its name.
    pub(crate) message: String,
    /// What shows it.
    pub(crate) what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}: {}", self.rule, self.message, self.what)
    }
}

/// Every rule, and all that breaks one. None: all held.
pub(crate) fn judge(evidence: &Evidence) -> Vec<Violation> {
    let cases = Cases::of(evidence);
    let mut found = Vec::new();
    for rule in [
        accepted::nothing_is_lost,
        accepted::a_key_is_one_message,
        accepted::refusals_are_true,
        outcome::there_is_one_outcome,
        outcome::who_won_was_told,
        order::nothing_opens_again,
        order::expiry_is_exact,
        push::what_is_owed_is_done,
        push::pushes_are_signed_and_fresh,
        honesty::delivery_has_evidence,
    ] {
        rule(&cases, &mut found);
    }
    found
}

/// The evidence, gone through once: all that concerns a message stands together.
struct Cases<'a> {
    evidence: &'a Evidence,
    by_id: BTreeMap<&'a str, Vec<&'a Call>>,
    by_name: BTreeMap<&'a str, Vec<&'a Message>>,
    arrivals: BTreeMap<&'a str, Vec<&'a Arrival>>,
}

impl<'a> Cases<'a> {
    fn of(evidence: &'a Evidence) -> Self {
        let mut by_id: BTreeMap<&str, Vec<&Call>> = BTreeMap::new();
        for call in &evidence.calls {
            if let Some(id) = call.id() {
                by_id.entry(id).or_default().push(call);
            }
        }
        let mut by_name: BTreeMap<&str, Vec<&Message>> = BTreeMap::new();
        for message in evidence.messages.values() {
            by_name.entry(&message.name).or_default().push(message);
        }
        let mut arrivals: BTreeMap<&str, Vec<&Arrival>> = BTreeMap::new();
        for arrival in &evidence.arrivals {
            arrivals.entry(&arrival.id).or_default().push(arrival);
        }
        Self {
            evidence,
            by_id,
            by_name,
            arrivals,
        }
    }

    /// What was pushed of a message.
    fn arrivals(&self, id: &str) -> &[&'a Arrival] {
        self.arrivals.get(id).map_or(&[], Vec::as_slice)
    }

    /// Each message with the calls that concern it.
    fn messages(&self) -> impl Iterator<Item = (&'a Message, &[&'a Call])> {
        self.evidence.messages.values().map(|message| {
            let calls = self.by_id.get(message.id.as_str());
            (message, calls.map_or(&[] as &[_], Vec::as_slice))
        })
    }
}

fn violation(rule: &'static str, message: &str, what: impl fmt::Display) -> Violation {
    Violation {
        rule,
        message: message.to_owned(),
        what: what.to_string(),
    }
}
