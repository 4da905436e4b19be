//! What lies in a mailbox is given to its agent until the agent acknowledges it, and never to two drains at once (§8.7).

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use time::OffsetDateTime;

use super::{Cases, Violation, violation};
use crate::campaign::evidence::{Entry, Evidence};
use crate::campaign::history::{Call, Deed, Told};
use crate::campaign::mailbox::Shown;

/// How far the clients' clock may be from the database's.
const CLOCK_SLACK: Duration = Duration::from_millis(20);

/// What a drain gave of one directive, and the call.
fn showings<'a>(entry: &Entry, calls: &[&'a Call]) -> impl Iterator<Item = (&'a Call, &'a Shown)> {
    calls.iter().copied().flat_map(move |call| {
        let shown = match &call.told {
            Told::Drained(shown) => shown.as_slice(),
            _ => &[],
        };
        let of_entry = shown.iter().filter(move |shown| shown.id == entry.id);
        of_entry.map(move |shown| (call, shown))
    })
}

/// What was not acknowledged has expired, before any drain had it; or the last drains of all show it.
pub(super) fn nothing_unacknowledged_is_lost(cases: &Cases<'_>, found: &mut Vec<Violation>) {
    let Evidence {
        closing_at, read_at, ..
    } = cases.evidence;
    for (entry, calls) in cases.entries() {
        let was_shown = showings(entry, calls).next().is_some();
        let is_shown_last =
            showings(entry, calls).any(|(call, _)| closing_at.is_some_and(|at| call.began >= at));
        let is_over_in_time = match (entry.expires_at, entry.ended_at) {
            (Some(expires_at), Some(ended_at)) => ended_at > expires_at,
            _ => false,
        };
        let what = match entry.state.as_str() {
            "acknowledged" => entry
                .acked_at
                .is_none()
                .then_some("acknowledged without a word of it"),
            "expired" if was_shown || entry.delivered_at.is_some() => Some("expired though it was drained"),
            "expired" => (!is_over_in_time).then_some("expired before its time"),
            "queued" | "delivered" if read_at.is_some_and(|at| entry.is_dropped(at)) => None,
            "queued" | "delivered" => (!is_shown_last).then_some("not drained any more"),
            _ => Some("in no state it may be in"),
        };
        if let Some(what) = what {
            let what = format!("{what}: {entry:?}");
            found.push(violation("a directive is lost", &entry.id, what));
        }
    }
}

/// Every entry verifies, is what was written, came to its agent, in time, and is signed for this delivery alone.
pub(super) fn entries_can_be_believed(cases: &Cases<'_>, found: &mut Vec<Violation>) {
    const RULE: &str = "an entry cannot be believed";
    let mut seen: BTreeMap<&str, &str> = BTreeMap::new();
    for (entry, calls) in cases.entries() {
        for (call, shown) in showings(entry, calls) {
            let is_of_row = shown.name == entry.name && shown.from == entry.author && shown.to == entry.agent;
            let is_own = matches!(&call.deed, Deed::Drain { agent } if *agent == entry.agent);
            let what = if let Some(fault) = &shown.fault {
                fault.as_str()
            } else if !is_of_row {
                "it is not what was written"
            } else if !is_own {
                "it came to another agent"
            } else if entry.expires_at.is_some_and(|at| call.began > at) {
                "it came after it had expired"
            } else if seen.insert(&shown.jti, &shown.id).is_some() {
                "a signature was used twice"
            } else {
                continue;
            };
            found.push(violation(RULE, &entry.id, format!("{what}: {call}")));
        }
    }
    for call in &cases.evidence.calls {
        let Told::Drained(shown) = &call.told else {
            continue;
        };
        let unknown = shown
            .iter()
            .filter(|shown| !cases.evidence.entries.contains_key(&shown.id));
        found.extend(unknown.map(|shown| violation(RULE, &shown.id, format!("it is not there: {call}"))));
    }
}

