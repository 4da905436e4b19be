//! How far back a pass looks for what is due.
//!
//! What a pass has taken leaves dead entries at the beginning of its index. While somebody holds an old snapshot, a
//! backup or a report, vacuum cannot remove them, and a pass that began at the beginning would step over all of them each
//! time. So a pass looks at what came due since the last one began; what that may have missed, because another held it then
//! or was late to commit it, is found by a whole look now and again.

use std::time::{Duration, Instant};

/// How often everything is looked at.
const WHOLE_EVERY: Duration = Duration::from_mins(1);
/// Further back than anything that is stored.
const WHOLE: Duration = Duration::from_hours(24 * 36_525);

/// Of one pass. It begins with a whole look.
#[derive(Debug)]
pub(crate) struct LookBack {
    /// What came due so short a time before a pass may be committed after it.
    late: Duration,
    whole_every: Duration,
    whole_at: Option<Instant>,
    looked_at: Instant,
}

/// How far one pass looks, however long it takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// At what came due since; none: at everything.
    since: Option<Instant>,
}

impl LookBack {
    /// Everything is looked at now and again.
    pub(crate) fn new(late: Duration) -> Self {
        Self {
            late,
            whole_every: WHOLE_EVERY,
            whole_at: None,
            looked_at: Instant::now(),
        }
    }

    /// Everything is looked at in the beginning, and after a failure: for a pass that only counts what another one deals with,
    /// and sees all that is not dealt with as it grows old.
    pub(crate) fn of_a_count() -> Self {
        Self {
            whole_every: Duration::MAX,
            ..Self::new(Duration::ZERO)
        }
    }

    /// How far the pass looks that begins now.
    pub(crate) fn next(&mut self) -> Look {
        self.at(Instant::now())
    }

    /// A pass failed: the next one looks at everything.
    pub(crate) fn forget(&mut self) {
        self.whole_at = None;
    }

    /// A pass has not dealt with all that it looked at: the next one looks as far.
    pub(crate) fn keep(&mut self, look: Look) {
        match look.since {
            Some(since) => self.looked_at = since + self.late,
            None => self.forget(),
        }
    }

    fn at(&mut self, now: Instant) -> Look {
        let is_whole = self
            .whole_at
            .is_none_or(|at| now.saturating_duration_since(at) >= self.whole_every);
        let since = self.looked_at.checked_sub(self.late).filter(|_| !is_whole);
        if is_whole {
            self.whole_at = Some(now);
        }
        self.looked_at = now;
        Look { since }
    }
}

impl Look {
    /// How far back that is by now, in milliseconds.
    pub(crate) fn back_ms(self) -> i64 {
        self.back_ms_at(Instant::now())
    }

    fn back_ms_at(self, now: Instant) -> i64 {
        let back = self
            .since
            .map_or(WHOLE, |since| now.saturating_duration_since(since));
        i64::try_from(back.as_millis()).unwrap_or(i64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{LookBack, WHOLE, WHOLE_EVERY};

    const SECOND: Duration = Duration::from_secs(1);
    const LATE: Duration = Duration::from_secs(15);

    fn back(look_back: &mut LookBack, at: Instant) -> Duration {
        Duration::from_millis(look_back.at(at).back_ms_at(at).unsigned_abs())
    }

    /// Late enough that so much may lie before it.
    fn start() -> Instant {
        Instant::now() + 10 * WHOLE_EVERY
    }

    #[test]
    fn everything_is_looked_at_at_first_then_now_and_again_and_after_a_failure() {
        let (mut look_back, start) = (LookBack::new(LATE), start());
        assert_eq!(back(&mut look_back, start), WHOLE);
        assert_eq!(back(&mut look_back, start + SECOND), SECOND + LATE);
        assert_eq!(back(&mut look_back, start + 11 * SECOND), 10 * SECOND + LATE);
        assert_eq!(back(&mut look_back, start + WHOLE_EVERY), WHOLE);
        assert_eq!(back(&mut look_back, start + WHOLE_EVERY + SECOND), SECOND + LATE);
        look_back.forget();
        assert_eq!(back(&mut look_back, start + WHOLE_EVERY + SECOND), WHOLE);
        // A process that stood still.
        assert_eq!(back(&mut look_back, start + 10 * WHOLE_EVERY), WHOLE);
    }

    #[test]
    fn a_pass_that_takes_long_loses_nothing_of_what_it_looks_at() {
        let (mut look_back, start) = (LookBack::new(LATE), start());
        back(&mut look_back, start);
        let look = look_back.at(start + SECOND);
        let back_ms = look.back_ms_at(start + 41 * SECOND);
        assert_eq!(back_ms, 56_000, "as far as in the beginning");
        let next = look_back.at(start + 42 * SECOND);
        assert_eq!(
            next.back_ms_at(start + 42 * SECOND),
            56_000,
            "since that one began"
        );
    }

    #[test]
    fn what_is_left_is_looked_at_again() {
        let (mut look_back, start) = (LookBack::new(LATE), start());
        let whole = look_back.at(start);
        look_back.keep(whole);
        assert_eq!(back(&mut look_back, start + SECOND), WHOLE);
        let look = look_back.at(start + 2 * SECOND);
        look_back.keep(look);
        assert_eq!(back(&mut look_back, start + 10 * SECOND), 9 * SECOND + LATE);
        assert_eq!(back(&mut look_back, start + 11 * SECOND), SECOND + LATE);
    }

    #[test]
    fn a_count_looks_at_everything_at_first_and_where_something_stays() {
        let (mut look_back, start) = (LookBack::of_a_count(), start());
        assert_eq!(back(&mut look_back, start), WHOLE);
        let later = start + 2 * WHOLE_EVERY;
        assert_eq!(back(&mut look_back, later), 2 * WHOLE_EVERY);
        look_back.forget();
        assert_eq!(back(&mut look_back, later), WHOLE);
    }
}
