//! Where the lanes of mailboxes begin, as far as it was seen here.
//!
//! What drains have taken leaves dead entries at the beginning of a lane. While somebody holds an old snapshot, a backup or a
//! report, vacuum cannot remove them, and a drain that began at the beginning would step over all of them each time. So a lane
//! is walked from where it began when it was last seen. What may lie before that is known: a first delivery that was put back
//! is noted in the database, and what another call had in hand, or was late to commit, is found by a whole look now and again.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use time::OffsetDateTime;

use crate::bounded;

/// How often a lane is looked at as a whole.
const WHOLE_EVERY: Duration = Duration::from_secs(45);
/// Lanes that are known at a time; others are looked at as a whole.
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
pub(super) struct Head {
    /// Nothing lies before.
    pub(super) begins_at: OffsetDateTime,
    /// When that was seen.
    pub(super) seen_at: OffsetDateTime,
    /// Until when the lane needs no look as a whole.
    whole_until: Instant,
}

impl Head {
    /// As statements take them.
    pub(super) fn columns(
        heads: impl Iterator<Item = Option<Self>>,
    ) -> (Vec<Option<OffsetDateTime>>, Vec<Option<OffsetDateTime>>) {
        heads
            .map(|head| head.map(|head| (head.begins_at, head.seen_at)).unzip())
            .unzip()
    }
}

/// The heads that are known to this process.
#[derive(Debug)]
pub(crate) struct Heads {
    /// What came so short a time before a look may be committed after it.
    late: Duration,
    known: Mutex<HashMap<Lane, Head>>,
}

impl Heads {
    pub(crate) fn new(late: Duration) -> Self {
        Self {
            late,
            known: Mutex::default(),
        }
    }

    /// What is late, in milliseconds.
    pub(super) fn late_ms(&self) -> i64 {
        i64::try_from(self.late.as_millis()).unwrap_or(i64::MAX)
    }

    /// Where the lane is to be walked from; none where all of it is.
    pub(super) fn of(&self, lane: &Lane, now: Instant) -> Option<Head> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(lane).filter(|head| now < head.whole_until).copied()
    }

    /// A look at the lane from `walked` that was begun `now`, at this time of the database's, found that it begins there.
    pub(super) fn saw(
        &self,
        lane: Lane,
        walked: Option<Head>,
        begins_at: OffsetDateTime,
        at: OffsetDateTime,
        now: Instant,
    ) {
        let head = Head {
            begins_at: begins_at.min(at - self.late),
            seen_at: at,
            whole_until: walked.map_or(now + WHOLE_EVERY, |walked| walked.whole_until),
        };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = |known: &Head| known.whole_until == head.whole_until;
        // All of it was looked at meanwhile, and better is known; or it was forgotten.
        if walked.is_some() && !known.get(&lane).is_some_and(is_known) {
            return;
        }
        if known.len() >= LANES_MAX && !known.contains_key(&lane) {
            bounded::make_room(&mut known, |head| now < head.whole_until);
        }
        known.insert(lane, head);
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use time::OffsetDateTime;

    use super::{Heads, LANES_MAX, Lane, WHOLE_EVERY};

    const LATE: Duration = Duration::from_secs(15);

    fn lane(agent: &str) -> Lane {
        Lane {
            account: "acme".to_owned(),
            agent: agent.to_owned(),
            name: "everyone".to_owned(),
        }
    }

    fn head(heads: &Heads, now: Instant) -> Option<(OffsetDateTime, OffsetDateTime)> {
        heads
            .of(&lane("a"), now)
            .map(|head| (head.begins_at, head.seen_at))
    }

    #[test]
    fn a_lane_is_walked_from_where_it_began_and_now_and_again_as_a_whole() {
        let (heads, now, at) = (Heads::new(LATE), Instant::now(), OffsetDateTime::UNIX_EPOCH);
        assert_eq!(head(&heads, now), None);

        // What lies there longer than anything may be late is where it begins; otherwise something may come before.
        let first = at - 2 * LATE;
        heads.saw(lane("a"), None, first, at, now);
        assert_eq!(head(&heads, now), Some((first, at)));
        assert_eq!(heads.of(&lane("b"), now), None);
        let (later, at) = (now + WHOLE_EVERY / 2, at + WHOLE_EVERY / 2);
        heads.saw(lane("a"), heads.of(&lane("a"), later), at, at, later);
        assert_eq!(head(&heads, later), Some((at - LATE, at)));

        // A look from there on puts the whole one off no further.
        assert_eq!(head(&heads, now + WHOLE_EVERY), None);
        heads.saw(lane("a"), None, at, at, now + WHOLE_EVERY);
        assert!(head(&heads, later + WHOLE_EVERY).is_some());
    }

    #[test]
    fn who_began_before_all_of_it_was_looked_at_knows_no_better() {
        let (heads, now, at) = (Heads::new(LATE), Instant::now(), OffsetDateTime::UNIX_EPOCH);
        heads.saw(lane("a"), None, at, at, now);
        let walked = heads.of(&lane("a"), now);
        let first = at - 2 * LATE;
        heads.saw(lane("a"), None, first, at + LATE, now + WHOLE_EVERY);
        heads.saw(lane("a"), walked, at, at, now);
        assert_eq!(head(&heads, now + WHOLE_EVERY), Some((first, at + LATE)));
    }

    #[test]
    fn so_many_are_known_at_a_time() {
        let (heads, now, at) = (Heads::new(LATE), Instant::now(), OffsetDateTime::UNIX_EPOCH);
        for agent in 0..LANES_MAX {
            heads.saw(lane(&agent.to_string()), None, at, at, now);
        }
        let known = |heads: &Heads| heads.known.lock().unwrap().len();
        assert_eq!(known(&heads), LANES_MAX);
        let first = heads.of(&lane("0"), now);
        heads.saw(lane("0"), first, at, at, now);
        assert_eq!(known(&heads), LANES_MAX);
        heads.saw(lane("one more"), None, at, at, now);
        assert!(known(&heads) < LANES_MAX && heads.of(&lane("one more"), now).is_some());
    }

    #[test]
    fn a_look_from_where_it_began_does_not_bring_back_what_was_forgotten() {
        let (heads, now, at) = (Heads::new(LATE), Instant::now(), OffsetDateTime::UNIX_EPOCH);
        heads.saw(lane("a"), None, at, at, now);
        let walked = heads.of(&lane("a"), now);
        heads.known.lock().unwrap().clear();
        heads.saw(lane("a"), walked, at, at, now);
        assert_eq!(head(&heads, now), None);
    }
}
