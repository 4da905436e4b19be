//! The track of a directive moves on evidence alone, forward, and says no more than is known (§14.2).

use std::time::Duration;

use time::OffsetDateTime;

use super::{Cases, Violation, violation};
use crate::campaign::evidence::Entry;
use crate::campaign::history::{Call, Deed, Told};
use crate::campaign::mailbox::Track;

/// How long after its client has gone a drain may still be under way.
const UNDER_WAY: Duration = Duration::from_secs(15);

/// An entry counts as delivered when a drain of its agent was given it, or it was acknowledged. What a drain without an answer was
/// given nobody can say; one whose answer does not hold the entry did not have it.
pub(super) fn delivered_means_drained(cases: &Cases<'_>, found: &mut Vec<Violation>) {
    for entry in cases.evidence.entries.values() {
        let Some(at) = entry.delivered_at else { continue };
        let calls = &cases.evidence.calls;
        if !calls
            .iter()
            .any(|call| is_evidence(entry, call, at) && may_have_had(entry, call))
        {
            let what = format!("delivered at {}, to no drain of {}", at.time(), entry.agent);
            found.push(violation("delivered without a drain", &entry.id, what));
        }
    }
}

fn is_evidence(entry: &Entry, call: &Call, at: OffsetDateTime) -> bool {
    let is_own = match &call.deed {
        Deed::Drain { agent } => *agent == entry.agent,
        Deed::Consume { agent, ids, .. } => *agent == entry.agent && ids.contains(&entry.id),
        _ => false,
    };
    is_own && call.began <= at && at <= call.ended + UNDER_WAY
}

fn may_have_had(entry: &Entry, call: &Call) -> bool {
    match &call.told {
        Told::Drained(shown) => shown.iter().any(|shown| shown.id == entry.id),
        _ => true,
    }
}

/// How far a call has seen a directive to be, for whoever asks after it: what a drain gave is delivered, what was told to
/// have ended has.
fn seen(entry: &Entry, call: &Call) -> usize {
    match &call.told {
        Told::Drained(shown) if shown.iter().any(|shown| shown.id == entry.id) => 1,
        Told::Consumed(_) => 2,
        // A delivery that could not be handed over is taken back.
        Told::Tracked(track) if step(track) == Some(2) => 2,
        _ => 0,
    }
}

fn step(track: &Track) -> Option<usize> {
    let steps: [&[&str]; 3] = [
        &["queued"],
        &["delivered"],
        &["acknowledged", "expired", "bounced"],
    ];
    steps
        .iter()
        .position(|states| states.contains(&track.state.as_str()))
}

/// Whoever asks after a directive was seen to be somewhere is not told that it is not there yet.
pub(super) fn tracks_go_forward(cases: &Cases<'_>, found: &mut Vec<Violation>) {
    for (entry, calls) in cases.entries() {
        for call in calls {
            let Told::Tracked(track) = &call.told else {
                continue;
            };
            let Some(step) = step(track) else {
                found.push(violation("a track says nothing", &entry.id, call));
                continue;
            };
            let further = calls
                .iter()
                .find(|before| before.ended < call.began && seen(entry, before) > step);
            if let Some(before) = further {
                let what = format!("{before}\n    {call}");
                found.push(violation("a track went back", &entry.id, what));
            }
        }
    }
}

/// What a track says is so at that time: delivered and acknowledged with the agent's own calls before it, expired after its
/// time and not before; and what has ended says the same as the row.
pub(super) fn tracks_say_what_is_true(cases: &Cases<'_>, found: &mut Vec<Violation>) {
    for (entry, calls) in cases.entries() {
        for call in calls {
            let Told::Tracked(track) = &call.told else {
                continue;
            };
            if let Some(what) = untruth(cases, entry, track, call) {
                let what = format!("{what}: {call}");
                found.push(violation("a track is not true", &entry.id, what));
            }
        }
    }
}

