//! How far back a look goes for what is due.
//!
//! What was taken leaves dead entries at the beginning of its index. While somebody holds an old snapshot, a backup or a
//! report, vacuum cannot remove them, and a look that began at the beginning would step over all of them each time. So a look
//! goes back to the last one. What that may have missed, because another held it then or was late to commit it, is found by
//! looks that go further: the further, the more seldom, so that they cost no more with all that is dead.

use std::mem;
use std::time::{Duration, Instant, SystemTime};

use hub_platform::db;

/// How often a look goes further back than to the last one.
const STEP: Duration = Duration::from_secs(45);
/// The power of two of steps after which a look is at everything.
const WHOLE_LOG: u32 = 6;
/// How long it is between two looks at everything: 48 minutes. What was put back under a claim is known for longer, an hour.
pub(crate) const CYCLE: Duration = Duration::from_secs(STEP.as_secs() << WHOLE_LOG);
/// How long after a look that was too much for the database everything is looked at.
const REST: Duration = Duration::from_mins(10);
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) at: Instant,
    /// Goes on while the machine sleeps.
    pub(crate) wall: SystemTime,
}

impl Moment {
    pub(crate) fn now() -> Self {
        Self {
            at: Instant::now(),
            wall: SystemTime::now(),
        }
    }

    /// The same moment, as if the machine had not slept between it and that one.
    fn awake_until(self, then: Self) -> Self {
        let passed = then.at.saturating_duration_since(self.at);
        let wall = then.wall.checked_sub(passed);
        Self {
            wall: wall.unwrap_or(self.wall),
            ..self
        }
    }

    /// Whether the machine slept since, for longer than this, or its clock was set as much forward.
    pub(crate) fn slept(self, now: Self, longer_than: Duration) -> bool {
        let passed = now.at.saturating_duration_since(self.at);
        let by_the_wall = now.wall.duration_since(self.wall).unwrap_or_default();
        by_the_wall > passed + longer_than
    }
}

/// Of one pass. The first look is at everything.
#[derive(Debug)]
pub(crate) struct LookBack {
    /// What came due so short a time before a look may be committed after it.
    late: Duration,
    /// Whether more than the last look can have missed is to be found.
    goes_further: bool,
    began: Instant,
    /// When the last look began that was dealt with; none: everything is looked at.
    last: Option<Moment>,
    /// When the last look began that went as far as the steps demand.
    stepped_at: Instant,
    /// When everything is looked at, because that was not dealt with.
    whole_at: Option<Instant>,
    /// Whether the database gave the last look up.
    timed_out: bool,
}

/// How far one pass looks, however long it takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    reach: Reach,
    /// At what came due since; none: at everything.
    since: Option<Instant>,
    began: Moment,
    /// As it was before.
    last: Option<Moment>,
    stepped_at: Instant,
    /// The one before went as far, and the database gave it up.
    is_retry: bool,
}

impl LookBack {
    /// Finds also what was late.
    pub(crate) fn new(late: Duration) -> Self {
        let began = Instant::now();
        Self {
            late,
            goes_further: true,
            began,
            last: None,
            stepped_at: began,
            whole_at: None,
            timed_out: false,
        }
    }

    /// Goes no further after the beginning: for a pass that only counts what another one deals with, and sees all that is not
    /// dealt with as it grows old.
    pub(crate) fn of_a_count(late: Duration) -> Self {
        Self {
            goes_further: false,
            ..Self::new(late)
        }
    }

    /// One pass, which says whether it failed.
    pub(crate) async fn pass<Fut>(&mut self, pass: impl FnOnce(Look) -> Fut)
    where
        Fut: Future<Output = Result<(), db::Error>>,
    {
        let look = self.next();
        if let Err(error) = pass(look).await {
            self.failed(look, &error);
            db::report(&error);
        }
    }

    /// How far the pass looks that begins now.
    pub(crate) fn next(&mut self) -> Look {
        self.at(Moment::now())
    }

    /// A pass has not dealt with all that it looked at: the next one looks as far.
    pub(crate) fn keep(&mut self, look: Look) {
        self.last = look.last;
        self.stepped_at = look.stepped_at;
        if look.reach == Reach::Whole {
            self.whole_at = Some(look.began.at);
        }
    }

    /// A pass failed: the next one looks as far. But where that is too much for the database, which gave it up twice, the next
    /// ones do without, so that what comes due is dealt with, and everything is looked at after a rest.
    pub(crate) fn failed(&mut self, look: Look, error: &db::Error) {
        if error.took_too_long() {
            self.timed_out(look);
        } else {
            self.keep(look);
        }
    }

    fn timed_out(&mut self, look: Look) {
        if !look.is_retry {
            self.keep(look);
            self.timed_out = true;
            return;
        }
        let last = look.last.filter(|_| look.reach != Reach::Last);
        self.last = Some(last.map_or(look.began, |last| last.awake_until(look.began)));
        self.stepped_at = look.began.at;
        self.whole_at.get_or_insert(look.began.at + REST);
    }

    fn at(&mut self, now: Moment) -> Look {
        let reach = self.reach(now);
        let back = |last: Moment, by: Duration| last.at.checked_sub(by.max(self.late));
        let since = self.last.and_then(|last| match reach {
            Reach::Last => back(last, self.late),
            Reach::Further(further) => back(last, further),
            Reach::Whole => None,
        });
        let look = Look {
            reach,
            since,
            began: now,
            last: self.last,
            stepped_at: self.stepped_at,
            is_retry: mem::take(&mut self.timed_out),
        };
        self.last = Some(now);
        self.stepped_at = now.at;
        if reach == Reach::Whole {
            self.whole_at = None;
        }
        look
    }

