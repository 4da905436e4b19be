//! Acting at most once on what may be delivered again and again, at the same time too (§13.4).

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// What a delivery means for the work it asks for.
#[derive(Debug, PartialEq, Eq)]
pub enum Standing {
    /// Not seen before, and now reserved: act, commit, acknowledge. A failure that may be tried again is released.
    Fresh(Reservation),
    /// Another delivery of it is being worked on: leave this one alone.
    InHand,
    /// Done: acknowledge it again.
    Done,
}

/// The right to do one work. Dropped, it stays taken: what became of the work nobody knows then.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the work stays reserved until it is committed or released"]
pub struct Reservation(Arc<str>);

impl Reservation {
    /// The work that is reserved.
    pub fn work(&self) -> &str {
        &self.0
    }
}

/// As much is remembered as may be; nothing was forgotten to make room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many works are in hand or remembered")]
pub struct DedupFull;

/// Which works are in hand, and which are done.
///
/// It remembers as long as it lives. An agent that must act at most once across its own restart keeps what is done
/// ([`Dedup::done`]) and gives it back ([`Dedup::restore`]), or makes its work harmless to repeat.
#[derive(Debug)]
pub struct Dedup {
    horizon_seconds: i64,
    work_count_max: usize,
    /// Every work remembered; of one that is done, when it may be forgotten.
    works: HashMap<Arc<str>, Option<i64>>,
    forget_at: BTreeSet<(i64, Arc<str>)>,
}

impl Dedup {
    /// Remembers nothing yet.
    pub fn new(horizon_seconds: i64, work_count_max: usize) -> Dedup {
        Dedup {
            horizon_seconds: horizon_seconds.max(0),
            work_count_max,
            works: HashMap::new(),
            forget_at: BTreeSet::new(),
        }
    }

    /// Reserves a work before it begins, so that a delivery which comes meanwhile finds it taken.
    pub fn reserve(&mut self, work: &str, now: i64) -> Result<Standing, DedupFull> {
        self.forget(now);
        match self.works.get(work) {
            Some(Some(_)) => return Ok(Standing::Done),
            Some(None) => return Ok(Standing::InHand),
            None if self.works.len() >= self.work_count_max => return Err(DedupFull),
            None => {}
        }
        let work: Arc<str> = work.into();
        self.works.insert(Arc::clone(&work), None);
        Ok(Standing::Fresh(Reservation(work)))
    }

    /// The work is durably done; to be called before it is acknowledged.
    pub fn commit(&mut self, reservation: Reservation, now: i64) {
        let forget_at = now.saturating_add(self.horizon_seconds);
        self.finish(reservation.0, forget_at);
    }

    /// The work was not done, and may be begun again by the next delivery.
    pub fn release(&mut self, reservation: &Reservation) {
        self.works.remove(&reservation.0);
    }

    /// What is done, each with the time it may be forgotten at.
    pub fn done(&self) -> impl Iterator<Item = (&str, i64)> {
        self.forget_at
            .iter()
            .map(|(forget_at, work)| (&**work, *forget_at))
    }

    /// Remembers what an earlier process had done.
    pub fn restore(&mut self, work: &str, forget_at: i64) -> Result<(), DedupFull> {
        match self.works.get(work) {
            Some(Some(_)) => Ok(()),
            None if self.works.len() >= self.work_count_max => Err(DedupFull),
            _ => {
                self.finish(work.into(), forget_at);
                Ok(())
            }
        }
    }

    fn finish(&mut self, work: Arc<str>, forget_at: i64) {
        self.works.insert(Arc::clone(&work), Some(forget_at));
        self.forget_at.insert((forget_at, work));
    }