/// Of two drains that got one entry, the second claimed it when the window of the first was over.
pub(super) fn one_drain_has_an_entry_at_a_time(cases: &Cases<'_>, found: &mut Vec<Violation>) {
    let window = cases.evidence.window.saturating_sub(CLOCK_SLACK);
    let may_follow = |first: &Call, second: &Call| second.ended >= first.began + window;
    for (entry, calls) in cases.entries() {
        let drains: Vec<&Call> = showings(entry, calls).map(|(call, _)| call).collect();
        for (number, first) in drains.iter().enumerate() {
            for second in &drains[number + 1..] {
                if !may_follow(first, second) && !may_follow(second, first) {
                    let what = format!("{first}\n    {second}");
                    found.push(violation("two drains had one entry", &entry.id, what));
                }
            }
        }
    }
}

/// An acknowledgement that was told of stands: the entry is consumed, once, and no drain that begins later shows it.
pub(super) fn nothing_acknowledged_is_shown_again(cases: &Cases<'_>, found: &mut Vec<Violation>) {
    for (entry, calls) in cases.entries() {
        let mut consumed_at: Option<OffsetDateTime> = None;
        for call in calls {
            let (Deed::Consume { ids, note, .. }, Told::Consumed(count)) = (&call.deed, &call.told) else {
                continue;
            };
            consumed_at = Some(consumed_at.map_or(call.ended, |at| at.min(call.ended)));
            let is_by_this = entry.note == *note && entry.acked_at.is_some_and(|at| at >= call.began);
            let what = if entry.state != "acknowledged" {
                "it does not stand"
            } else if ids.len() > 1 || *count == 0 || is_by_this {
                continue;
            } else {
                "another stands"
            };
            let what = format!("{what}: {call}");
            found.push(violation(
                "an acknowledgement is not as it was told",
                &entry.id,
                what,
            ));
        }
        let Some(at) = consumed_at else { continue };
        for (call, _) in showings(entry, calls).filter(|(call, _)| call.began > at) {
            let what = format!("acknowledged by {}: {call}", at.time());
            found.push(violation("acknowledged and shown again", &entry.id, what));
        }
    }
}

