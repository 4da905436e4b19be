//! A Response counts as delivered on evidence that the agent gave (§14.2).

use super::{Cases, Violation, violation};
use crate::campaign::evidence::{Arrival, Message};
use crate::campaign::history::{Call, Deed, OPEN, Told};

const DELIVERED: &str = "delivered-to-agent";

/// A track says `delivered-to-agent` after a push that was taken or a read that may have shown the Response, and always
/// after a read that did.
pub(super) fn delivery_has_evidence(cases: &Cases<'_>, found: &mut Vec<Violation>) {
    for (message, calls) in cases.messages() {
        let is_stamped = message.delivery_state.as_deref() == Some(DELIVERED);
        let shown = calls.iter().find(|call| {
            is_own_read(call)
                && matches!(
                    &call.told,
                    Told::Seen {
                        response: Some(_),
                        ..
                    }
                )
        });
        if let (Some(shown), false) = (shown, is_stamped) {
            found.push(violation("a delivery was not stamped", &message.id, shown));
        }
        let arrivals = cases.arrivals(&message.id);
        if is_stamped
            && !calls.iter().any(|call| may_have_shown(message, call))
            && !was_taken(message, arrivals)
        {
            let what = format!("delivered at {:?}", message.delivered_at);
            found.push(violation("a delivery without evidence", &message.id, what));
        }
    }
}

fn is_own_read(call: &Call) -> bool {
    matches!(
        call.deed,
        Deed::Read {
            by_submitter: true,
            ..
        }
    )
}

fn may_have_shown(message: &Message, call: &Call) -> bool {
    let says_otherwise = call.told.status() == Some(OPEN);
    is_own_read(call) && !says_otherwise && message.delivered_at.is_some_and(|at| call.began <= at)
}

fn was_taken(message: &Message, arrivals: &[&Arrival]) -> bool {
    arrivals.iter().any(|arrival| {
        let is_taken = arrival.status.is_some_and(|status| (200..300).contains(&status));
        is_taken && message.delivered_at.is_some_and(|at| arrival.at <= at)
    })
}

#[cfg(test)]
mod tests {
    use crate::campaign::rules::samples::{Sample, at, broken};

    #[test]
    fn a_stamp_without_a_push_or_a_read_is_found() {
        let mut sample = Sample::answered();
        sample.message_mut().delivered_at = Some(at(5));
        sample.evidence.arrivals[0].at = at(6);
        assert_eq!(broken(&sample), ["a delivery without evidence"]);
    }

    #[test]
    fn a_read_that_showed_the_response_stamps_it() {
        let mut sample = Sample::answered();
        sample.seen(9, |_| ());
        sample.message_mut().delivery_state = None;
        assert_eq!(broken(&sample), ["a delivery was not stamped"]);
    }
}