    fn reach(&self, now: Moment) -> Reach {
        let is_whole = self.whole_at.is_some_and(|at| at <= now.at)
            || self
                .last
                .is_none_or(|last| self.goes_further && last.slept(now, self.late));
        if is_whole {
            return Reach::Whole;
        }
        if !self.goes_further {
            return Reach::Last;
        }
        let since_began = |at: Instant| at.saturating_duration_since(self.began);
        reach(since_began(self.stepped_at), since_began(now.at))
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

    use hub_platform::db;

    use super::{CYCLE, LookBack, Moment, REST, Reach, STEP, WHOLE, WHOLE_LOG, reach};

    const SECOND: Duration = Duration::from_secs(1);
    const LATE: Duration = Duration::from_secs(15);

    /// Passes of one process, by seconds since it began.
    struct Passes {
        look_back: LookBack,
        began: Moment,
    }

    impl Passes {
        fn of(mut look_back: LookBack) -> Self {
            let began = Moment {
                // Late enough that so much may lie before it.
                at: Instant::now() + 100 * STEP,
                wall: SystemTime::now(),
            };
            look_back.began = began.at;
            look_back.stepped_at = began.at;
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
            Duration::from_millis(look.back_ms_at(look.began.at).unsigned_abs())
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
        assert_eq!(reach(STEP, STEP + SECOND), Reach::Last);
        let before = STEP * ((1 << WHOLE_LOG) - 1);
        assert_eq!(reach(before, CYCLE), Reach::Whole);
        assert_eq!(reach(CYCLE, CYCLE + STEP), further(2));
    }

    #[test]
    fn what_was_late_is_found_after_twice_as_long_however_often_somebody_looks() {
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
    fn what_failed_is_looked_at_again() {
        let mut passes = Passes::of(LookBack::new(LATE));
        let away = db::Error::corrupt("not what it must be");
        for seconds in [0, 1, 2] {
            let whole = passes.look(seconds);
            assert_eq!(whole.since, None);
            passes.look_back.failed(whole, &away);
        }
        passes.look(3);
        let look = passes.look(13);
        passes.look_back.failed(look, &away);
        assert_eq!(passes.back(23), 20 * SECOND + LATE);
    }

    /// The database gives up what a look at these times asks for; the first one is returned.
    fn gives_up(passes: &mut Passes, seconds: [u32; 2]) -> super::Look {
        let looks = seconds.map(|seconds| {
            let look = passes.look(seconds);
            passes.look_back.timed_out(look);
            look
        });
        assert_eq!(looks[0].reach, looks[1].reach, "it is tried again");
        looks[0]
    }

    #[test]
    fn what_is_too_much_for_the_database_does_not_stand_in_the_way() {
        let mut passes = Passes::of(LookBack::new(LATE));
        assert_eq!(gives_up(&mut passes, [0, 1]).reach, Reach::Whole);
        assert_eq!(passes.back(10), 9 * SECOND + LATE, "what came due since");
        let further = gives_up(&mut passes, [50, 51]);
        assert_eq!(further.reach, Reach::Further(STEP * 2));
        assert_eq!(passes.back(60), 50 * SECOND + LATE, "as if that had not been");
        assert_eq!(gives_up(&mut passes, [70, 71]).reach, Reach::Last);
        assert_eq!(passes.back(80), 9 * SECOND + LATE);
        // Everything is owed since the first of them, and once.
        let owed_at = 1 + 600;
        assert_eq!(REST, 600 * SECOND);
        assert_ne!(passes.back(owed_at - 1), WHOLE);
        assert_eq!(passes.back(owed_at), WHOLE);
        assert_eq!(passes.back(owed_at + 1), SECOND + LATE);
    }

    #[test]
    fn what_the_database_gives_up_once_is_tried_again() {
        let mut passes = Passes::of(LookBack::new(LATE));
        let whole = passes.look(0);
        passes.look_back.timed_out(whole);
        assert_eq!(passes.back(1), WHOLE);
        let last = passes.look(2);
        passes.look_back.timed_out(last);
        assert_eq!(passes.back(12), 11 * SECOND + LATE);
        assert_ne!(passes.back(700), WHOLE, "nothing is owed");
    }

    #[test]
    fn a_look_after_sleep_that_is_too_much_is_not_tried_for_ever() {
        let mut passes = Passes::of(LookBack::new(LATE));
        passes.look(0);
        passes.began.wall += 2 * LATE;
        assert_eq!(gives_up(&mut passes, [10, 11]).reach, Reach::Whole);
        assert_eq!(passes.back(12), 12 * SECOND + LATE);
    }

    #[test]
    fn a_count_looks_at_everything_at_first_and_where_something_stays() {
        let mut passes = Passes::of(LookBack::of_a_count(LATE));
        let whole = passes.look(0);
        assert_eq!(whole.since, None);
        passes.look_back.keep(whole);
        assert_eq!(passes.back(1), WHOLE);
        assert_eq!(passes.back(1 + (45 << WHOLE_LOG)), CYCLE + LATE);
    }
}
