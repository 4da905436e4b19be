//! What was accepted is there, once.

use std::collections::{BTreeMap, BTreeSet};

use super::{Cases, Violation, violation};
use crate::campaign::history::{Call, Deed, Told};

/// What is refused by its time or its callback's.
const UNPROCESSABLE: u16 = 422;

/// Whatever a client was told of is in the database.
pub(super) fn nothing_is_lost(cases: &Cases<'_>, found: &mut Vec<Violation>) {
    for (id, calls) in &cases.by_id {
        let is_told = |call: &&&Call| call.told.status().is_some() || matches!(call.told, Told::Tracked(_));
        let (messages, entries) = (&cases.evidence.messages, &cases.evidence.entries);
        let is_there = messages.contains_key(*id) || entries.contains_key(*id);
        if let (Some(told), false) = (calls.iter().find(is_told), is_there) {
            found.push(violation("what was acknowledged is lost", id, told));
        }
    }
}

/// A key makes one message or directive, and every call under it is told of that one; without a key no call makes two.
pub(super) fn a_key_is_one_message(cases: &Cases<'_>, found: &mut Vec<Violation>) {
    let mut calls: BTreeMap<&str, (usize, BTreeSet<&str>)> = BTreeMap::new();
    for call in &cases.evidence.calls {
        let (Deed::Submit { name, keyed, .. } | Deed::Direct { name, keyed, .. }) = &call.deed else {
            continue;
        };
        let (allowed, ids) = calls.entry(name).or_default();
        *allowed = if *keyed { 1 } else { *allowed + 1 };
        if !matches!(call.told, Told::Nothing(_)) {
            ids.extend(call.id());
        }
    }
    for (name, (allowed, ids)) in calls {
        let there = cases.named(name);
        if ids.len() > allowed || there > allowed {
            let what = format!("told of {ids:?}, {there} are there");
            found.push(violation("one submit made several", name, what));
        }
    }
}

/// No call is refused but a submit that came after its `expires_at`, and that then left nothing.
pub(super) fn refusals_are_true(cases: &Cases<'_>, found: &mut Vec<Violation>) {
    for call in &cases.evidence.calls {
        let Told::Refused { status, .. } = &call.told else {
            continue;
        };
        let Some((name, expires_at)) = call.deed.makes() else {
            found.push(violation(
                "a call was refused",
                call.id().unwrap_or_default(),
                call,
            ));
            continue;
        };
        let is_late = expires_at.is_some_and(|at| call.ended >= at);
        if *status != UNPROCESSABLE || !is_late {
            found.push(violation("a submit was refused", name, call));
        } else if cases.named(name) > 0 {
            found.push(violation("a submit was refused that is there", name, call));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::campaign::history::{Deed, Told};
    use crate::campaign::rules::samples::{Sample, at, broken};

    #[test]
    fn a_message_that_is_gone_was_lost() {
        let mut sample = Sample::answered();
        sample.evidence.messages.clear();
        sample.evidence.arrivals.clear();
        assert_eq!(broken(&sample), ["what was acknowledged is lost"]);
    }

    #[test]
    fn a_key_that_made_two_messages_is_found_by_word_and_by_row() {
        let mut by_word = Sample::open();
        by_word.told_submit(3, "other");
        let mut other = by_word.message();
        other.id = "other".to_owned();
        other.name = "another name".to_owned();
        by_word
            .evidence
            .messages
            .insert("other".to_owned(), other.clone());
        assert_eq!(broken(&by_word), ["one submit made several"]);

        let mut by_row = Sample::open();
        other.name = by_row.message().name;
        by_row.evidence.messages.insert("other".to_owned(), other);
        assert_eq!(broken(&by_row), ["one submit made several"]);
    }

    #[test]
    fn only_a_late_submit_without_a_message_is_refused() {
        let refused = |expires_at, status| {
            let mut sample = Sample::default();
            let deed = Deed::Submit {
                name: "late".to_owned(),
                keyed: true,
                expires_at,
            };
            let body = String::new();
            sample.call(5, deed, Told::Refused { status, body });
            broken(&sample)
        };
        assert!(refused(Some(at(4)), 422).is_empty());
        assert_eq!(refused(Some(at(9)), 422), ["a submit was refused"]);
        assert_eq!(refused(None, 422), ["a submit was refused"]);
        assert_eq!(refused(Some(at(4)), 401), ["a submit was refused"]);

        let mut there = Sample::expired();
        let deed = there.submit();
        let body = String::new();
        there.call(9, deed, Told::Refused { status: 422, body });
        assert_eq!(broken(&there), ["a submit was refused that is there"]);
    }

    #[test]
    fn a_read_that_is_refused_is_wrong() {
        let mut sample = Sample::open();
        let (status, body) = (404, String::new());
        sample.call(5, Sample::read(), Told::Refused { status, body });
        assert_eq!(broken(&sample), ["a call was refused"]);
    }
}
