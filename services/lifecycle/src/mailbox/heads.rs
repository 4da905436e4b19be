//! Where the lanes of mailboxes begin, as far as it was seen here.
//!
//! What drains have taken leaves dead entries at the beginning of a lane. While somebody holds an old snapshot, a backup or a
//! report, vacuum cannot remove them, and a drain that began at the beginning would step over all of them each time. So a lane
//! is walked from where it began when it was last seen. What may lie before that is known: a first delivery that was put back
//! is noted in the database, and what was late to commit is found by walks that begin earlier, the earlier the more seldom.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use hub_platform::db;
use time::OffsetDateTime;

use crate::bounded;
use crate::look_back::{CYCLE, Moment, Reach, reach};

/// Lanes that are known at a time; others are walked as a whole.
const LANES_MAX: usize = 50_000;

/// A lane of a mailbox.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Lane {
    pub(super) account: String,
    pub(super) agent: String,
    pub(super) name: String,
}

/// Where a lane began, by the clock of the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Head {
    /// Nothing lies before.
    begins_at: OffsetDateTime,
    /// When that was seen.
    seen_at: OffsetDateTime,
    /// When a walk began last that did not fail, or was too much.
    walked: Moment,
}

/// One look at a lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walk {
    /// From where, and what was put back since when is looked for; none: as a whole.
    from: Option<(OffsetDateTime, OffsetDateTime)>,
    known: Option<Head>,
    began: Moment,
}

impl Walk {
    /// As statements take them.
    pub(super) fn columns(
        walks: &[(Lane, Self)],
    ) -> (Vec<Option<OffsetDateTime>>, Vec<Option<OffsetDateTime>>) {
        walks.iter().map(|(_, walk)| walk.from.unzip()).unzip()
    }
}

/// The heads that are known to this process.
#[derive(Debug)]
pub(crate) struct Heads {
    /// What came so short a time before a look may be committed after it.
    late: Duration,
    began: Instant,
    /// By which the walks of the lanes that begin earlier are spread over time.
    spread: RandomState,
    known: Mutex<HashMap<Lane, Head>>,
}

impl Heads {
    pub(crate) fn new(late: Duration) -> Self {
        Self {
            late,
            began: Instant::now(),
            spread: RandomState::new(),
            known: Mutex::default(),
        }
    }

    /// What is late, in milliseconds.
    pub(super) fn late_ms(&self) -> i64 {
        i64::try_from(self.late.as_millis()).unwrap_or(i64::MAX)
    }

    /// The look at the lane that begins `now`.
    pub(super) fn walk(&self, lane: &Lane, now: Moment) -> Walk {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.get(lane).copied();
        Walk {
            from: known.and_then(|head| self.from(lane, head, now)),
            known,
            began: now,
        }
    }

    fn from(&self, lane: &Lane, head: Head, now: Moment) -> Option<(OffsetDateTime, OffsetDateTime)> {
        if head.walked.slept(now, self.late) {
            return None;
        }
        let spread = Duration::from_secs(self.spread.hash_one(lane) % CYCLE.as_secs());
        let at = |moment: Moment| spread + moment.at.saturating_duration_since(self.began);
        match reach(at(head.walked), at(now)) {
            Reach::Last => Some((head.begins_at, head.seen_at)),
            Reach::Further(further) => {
                let since = head.seen_at - further;
                Some((head.begins_at.min(since), since))
            }
            Reach::Whole => None,
        }
    }

    /// This look found, at this time of the database's, that the lane begins there. Of looks that began with the same
    /// knowledge the first counts: another may have been before it, and know no better.
    pub(super) fn saw(&self, lane: Lane, walk: Walk, begins_at: OffsetDateTime, at: OffsetDateTime) {
        let head = Head {
            begins_at: begins_at.min(at - self.late),
            seen_at: at,
            walked: walk.began,
        };
        self.set(lane, walk, head);
    }

    /// These looks failed together. Where they were too much for the database, the next ones at lanes that are known do without
    /// what these went further.
    pub(super) fn failed(&self, walks: &[(Lane, Walk)], error: &db::Error) {
        if error.took_too_long() {
            for (lane, walk) in walks {
                self.gave_up(lane, *walk);
            }
        }
    }

    fn gave_up(&self, lane: &Lane, walk: Walk) {
        let Some(known) = walk.known else { return };
        let head = Head {
            walked: walk.began,
            ..known
        };
        self.set(lane.clone(), walk, head);
    }

    fn set(&self, lane: Lane, walk: Walk, head: Head) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.get(&lane) != walk.known.as_ref() {
            return;
        }
        if known.len() >= LANES_MAX && !known.contains_key(&lane) {
            bounded::make_room(&mut known, |head| {
                walk.began.at.saturating_duration_since(head.walked.at) < CYCLE
            });
        }
        known.insert(lane, head);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use time::OffsetDateTime;

    use super::{Heads, LANES_MAX, Lane};
    use crate::look_back::{CYCLE, Moment};

    const LATE: Duration = Duration::from_secs(15);
    const START: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;