    fn forget(&mut self, now: i64) {
        while let Some(first) = self.forget_at.first() {
            if first.0 >= now {
                return;
            }
            if let Some((_, work)) = self.forget_at.pop_first() {
                self.works.remove(&work);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::{Dedup, DedupFull, Reservation, Standing};
    use crate::random::Random;

    const NOW: i64 = 1_780_000_000;

    fn fresh(dedup: &mut Dedup, work: &str, now: i64) -> Reservation {
        match dedup.reserve(work, now) {
            Ok(Standing::Fresh(reservation)) => reservation,
            other => panic!("{work}: {other:?}"),
        }
    }

    #[test]
    fn a_work_is_begun_once_and_done_once() {
        let mut dedup = Dedup::new(100, 10);
        let reservation = fresh(&mut dedup, "a", NOW);
        assert_eq!(reservation.work(), "a");
        // However long it takes.
        assert_eq!(dedup.reserve("a", NOW + 1_000), Ok(Standing::InHand));
        dedup.commit(reservation, NOW + 1_000);
        assert_eq!(dedup.reserve("a", NOW + 1_100), Ok(Standing::Done));
        assert!(matches!(dedup.reserve("a", NOW + 1_101), Ok(Standing::Fresh(_))));
    }

    #[test]
    fn a_released_work_is_begun_again() {
        let mut dedup = Dedup::new(100, 10);
        let reservation = fresh(&mut dedup, "a", NOW);
        dedup.release(&reservation);
        let _again = fresh(&mut dedup, "a", NOW);
    }

    #[test]
    fn at_the_bound_nothing_is_forgotten() {
        let mut dedup = Dedup::new(100, 2);
        let first = fresh(&mut dedup, "a", NOW);
        let _second = fresh(&mut dedup, "b", NOW);
        assert_eq!(dedup.reserve("c", NOW), Err(DedupFull));
        dedup.commit(first, NOW);
        assert_eq!(dedup.reserve("c", NOW), Err(DedupFull));
        assert_eq!(dedup.restore("c", NOW), Err(DedupFull));
        assert_eq!(dedup.reserve("a", NOW), Ok(Standing::Done));
        let _third = fresh(&mut dedup, "c", NOW + 101);
    }

    #[test]
    fn what_is_done_outlives_the_process() {
        let mut before = Dedup::new(100, 10);
        let reservation = fresh(&mut before, "a", NOW);
        let _lost = fresh(&mut before, "b", NOW);
        before.commit(reservation, NOW);
        let mut after = Dedup::new(100, 10);
        for (work, forget_at) in before.done() {
            assert_eq!(after.restore(work, forget_at), Ok(()));
            assert_eq!(after.restore(work, forget_at), Ok(()));
        }
        assert_eq!(after.reserve("a", NOW), Ok(Standing::Done));
        let _again = fresh(&mut after, "b", NOW);
        assert_eq!(after.done().count(), 1);
    }

    /// Deliveries in any order, works that fail or end at any time: never two in hand, never one done twice within the
    /// horizon, never more remembered than the bound.
    #[test]
    fn never_twice() {
        let mut random = Random::seeded(31);
        let (horizon, bound) = (50, 12);
        let mut dedup = Dedup::new(horizon, bound);
        let mut in_hand: Vec<Reservation> = Vec::new();
        let mut done_at: HashMap<String, i64> = HashMap::new();
        let mut refused = 0;
        for now in (0..40_000).map(|step| step / 4) {
            if !in_hand.is_empty() && random.below(3) == 0 {
                let reservation = in_hand.swap_remove(random.below(in_hand.len()));
                if random.below(4) == 0 {
                    dedup.release(&reservation);
                } else {
                    done_at.insert(reservation.work().to_owned(), now);
                    dedup.commit(reservation, now);
                }
            }
            let work = random.below(20).to_string();
            let is_in_hand = in_hand.iter().any(|reservation| reservation.work() == work);
            let is_done = done_at.get(&work).is_some_and(|at| now - at <= horizon);
            match dedup.reserve(&work, now) {
                Ok(Standing::Fresh(reservation)) => {
                    assert!(!is_in_hand && !is_done, "{work} at {now}");
                    in_hand.push(reservation);
                }
                Ok(Standing::InHand) => assert!(is_in_hand),
                Ok(Standing::Done) => assert!(is_done),
                Err(DedupFull) => refused += 1,
            }
            assert!(dedup.works.len() <= bound);
        }
        assert!(done_at.len() == 20 && refused > 0);
    }
}
