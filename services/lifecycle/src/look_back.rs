//! How far back a look goes for what is due.
//!
//! What was taken leaves dead entries at the beginning of its index. While somebody holds an old snapshot, a backup or a
//! report, vacuum cannot remove them, and a look that began at the beginning would step over all of them each time. So a look
//! goes back to the last one. What that may have missed, because another held it then or was late to commit it, is found by
//! looks that go further: the further, the more seldom, so that they cost no more with all that is dead.

use std::time::{Duration, Instant, SystemTime};

/// How often a look goes further back than to the last one.
const STEP: Duration = Duration::from_secs(45);
/// The power of two of steps after which a look is at everything.
const WHOLE_LOG: u32 = 6;
/// How long it is between two looks at everything: 48 minutes. What was put back under a claim is known for longer, an hour.
pub(crate) const CYCLE: Duration = Duration::from_secs(STEP.as_secs() << WHOLE_LOG);
/// How long after a whole look that failed there is none, as a multiple of what it took: one that is too much for the database
/// leaves time for others.
const REST: u32 = 60;
/// Further back than anything that is stored.
const WHOLE: Duration = Duration::from_hours(24 * 36_525);

/// How far a look goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// To the last one.
    Last,
    /// So much further than to the last one.
    Further(Duration),
    /// To the beginning.
    Whole,
}

/// How far a look goes `now`, where the `last` one was then, both since the same beginning. Where a step has begun between the
/// two it goes two steps further, where a second one has four, where a fourth one has eight, and so on: what was late by some
/// time is found by the first look after twice as long, or after a step.
pub(crate) fn reach(last: Duration, now: Duration) -> Reach {
    let step = |at: Duration| at.as_secs() / STEP.as_secs();
    // The highest bit in which they differ is that of the rarest step between them.
    match (step(last) ^ step(now)).checked_ilog2() {
        None => Reach::Last,
        Some(log @ 0..WHOLE_LOG) => Reach::Further(STEP * (2 << log)),
        Some(_) => Reach::Whole,
    }
}

/// When a look began.
#[derive(Clone, Copy, Debug)]
struct Moment {
    at: Instant,
    /// Goes on while the machine sleeps.
    wall: SystemTime,
}

impl Moment {
    fn now() -> Self {
        Self {
            at: Instant::now(),
            wall: SystemTime::now(),
        }
    }

    /// Whether the machine slept since, for longer than this, or its clock was set as much forward.
    fn slept(self, now: Self, longer_than: Duration) -> bool {
        let passed = now.at.saturating_duration_since(self.at);
        let by_the_wall = now.wall.duration_since(self.wall).unwrap_or_default();
        by_the_wall > passed + longer_than
    }
}

/// Of one pass. It begins with a whole look.
#[derive(Debug)]
pub(crate) struct LookBack {
    /// What came due so short a time before a look may be committed after it.
    late: Duration,
    /// Whether more than the last look can have missed is to be found.
    goes_further: bool,
    began: Instant,
    /// None: everything is looked at.
    last: Option<Moment>,
    /// When everything is looked at again, after that failed.
    whole_at: Option<Instant>,
}

/// How far one pass looks, however long it takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// At what came due since; none: at everything.
    since: Option<Instant>,
    last: Option<Moment>,
    began: Instant,
}

impl LookBack {
    /// Finds also what was late.
    pub(crate) fn new(late: Duration) -> Self {
        Self {
            late,
            goes_further: true,
            began: Instant::now(),
            last: None,
            whole_at: None,
        }
    }

    /// Everything is looked at in the beginning, and when all is forgotten: for a pass that only counts what another one deals
    /// with, and sees all that is not dealt with as it grows old.
    pub(crate) fn of_a_count() -> Self {
        Self {
            goes_further: false,
            ..Self::new(Duration::ZERO)
        }
    }

    /// How far the pass looks that begins now.
    pub(crate) fn next(&mut self) -> Look {
        self.at(Moment::now())
    }

    /// The next pass looks at everything.
    pub(crate) fn forget(&mut self) {
        self.last = None;
    }

