//! Time goes one way: what has ended stays ended, and what expires does so at its time.

use time::OffsetDateTime;

use super::{Cases, Violation, violation};
use crate::campaign::evidence::Message;
use crate::campaign::history::{Call, OPEN};

const EXPIRED: &str = "expired";

/// Whoever asks after anybody was told of the end is told of it too.
pub(super) fn nothing_opens_again(cases: &Cases<'_>, found: &mut Vec<Violation>) {
    for (message, calls) in cases.messages() {
        let says =
            |call: &Call, open: bool| call.told.status().is_some_and(|status| (status == OPEN) == open);
        let ended = calls
            .iter()
            .filter(|call| says(call, false))
            .map(|call| call.ended)
            .min();
        let Some(ended) = ended else { continue };
        for call in calls.iter().filter(|call| says(call, true) && call.began > ended) {
            let what = format!("its end was told at {}: {call}", ended.time());
            found.push(violation("open after its end", &message.id, what));
        }
    }
}

/// Up to `expires_at` an answer wins, after it the expiry; nobody is told of either at another time.
pub(super) fn expiry_is_exact(cases: &Cases<'_>, found: &mut Vec<Violation>) {
    for (message, calls) in cases.messages() {
        let Some(expires_at) = message.expires_at else {
            if message.status == EXPIRED {
                found.push(violation("expired without a time", &message.id, &message.status));
            }
            continue;
        };
        if let Some(what) = mistimed(message, expires_at, cases.evidence.read_at) {
            found.push(violation("ended at the wrong time", &message.id, what));
        }
        for call in calls {
            let is_wrong = match call.told.status() {
                Some(OPEN) => call.began > expires_at,
                Some(EXPIRED) => call.ended < expires_at,
                _ => false,
            };
            if is_wrong {
                found.push(violation("expiry told at the wrong time", &message.id, call));
            }
        }
    }
}

fn mistimed(
    message: &Message,
    expires_at: OffsetDateTime,
    read_at: Option<OffsetDateTime>,
) -> Option<&'static str> {
    match (message.status.as_str(), message.terminal_at) {
        (OPEN, _) => (read_at? > expires_at).then_some("open when all was over"),
        (EXPIRED, Some(at)) => (at <= expires_at).then_some("expired too early"),
        (_, Some(at)) => (at > expires_at).then_some("answered after it had expired"),
        (_, None) => Some("ended at no time"),
    }
}

#[cfg(test)]
mod tests {
    use crate::campaign::history::{OPEN, Told};
    use crate::campaign::rules::samples::{Sample, at, broken};

    fn seen(status: &str) -> Told {
        Told::Seen {
            status: status.to_owned(),
            response: None,
        }
    }

    #[test]
    fn open_after_the_end_is_found_and_open_beside_it_is_not() {
        let mut after = Sample::answered();
        after.call(9, Sample::read(), seen(OPEN));
        assert_eq!(broken(&after), ["open after its end"]);

        // Begun before anybody was told of the end.
        let mut beside = Sample::answered();
        beside.call(9, Sample::read(), seen(OPEN));
        beside.last().began = at(3);
        assert!(broken(&beside).is_empty());
    }

    #[test]
    fn open_after_expires_at_is_found_though_nobody_saw_the_end() {
        let mut sample = Sample::expired();
        sample.call(7, Sample::read(), seen(OPEN));
        assert_eq!(broken(&sample), ["expiry told at the wrong time"]);
    }

    #[test]
    fn expired_too_early_is_found() {
        let mut told = Sample::expired();
        told.call(4, Sample::read(), seen("expired"));
        assert_eq!(broken(&told), ["expiry told at the wrong time"]);

        let mut done = Sample::expired();
        done.message_mut().terminal_at = Some(at(5));
        assert_eq!(broken(&done), ["ended at the wrong time"]);
    }

    #[test]
    fn an_answer_after_expires_at_and_an_overdue_message_are_found() {
        let mut late = Sample::answered();
        late.message_mut().expires_at = Some(at(4));
        late.evidence.calls.clear();
        assert_eq!(broken(&late), ["ended at the wrong time"]);

        let mut overdue = Sample::open();
        overdue.message_mut().expires_at = Some(at(4));
        assert_eq!(broken(&overdue), ["ended at the wrong time"]);
    }
}
