//! What must hold of a hub whatever has failed, judged by its clients' word, its rows and its pushes. Pure: each rule is
//! proved on hand-made histories that break it.

mod accepted;
mod drains;
mod honesty;
mod order;
mod outcome;
mod push;
#[cfg(test)]
mod samples;
mod tracks;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::evidence::{Arrival, Entry, Evidence, Message};
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
        honesty::acknowledgements_stand,
        drains::nothing_unacknowledged_is_lost,
        drains::entries_can_be_believed,
        drains::one_drain_has_an_entry_at_a_time,
        drains::nothing_acknowledged_is_shown_again,
        drains::first_deliveries_are_in_order,
        tracks::delivered_means_drained,
        tracks::tracks_go_forward,
        tracks::tracks_say_what_is_true,
    ] {
        rule(&cases, &mut found);
    }
    found
}

/// The evidence, gone through once: all that concerns a message stands together.
struct Cases<'a> {
    evidence: &'a Evidence,
    by_id: BTreeMap<&'a str, Vec<&'a Call>>,
    by_name: BTreeMap<&'a str, usize>,
    arrivals: BTreeMap<&'a str, Vec<&'a Arrival>>,
}

impl<'a> Cases<'a> {
    fn of(evidence: &'a Evidence) -> Self {
        let mut by_id: BTreeMap<&str, Vec<&Call>> = BTreeMap::new();
        for call in &evidence.calls {
            for id in call.ids().collect::<BTreeSet<_>>() {
                by_id.entry(id).or_default().push(call);
            }
        }
        let mut by_name: BTreeMap<&str, usize> = BTreeMap::new();
        let messages = evidence.messages.values().map(|message| &message.name);
        for name in messages.chain(evidence.entries.values().map(|entry| &entry.name)) {
            *by_name.entry(name).or_default() += 1;
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

    /// How many messages and directives are of this name.
    fn named(&self, name: &str) -> usize {
        self.by_name.get(name).copied().unwrap_or_default()
    }

    /// Each directive with the calls that concern it, in the order in which they ended.
    fn entries(&self) -> impl Iterator<Item = (&'a Entry, &[&'a Call])> {
        self.evidence.entries.values().map(|entry| {
            let calls = self.by_id.get(entry.id.as_str());
            (entry, calls.map_or(&[] as &[_], Vec::as_slice))
        })
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