    /// A pass has not dealt with all that it looked at: the next one looks as far.
    pub(crate) fn keep(&mut self, look: Look) {
        self.last = look.since.and(look.last);
    }

    /// A pass failed: the next one looks as far. Where that was at everything, it is tried again after a rest; passes until then
    /// look at what came due since.
    pub(crate) fn failed(&mut self, look: Look) {
        self.failed_at(look, Instant::now());
    }

    fn failed_at(&mut self, look: Look, now: Instant) {
        if look.since.is_some() {
            self.keep(look);
        } else {
            let took = now.saturating_duration_since(look.began);
            self.whole_at = Some(now + took * REST);
        }
    }

    fn at(&mut self, now: Moment) -> Look {
        let last = self.last.replace(now);
        let is_owed = self.whole_at.is_some_and(|at| at <= now.at);
        let since = last.filter(|_| !is_owed).and_then(|last| self.since(last, now));
        if since.is_none() {
            self.whole_at = None;
        }
        Look {
            since,
            last,
            began: now.at,
        }
    }

    /// Since when a look is at what came due, where the last one was then; none: at everything.
    fn since(&self, last: Moment, now: Moment) -> Option<Instant> {
        let since_began = |at: Instant| at.saturating_duration_since(self.began);
        let reach = match self.goes_further {
            true if last.slept(now, self.late) => Reach::Whole,
            true => reach(since_began(last.at), since_began(now.at)),
            false => Reach::Last,
        };
        match reach {
            Reach::Last => last.at.checked_sub(self.late),
            Reach::Further(further) => last.at.checked_sub(further.max(self.late)),
            Reach::Whole => None,
        }
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
    use std::time::{Duration, Instant, SystemTime};

    use super::{LookBack, Moment, REST, Reach, STEP, WHOLE, WHOLE_LOG, reach};

    const SECOND: Duration = Duration::from_secs(1);
    const LATE: Duration = Duration::from_secs(15);

    /// Passes of one process, by seconds since it began.
    struct Passes {
        look_back: LookBack,
        began: Moment,
    }

    impl Passes {
        fn of(look_back: LookBack) -> Self {
            let began = Moment {
                // Late enough that so much may lie before it.
                at: Instant::now() + 100 * STEP,
                wall: SystemTime::now(),
            };
            let look_back = LookBack {
                began: began.at,
                ..look_back
            };
            Self { look_back, began }
        }

        fn at(&self, seconds: u32) -> Moment {
            Moment {
                at: self.began.at + seconds * SECOND,
                wall: self.began.wall + seconds * SECOND,
            }
        }

        fn look(&mut self, seconds: u32) -> super::Look {
            let at = self.at(seconds);
            self.look_back.at(at)
        }

        fn back(&mut self, seconds: u32) -> Duration {
            let look = self.look(seconds);
            Duration::from_millis(look.back_ms_at(look.began).unsigned_abs())
        }
    }

    #[test]
    fn the_further_a_look_goes_the_more_seldom_it_is() {
        let steps: Vec<_> = (1..=8)
            .map(|step| reach(STEP * (step - 1), STEP * step))
            .collect();
        let further = |steps| Reach::Further(STEP * steps);
        let expected = [2, 4, 2, 8, 2, 4, 2, 16].map(further);
        assert_eq!(steps, expected);
        assert_eq!(reach(STEP, STEP * 2 - SECOND), Reach::Last);
        let whole = STEP * (1 << WHOLE_LOG);
        assert_eq!(reach(whole - SECOND, whole), Reach::Whole);
        assert_eq!(reach(whole, whole + STEP), further(2));
    }

    #[test]
    fn what_was_late_is_found_after_as_long_again_however_often_somebody_looks() {
        // Long enough for each step but the whole one.
        let end = STEP.as_secs() << (WHOLE_LOG + 1);
        for every in [1, 7, 44, 45, 46, 100, 500, 1999] {
            for late in [1, 30, 45, 90, 100, 400, 1000] {
                for due in (0..end / 2).step_by(613) {
                    let mut looks = (0..=end).step_by(every).map(Duration::from_secs);
                    let (due, late) = (Duration::from_secs(due), Duration::from_secs(late));
                    let by = due + late + STEP.max(late * 2);
                    let mut last = looks.next().unwrap();
                    let found = looks.find(|now| {
                        let from = match reach(last, *now) {
                            Reach::Last => last,
                            Reach::Further(further) => last.saturating_sub(further),
                            Reach::Whole => Duration::ZERO,
                        };
                        last = *now;
                        *now >= due + late && from <= due
                    });
                    let every = Duration::from_secs(u64::try_from(every).unwrap());
                    assert!(
                        found.is_some_and(|found| found <= by + every),
                        "due {due:?}, late {late:?}, every {every:?}: {found:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn everything_is_looked_at_at_first_then_what_came_due_since_and_now_and_again_more() {
        let mut passes = Passes::of(LookBack::new(LATE));
        assert_eq!(passes.back(0), WHOLE);
        assert_eq!(passes.back(1), SECOND + LATE);
        assert_eq!(passes.back(11), 10 * SECOND + LATE);
        assert_eq!(passes.back(45), 34 * SECOND + 2 * STEP);
        assert_eq!(passes.back(46), SECOND + LATE);
        assert_eq!(passes.back(90), 44 * SECOND + 4 * STEP);
        // A process that stood still.
        assert_eq!(passes.back(45 << WHOLE_LOG), WHOLE);
        passes.look_back.forget();
        assert_eq!(passes.back(45 << WHOLE_LOG), WHOLE);
    }

    #[test]
    fn a_machine_that_slept_looks_at_everything() {
        let mut passes = Passes::of(LookBack::new(LATE));
        passes.look(0);
        let (mut almost, mut long) = (passes.at(1), passes.at(2));
        almost.wall += LATE;
        long.wall = almost.wall + LATE + 2 * SECOND;
        assert!(passes.look_back.at(almost).since.is_some());
        assert!(passes.look_back.at(long).since.is_none());
        // Its clock is set back.
        assert!(passes.look(3).since.is_some());
    }

    #[test]
    fn a_pass_that_takes_long_loses_nothing_of_what_it_looks_at() {
        let mut passes = Passes::of(LookBack::new(LATE));
        passes.look(0);
        let look = passes.look(1);
        assert_eq!(
            look.back_ms_at(passes.at(41).at),
            56_000,
            "as far as in the beginning"
        );
        assert_eq!(passes.back(42), 41 * SECOND + LATE, "since that one began");
    }

    #[test]
    fn what_is_left_is_looked_at_again() {
        let mut passes = Passes::of(LookBack::new(LATE));
        let whole = passes.look(0);
        passes.look_back.keep(whole);
        assert_eq!(passes.back(1), WHOLE);
        for seconds in [2, 46, 47] {
            let look = passes.look(seconds);
            passes.look_back.keep(look);
        }
        assert_eq!(
            passes.back(48),
            47 * SECOND + 2 * STEP,
            "and no further each time"
        );
        assert_eq!(passes.back(49), SECOND + LATE);
    }

    #[test]
    fn what_failed_is_looked_at_again_and_everything_after_a_rest() {
        let mut passes = Passes::of(LookBack::new(LATE));
        let whole = passes.look(0);
        // So long after the database gave it up.
        let (failed_at, again_at) = (passes.at(10).at, 10 + 10 * REST);
        passes.look_back.failed_at(whole, failed_at);
        assert_eq!(passes.back(10), 10 * SECOND + LATE);
        let look = passes.look(20);
        passes.look_back.failed_at(look, failed_at);
        assert_eq!(passes.back(30), 20 * SECOND + LATE);
        assert_ne!(passes.back(again_at - 1), WHOLE);
        assert_eq!(passes.back(again_at), WHOLE);
        assert_eq!(passes.back(again_at + 1), SECOND + LATE);
    }

    #[test]
    fn a_count_looks_at_everything_at_first_and_where_something_stays() {
        let mut passes = Passes::of(LookBack::of_a_count());
        assert_eq!(passes.back(0), WHOLE);
        assert_eq!(passes.back(45 << WHOLE_LOG), STEP * (1 << WHOLE_LOG));
        passes.look_back.forget();
        assert_eq!(passes.back(45 << WHOLE_LOG), WHOLE);
    }
}