/// Each answer is in the order of arrival; and so is all that comes to an agent whose drains are the last ones.
pub(super) fn first_deliveries_are_in_order(cases: &Cases<'_>, found: &mut Vec<Violation>) {
    let Evidence { entries, calls, .. } = cases.evidence;
    let place = |shown: &Shown| entries.get(&shown.id).map(|entry| entry.place);
    let is_last = |call: &Call| cases.evidence.closing_at.is_some_and(|at| call.began >= at);
    let drainer = |call: &Call| match &call.deed {
        Deed::Drain { agent } => Some(agent.clone()),
        _ => None,
    };
    let early = calls.iter().filter(|call| !is_last(call)).filter_map(drainer);
    let early: BTreeSet<String> = early.collect();
    let mut came: BTreeMap<&str, BTreeSet<(OffsetDateTime, i64)>> = BTreeMap::new();
    for call in calls {
        let (Deed::Drain { agent }, Told::Drained(shown)) = (&call.deed, &call.told) else {
            continue;
        };
        let mut in_order = shown.iter().filter_map(place).is_sorted();
        if !early.contains(agent) {
            let came = came.entry(agent).or_default();
            for place in shown.iter().filter_map(place) {
                // What comes again may come behind what is new.
                in_order &= came.contains(&place) || came.last().is_none_or(|last| *last < place);
                came.insert(place);
            }
        }
        if !in_order {
            found.push(violation("entries came out of order", agent, call));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::campaign::rules::samples::mailbox::shown;
    use crate::campaign::rules::samples::{Sample, at, broken};

    #[test]
    fn a_mailbox_that_is_right_breaks_no_rule() {
        for sample in [
            Sample::queued(),
            Sample::drained(),
            Sample::consumed(),
            Sample::dropped(),
        ] {
            assert_eq!(broken(&sample), Vec::<&str>::new());
        }
    }

    #[test]
    fn what_the_last_drains_do_not_show_is_lost() {
        let mut never = Sample::queued();
        never.evidence.calls.pop();
        never.entry_mut().state = "queued".to_owned();
        never.entry_mut().delivered_at = None;
        assert_eq!(broken(&never), ["a directive is lost"]);

        let mut once = Sample::drained();
        once.evidence.calls.pop();
        assert_eq!(broken(&once), ["a directive is lost"]);

        let mut wordless = Sample::consumed();
        wordless.entry_mut().acked_at = None;
        wordless.evidence.calls.pop();
        assert_eq!(broken(&wordless), ["a directive is lost"]);
    }

    #[test]
    fn what_expires_does_so_in_time_and_undrained() {
        let mut early = Sample::dropped();
        early.entry_mut().ended_at = Some(at(5));
        assert_eq!(broken(&early), ["a directive is lost"]);

        let mut drained = Sample::dropped();
        drained.drain(3, vec![shown("jti-1")]);
        assert_eq!(broken(&drained), ["a directive is lost"]);
    }

    #[test]
    fn an_entry_that_is_not_as_it_was_written_is_found() {
        const RULE: [&str; 1] = ["an entry cannot be believed"];
        let mut forged = Sample::drained();
        forged.shown_mut().fault = Some("signature".to_owned());
        assert_eq!(broken(&forged), RULE);

        let mut changed = Sample::drained();
        changed.shown_mut().name = "something else".to_owned();
        assert_eq!(broken(&changed), RULE);

        let mut astray = Sample::drained();
        astray.drain_by("agent:other", 17, vec![shown("jti-9")]);
        assert_eq!(broken(&astray), RULE);

        let mut replayed = Sample::drained();
        replayed.shown_mut().jti = "jti-1".to_owned();
        assert_eq!(broken(&replayed), RULE);

        let mut unknown = Sample::drained();
        unknown.shown_mut().id = "dir_unknown".to_owned();
        assert!(broken(&unknown).contains(&RULE[0]));

        let mut late = Sample::dropped();
        late.drain(8, vec![shown("jti-1")]);
        assert!(broken(&late).contains(&RULE[0]));
    }

    #[test]
    fn two_drains_within_a_window_are_found() {
        let mut sample = Sample::drained();
        sample.drain(4, vec![shown("jti-5")]);
        assert_eq!(broken(&sample), ["two drains had one entry"]);

        // Begun early, and answered when the window was over.
        sample.last().ended = at(5) + Duration::from_millis(100);
        assert!(broken(&sample).is_empty());
    }

    #[test]
    fn an_acknowledgement_stands() {
        let mut again = Sample::consumed();
        again.drain(9, vec![shown("jti-2")]);
        assert_eq!(broken(&again), ["acknowledged and shown again"]);

        let mut open = Sample::consumed();
        let entry = open.entry_mut();
        (entry.state, entry.ended_at, entry.acked_at) = ("delivered".to_owned(), None, None);
        open.drain(17, vec![shown("jti-2")]);
        let found = broken(&open);
        assert_eq!(
            found,
            [
                "an acknowledgement is not as it was told",
                "acknowledged and shown again"
            ]
        );

        let mut other = Sample::consumed();
        other.entry_mut().note = Some("another word".to_owned());
        assert_eq!(broken(&other), ["an acknowledgement is not as it was told"]);

        // Told that it consumed nothing: another was first.
        other.consume(8, 0);
        other.evidence.calls.remove(2);
        assert!(broken(&other).is_empty());
    }

    #[test]
    fn a_wrong_order_is_found() {
        let mut within = Sample::queued();
        let later = within.second_entry();
        within.evidence.calls.pop();
        within.entry_mut().delivered_at = Some(at(16));
        let mut across = Sample {
            evidence: within.evidence.clone(),
        };
        within.drain(16, vec![later.clone(), shown("jti-1")]);
        assert_eq!(broken(&within), ["entries came out of order"]);

        across.drain(16, vec![later]);
        across.drain(17, vec![shown("jti-1")]);
        across.entry_mut().delivered_at = Some(at(17));
        assert_eq!(broken(&across), ["entries came out of order"]);
    }
}