    fn lane(agent: &str) -> Lane {
        Lane {
            account: "acme".to_owned(),
            agent: agent.to_owned(),
            name: "everyone".to_owned(),
        }
    }

    fn later(began: Moment, passed: Duration) -> Moment {
        Moment {
            at: began.at + passed,
            wall: began.wall + passed,
        }
    }

    /// From where the lane is walked `now`.
    fn from(heads: &Heads, now: Moment) -> Option<(OffsetDateTime, OffsetDateTime)> {
        heads.walk(&lane("a"), now).from
    }

    /// A look `now` finds that the lane begins there.
    fn saw(heads: &Heads, begins_at: OffsetDateTime, at: OffsetDateTime, now: Moment) {
        heads.saw(lane("a"), heads.walk(&lane("a"), now), begins_at, at);
    }

    #[test]
    fn a_lane_is_walked_from_where_it_began() {
        let (heads, now) = (Heads::new(LATE), Moment::now());
        assert_eq!(from(&heads, now), None);

        // What lies there longer than anything may be late is where it begins; otherwise something may come before.
        let first = START - 2 * LATE;
        saw(&heads, first, START, now);
        assert_eq!(from(&heads, now), Some((first, START)));
        assert_eq!(heads.walk(&lane("b"), now).from, None);
        saw(&heads, START, START, now);
        assert_eq!(from(&heads, now), Some((START - LATE, START)));
    }

    #[test]
    fn now_and_again_it_is_walked_from_before_that_and_once_in_a_cycle_as_a_whole() {
        let (heads, began) = (Heads::new(LATE), Moment::now());
        saw(&heads, START, START, began);
        let (mut earlier, mut whole) = (Vec::new(), 0);
        for second in 1..=CYCLE.as_secs() {
            let passed = Duration::from_secs(second);
            let (now, last) = (later(began, passed), START + passed - Duration::from_secs(1));
            match from(&heads, now) {
                Some((begins_at, seen_at)) if begins_at < last - LATE => {
                    assert_eq!(begins_at, seen_at, "what was put back since is looked for");
                    earlier.push((last - begins_at).whole_seconds());
                }
                Some(head) => assert_eq!(head, (last - LATE, last)),
                None => whole += 1,
            }
            saw(&heads, START + passed, START + passed, now);
        }
        earlier.sort_unstable();
        let expected: Vec<_> = [(90, 32), (180, 16), (360, 8), (720, 4), (1440, 2), (2880, 1)]
            .into_iter()
            .flat_map(|(seconds, times)| vec![seconds; times])
            .collect();
        assert_eq!((earlier, whole), (expected, 1));
    }

    #[test]
    fn of_two_looks_that_began_with_the_same_knowledge_the_first_counts() {
        let (heads, began) = (Heads::new(LATE), Moment::now());
        let first = START - 2 * LATE;
        // The first two walk it as a whole.
        for second in 0..2 {
            let now = later(began, Duration::from_secs(second));
            let other = heads.walk(&lane("a"), now);
            saw(&heads, first, START, now);
            heads.saw(lane("a"), other, START, START);
            assert_eq!(from(&heads, now), Some((first, START)));
        }
    }

    #[test]
    fn a_machine_that_slept_walks_all_of_it() {
        let (heads, mut now) = (Heads::new(LATE), Moment::now());
        saw(&heads, START, START, now);
        now.wall += LATE;
        assert!(from(&heads, now).is_some());
        now.wall += Duration::from_secs(1);
        assert_eq!(from(&heads, now), None);
    }

    #[test]
    fn what_is_too_much_for_the_database_does_not_stand_in_the_way() {
        let (heads, began) = (Heads::new(LATE), Moment::now());
        heads.gave_up(&lane("a"), heads.walk(&lane("a"), began));
        assert_eq!(
            from(&heads, began),
            None,
            "where nothing is known nothing can be left out"
        );
        saw(&heads, START, START, began);
        let now = later(began, CYCLE);
        assert_eq!(from(&heads, now), None);
        heads.gave_up(&lane("a"), heads.walk(&lane("a"), now));
        assert_eq!(from(&heads, now), Some((START - LATE, START)));
    }

    #[test]
    fn so_many_are_known_at_a_time() {
        let (heads, now) = (Heads::new(LATE), Moment::now());
        let saw = |agent: &str| heads.saw(lane(agent), heads.walk(&lane(agent), now), START, START);
        for agent in 0..LANES_MAX {
            saw(&agent.to_string());
        }
        let known = || heads.known.lock().unwrap().len();
        assert_eq!(known(), LANES_MAX);
        saw("0");
        assert_eq!(known(), LANES_MAX);
        saw("one more");
        assert!(known() < LANES_MAX && heads.walk(&lane("one more"), now).from.is_some());
    }

    #[test]
    fn a_look_from_where_it_began_does_not_bring_back_what_was_forgotten() {
        let (heads, now) = (Heads::new(LATE), Moment::now());
        saw(&heads, START, START, now);
        let walk = heads.walk(&lane("a"), now);
        heads.known.lock().unwrap().clear();
        heads.saw(lane("a"), walk, START, START);
        assert_eq!(from(&heads, now), None);
    }
}
