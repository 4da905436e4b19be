//! A Response counts as delivered on evidence that the agent gave (§14.2), and as acknowledged because it said so.

use std::time::Duration;

use serde_json::Value;

use super::{Cases, Violation, violation};
use crate::campaign::evidence::{Arrival, Message};
use crate::campaign::history::{Call, Deed, OPEN, Told};

const DELIVERED: &str = "delivered-to-agent";
const ACKNOWLEDGED: &str = "acknowledged";
/// A callback that acknowledges within this time does so while its claim holds: no attempt is begun that could outlive it.
const IN_HAND: Duration = Duration::from_millis(500);

/// A track says `delivered-to-agent` after a push that was taken, a read that may have shown the Response or an
/// acknowledgement, and always after a read that did.
pub(super) fn delivery_has_evidence(cases: &Cases<'_>, found: &mut Vec<Violation>) {
    for (message, calls) in cases.messages() {
        let state = message.delivery_state.as_deref();
        let is_stamped = [Some(DELIVERED), Some(ACKNOWLEDGED)].contains(&state);
        let shown = calls.iter().find(|call| has_shown(call));
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

/// The first acknowledgement stands, for everybody who is told of one; and nobody who has the Response is told that there
/// is nothing to acknowledge.
pub(super) fn acknowledgements_stand(cases: &Cases<'_>, found: &mut Vec<Violation>) {
    for (message, calls) in cases.messages() {
        let said = |call: &Call| match &call.told {
            Told::Acknowledged(ack) => Some(ack.clone()),
            _ => None,
        };
        let first = calls.iter().find_map(|call| said(call));
        for call in calls.iter().filter(|call| matches!(call.deed, Deed::Ack { .. })) {
            let what = match (&call.told, &first) {
                (Told::Acknowledged(ack), _) if !stands(message, calls, ack) => "it does not stand",
                (Told::Acknowledged(ack), Some(first)) if ack != first => "two of them",
                (Told::TooEarly, _) if has_reached(cases, message, calls, call) => "it was refused",
                _ => continue,
            };
            let what = format!("{what}: {call}");
            found.push(violation(
                "an acknowledgement is not as it was told",
                &message.id,
                what,
            ));
        }
    }
}

/// Whether the row has this acknowledgement, and somebody made it.
fn stands(message: &Message, calls: &[&Call], ack: &Value) -> bool {
    let is_made =
        |call: &&&Call| matches!(&call.deed, Deed::Ack { note, .. } if ack["note"] == note.as_str());
    message.delivery_state.as_deref() == Some(ACKNOWLEDGED)
        && message.ack_note.as_deref() == ack["note"].as_str()
        && calls.iter().any(|call| is_made(&call))
}

/// Whether the Response had reached the agent when it acknowledged: it had read it, or had said so before, or was just being
/// told.
fn has_reached(cases: &Cases<'_>, message: &Message, calls: &[&Call], ack: &Call) -> bool {
    let had_it = |call: &&Call| {
        let has = has_shown(call) || matches!(call.told, Told::Acknowledged(_));
        has && call.ended < ack.began
    };
    let in_handler = matches!(ack.deed, Deed::Ack { in_handler: true, .. });
    let mut arrivals = cases.arrivals(&message.id).iter();
    let in_hand = |arrival: &&Arrival| arrival.at <= ack.began && ack.ended <= arrival.at + IN_HAND;
    calls.iter().any(had_it) || (in_handler && arrivals.any(in_hand))
}

fn has_shown(call: &Call) -> bool {
    let has_response = matches!(&call.told, Told::Seen { response, .. } if response.is_some());
    is_own_read(call) && has_response
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
    let is_evidence = match call.deed {
        Deed::Ack { .. } => !matches!(call.told, Told::TooEarly),
        _ => is_own_read(call) && !says_otherwise,
    };
    is_evidence && message.delivered_at.is_some_and(|at| call.began <= at)
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

    const NOT_AS_TOLD: [&str; 1] = ["an acknowledgement is not as it was told"];

    #[test]
    fn the_first_acknowledgement_stands() {
        let mut good = Sample::answered();
        good.acknowledged(9, "going on");
        good.acknowledged_again(10, "once more", "going on");
        assert!(broken(&good).is_empty());

        let mut other = Sample::answered();
        other.acknowledged(9, "going on");
        other.acknowledged_again(10, "once more", "once more");
        assert_eq!(broken(&other), NOT_AS_TOLD);

        let mut nobodys = Sample::answered();
        nobodys.acknowledged(9, "going on");
        nobodys.evidence.calls.pop();
        nobodys.acknowledged_again(10, "once more", "going on");
        assert_eq!(broken(&nobodys), NOT_AS_TOLD);

        let mut gone = Sample::answered();
        gone.acknowledged(9, "going on");
        gone.message_mut().delivery_state = Some("delivered-to-agent".to_owned());
        assert_eq!(broken(&gone), NOT_AS_TOLD);
    }

    #[test]
    fn who_has_the_response_may_acknowledge_it() {
        let mut early = Sample::answered();
        early.refused_ack(8, false);
        assert!(broken(&early).is_empty());

        let mut read = Sample::answered();
        read.seen(8, |_| ());
        read.refused_ack(9, false);
        assert_eq!(broken(&read), NOT_AS_TOLD);
    }

    #[test]
    fn a_callback_may_acknowledge_what_it_is_being_told() {
        let mut at_once = Sample::answered();
        at_once.refused_ack(6, true);
        assert_eq!(broken(&at_once), NOT_AS_TOLD);

        let mut late = Sample::answered();
        late.refused_ack(8, true);
        assert!(broken(&late).is_empty());
    }
}