fn untruth(cases: &Cases<'_>, entry: &Entry, track: &Track, call: &Call) -> Option<&'static str> {
    let is_drained = || {
        let mut calls = cases.evidence.calls.iter();
        calls.any(|other| other.began <= call.ended && is_evidence(entry, other, other.began))
    };
    let is_ended_otherwise = step(track) == Some(2) && entry.state != track.state;
    let note = track.ack.as_ref().and_then(|ack| ack["note"].as_str());
    let is_over = |at: OffsetDateTime| entry.expires_at.is_some_and(|expires_at| at > expires_at);
    match track.state.as_str() {
        _ if is_ended_otherwise => Some("it ended otherwise"),
        "queued" => is_over(call.began).then_some("it had expired"),
        "delivered" => (!is_drained()).then_some("nobody had drained it"),
        "acknowledged" if track.ack.is_none() => Some("without the acknowledgement"),
        "acknowledged" => (note != entry.note.as_deref()).then_some("another acknowledgement stands"),
        "expired" => (!is_over(call.ended)).then_some("it had not expired"),
        _ => Some("nothing bounces here"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use crate::campaign::rules::samples::mailbox::shown;
    use crate::campaign::rules::samples::{Sample, at, broken};

    #[test]
    fn delivered_without_a_drain_of_its_agent_is_found() {
        let mut sample = Sample::drained();
        sample.entry_mut().delivered_at = Some(at(2));
        assert_eq!(broken(&sample), ["delivered without a drain"]);

        // Another agent's is none.
        sample.drain_by("agent:other", 2, Vec::new());
        assert_eq!(broken(&sample), ["delivered without a drain"]);

        // One that was answered without it had not got it.
        sample.drain(2, Vec::new());
        assert_eq!(broken(&sample), ["delivered without a drain"]);

        // One whose client went away may have.
        sample.cut_drain(2);
        assert!(broken(&sample).is_empty());
    }

    #[test]
    fn a_track_that_goes_back_is_found() {
        let mut drained = Sample::drained();
        drained.follow(4, "queued", None);
        assert_eq!(broken(&drained), ["a track went back"]);

        // Begun before any drain had it.
        drained.last().began = at(3);
        assert!(broken(&drained).is_empty());

        let mut consumed = Sample::consumed();
        consumed.follow(9, "delivered", None);
        assert_eq!(broken(&consumed), ["a track went back"]);

        let mut expired = Sample::dropped();
        expired.follow(9, "delivered", None);
        let found = broken(&expired);
        assert!(found.contains(&"a track went back"), "{found:?}");
    }

    #[test]
    fn a_delivery_that_was_taken_back_may_be_told_of() {
        let mut sample = Sample::queued();
        sample.cut_drain(2);
        sample.follow(3, "delivered", None);
        sample.follow(4, "queued", None);
        assert!(broken(&sample).is_empty());
    }

    #[test]
    fn a_track_that_says_too_much_or_too_little_is_found() {
        const RULE: [&str; 1] = ["a track is not true"];
        let mut undrained = Sample::queued();
        undrained.follow(3, "delivered", None);
        assert_eq!(broken(&undrained), RULE);

        let mut early = Sample::dropped();
        early.follow(3, "expired", None);
        assert_eq!(broken(&early), RULE);

        let mut overdue = Sample::dropped();
        overdue.follow(7, "queued", None);
        assert_eq!(broken(&overdue), RULE);

        let mut otherwise = Sample::consumed();
        otherwise.follow(9, "expired", None);
        assert_eq!(broken(&otherwise), RULE);

        let mut wordless = Sample::consumed();
        wordless.follow(9, "acknowledged", None);
        assert_eq!(broken(&wordless), RULE);

        let mut other = Sample::consumed();
        other.follow(9, "acknowledged", Some(json!({"note": "another word"})));
        assert_eq!(broken(&other), RULE);
    }

    #[test]
    fn a_track_beside_its_drain_may_say_either() {
        let mut sample = Sample::queued();
        sample.drain(3, vec![shown("jti-1")]);
        sample.last().ended = at(5);
        sample.entry_mut().delivered_at = Some(at(3) + Duration::from_millis(10));
        for state in ["queued", "delivered"] {
            sample.follow(4, state, None);
        }
        assert!(broken(&sample).is_empty(), "{:?}", broken(&sample));
    }
}
