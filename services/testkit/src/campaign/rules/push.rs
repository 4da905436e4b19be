//! What is owed to a callback gets there, or is settled with a reason; and what gets there can be believed.

use std::collections::BTreeMap;

use super::{Cases, Violation, violation};
use crate::campaign::evidence::{Arrival, Message};

/// Every resolved message that asked for it was pushed, or its push is settled; nothing else was pushed.
pub(super) fn what_is_owed_is_done(cases: &Cases<'_>, found: &mut Vec<Violation>) {
    for message in cases.evidence.messages.values() {
        if let Some(what) = fault(message, cases.arrivals(&message.id)) {
            let what = format!("{what}: push {:?}, attempts {:?}", message.push, message.attempts);
            found.push(violation("a push is not as it is said", &message.id, what));
        }
    }
}

fn fault(message: &Message, arrived: &[&Arrival]) -> Option<&'static str> {
    let answered = |range: std::ops::Range<u16>| {
        let mut statuses = arrived.iter().filter_map(|arrival| arrival.status);
        statuses.any(|status| range.contains(&status))
    };
    let latest = message.attempts.last().map(String::as_str);
    if !(message.is_pushed && message.is_resolved()) {
        return (message.push.is_some() || !arrived.is_empty()).then_some("pushed though nothing is owed");
    }
    match message.push.as_deref() {
        None => Some("owed and not there"),
        Some("due" | "held") => Some("still owed"),
        Some("delivered") => (!answered(200..300)).then_some("said to be delivered"),
        Some("refused") => (!answered(400..500) || latest != Some("refused")).then_some("said to be refused"),
        Some("exhausted") => (latest != Some("exhausted")).then_some("given up without a reason"),
        Some(_) => Some("in no state it may be in"),
    }
}

/// Every push verifies, names a time near that of its arrival, and is signed for itself alone.
pub(super) fn pushes_are_signed_and_fresh(cases: &Cases<'_>, found: &mut Vec<Violation>) {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for arrival in &cases.evidence.arrivals {
        if let Some(fault) = &arrival.fault {
            found.push(violation("a push cannot be believed", &arrival.id, fault));
        }
        *seen.entry(&arrival.jti).or_default() += 1;
    }
    for (jti, _) in seen.iter().filter(|(_, count)| **count > 1) {
        found.push(violation("a signature was used twice", jti, ""));
    }
}

#[cfg(test)]
mod tests {
    use crate::campaign::rules::samples::{Sample, broken};

    const NOT_AS_SAID: [&str; 1] = ["a push is not as it is said"];

    #[test]
    fn a_push_that_is_owed_still_or_never_was_is_found() {
        for state in [Some("due"), Some("held"), None, Some("expired")] {
            let mut sample = Sample::answered();
            sample.message_mut().push = state.map(str::to_owned);
            assert_eq!(broken(&sample), NOT_AS_SAID, "{state:?}");
        }
    }

    #[test]
    fn a_push_said_to_be_delivered_has_arrived() {
        let mut sample = Sample::answered();
        sample.evidence.arrivals[0].status = Some(503);
        sample.message_mut().delivery_state = None;
        assert_eq!(broken(&sample), NOT_AS_SAID);
    }

    #[test]
    fn a_settlement_has_its_reason() {
        for state in ["refused", "exhausted"] {
            let mut sample = Sample::answered();
            sample.message_mut().push = Some(state.to_owned());
            assert_eq!(broken(&sample), NOT_AS_SAID, "{state}");
            sample.evidence.arrivals[0].status = Some(410);
            sample.message_mut().delivery_state = None;
            sample.message_mut().attempts = vec!["retry".to_owned(), state.to_owned()];
            assert!(broken(&sample).is_empty(), "{state}");
        }
    }

    #[test]
    fn what_was_pulled_or_is_open_is_not_pushed() {
        let mut pulled = Sample::answered();
        pulled.message_mut().is_pushed = false;
        assert_eq!(broken(&pulled), NOT_AS_SAID);
        let mut open = Sample::open();
        open.message_mut().push = Some("due".to_owned());
        assert_eq!(broken(&open), NOT_AS_SAID);
    }

    #[test]
    fn a_signature_is_right_and_used_once() {
        let mut wrong = Sample::answered();
        wrong.evidence.arrivals[0].fault = Some("signed outside the replay window".to_owned());
        assert_eq!(broken(&wrong), ["a push cannot be believed"]);

        let mut twice = Sample::answered();
        twice.push_again(|arrival| arrival.jti = "jti-1".to_owned());
        assert_eq!(broken(&twice), ["a signature was used twice"]);
    }
}
