//! The replay window and the memory of nonces (§9.2).

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// Why a signature is not taken a second time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// Made outside the window, or so long ago that its nonce may have been forgotten.
    #[error("signed outside the replay window")]
    Stale,
    /// Seen before.
    #[error("replayed jti")]
    Replayed,
    /// No room to remember another; nothing was forgotten to make some.
    #[error("too many signatures within the replay window")]
    Full,
}

/// Remembers every nonce for as long as its signature could be taken for a fresh one.
#[derive(Debug)]
pub struct ReplayGuard {
    window_seconds: i64,
    jti_count_max: usize,
    seen: HashSet<Arc<str>>,
    /// When each may be forgotten, and the time it was signed with.
    forget_at: BTreeMap<(i64, Arc<str>), i64>,
    /// The latest signing time among the forgotten. What is not later is refused: so the clock may be set back without
    /// opening the window again.
    forgotten_t_max: i64,
}

impl ReplayGuard {
    /// Remembers nothing yet.
    pub fn new(window_seconds: i64, jti_count_max: usize) -> ReplayGuard {
        ReplayGuard {
            window_seconds: window_seconds.max(0),
            jti_count_max,
            seen: HashSet::new(),
            forget_at: BTreeMap::new(),
            forgotten_t_max: i64::MIN,
        }
    }

    /// Seconds that a signature's time may be off.
    pub fn window_seconds(&self) -> i64 {
        self.window_seconds
    }

    /// Takes a nonce once. Only of a signature that has been verified: what anyone could send must not fill the memory.
    pub fn admit(&mut self, jti: &str, t: i64, now: i64) -> Result<(), ReplayError> {
        self.forget(now);
        if t <= self.forgotten_t_max || now.abs_diff(t) > self.window_seconds.unsigned_abs() {
            return Err(ReplayError::Stale);
        }
        if self.seen.contains(jti) {
            return Err(ReplayError::Replayed);
        }
        if self.seen.len() >= self.jti_count_max {
            return Err(ReplayError::Full);
        }
        let jti: Arc<str> = jti.into();
        self.seen.insert(Arc::clone(&jti));
        // A time ahead of this clock stays fresh for up to twice the window.
        let fresh_until = t.max(now).saturating_add(self.window_seconds);
        let forget_at = fresh_until.saturating_add(self.window_seconds);
        self.forget_at.insert((forget_at, jti), t);
        Ok(())
    }

    fn forget(&mut self, now: i64) {
        while let Some(first) = self.forget_at.first_entry() {
            if first.key().0 >= now {
                return;
            }
            let ((_, jti), t) = first.remove_entry();
            self.seen.remove(&jti);
            self.forgotten_t_max = self.forgotten_t_max.max(t);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::{ReplayError, ReplayGuard};
    use crate::random::Random;

    const NOW: i64 = 1_780_000_000;
    const WINDOW: i64 = 120;

    fn guard() -> ReplayGuard {
        ReplayGuard::new(WINDOW, 100)
    }

    #[test]
    fn a_nonce_is_taken_once_within_the_window() {
        let mut guard = guard();
        assert_eq!(guard.admit("a", NOW, NOW), Ok(()));
        for now in [NOW, NOW + 1, NOW + WINDOW] {
            assert_eq!(guard.admit("a", NOW, now), Err(ReplayError::Replayed));
        }
        assert_eq!(guard.admit("a", NOW, NOW + WINDOW + 1), Err(ReplayError::Stale));
        assert_eq!(guard.admit("b", NOW - WINDOW, NOW), Ok(()));
        assert_eq!(guard.admit("c", NOW - WINDOW - 1, NOW), Err(ReplayError::Stale));
        assert_eq!(guard.admit("d", i64::MIN, i64::MAX), Err(ReplayError::Stale));
        assert_eq!(guard.admit("d", i64::MAX, i64::MIN), Err(ReplayError::Stale));
    }

    #[test]
    fn a_time_ahead_is_remembered_for_as_long_as_it_is_fresh() {
        let mut guard = guard();
        assert_eq!(guard.admit("a", NOW + WINDOW, NOW), Ok(()));
        let last = NOW + 2 * WINDOW;
        assert_eq!(guard.admit("a", NOW + WINDOW, last), Err(ReplayError::Replayed));
        assert_eq!(guard.admit("a", NOW + WINDOW, last + 1), Err(ReplayError::Stale));
    }

    #[test]
    fn a_clock_set_back_opens_nothing() {
        let mut guard = guard();
        assert_eq!(guard.admit("a", NOW, NOW), Ok(()));
        // Long after, it is forgotten; then the clock goes back to where it would be fresh.
        assert_eq!(guard.admit("b", NOW + 1_000, NOW + 1_000), Ok(()));
        assert_eq!(guard.admit("a", NOW, NOW), Err(ReplayError::Stale));
        // What has been signed since is taken.
        assert_eq!(guard.admit("c", NOW + 1, NOW), Ok(()));
    }

    #[test]
    fn at_the_bound_nothing_is_forgotten() {
        let mut guard = ReplayGuard::new(WINDOW, 2);
        assert_eq!(guard.admit("a", NOW, NOW), Ok(()));
        assert_eq!(guard.admit("b", NOW, NOW), Ok(()));
        assert_eq!(guard.admit("c", NOW, NOW), Err(ReplayError::Full));
        assert_eq!(guard.admit("a", NOW, NOW), Err(ReplayError::Replayed));
        let later = NOW + 3 * WINDOW;
        assert_eq!(guard.admit("c", later, later), Ok(()));
    }

    /// Whatever the clocks do: no nonce is taken twice for one signature, and the memory stays within its bound.
    #[test]
    fn no_signature_is_taken_twice() {
        let mut random = Random::seeded(21);
        for _ in 0..50 {
            let mut guard = ReplayGuard::new(10, 40);
            let mut taken: HashMap<(String, i64), u32> = HashMap::new();
            let mut now = 1_000;
            for _ in 0..2_000 {
                now += [0, 0, 1, 1, 2, 5, 30, -3, -25][random.below(9)];
                let t = now + i64::try_from(random.below(25)).unwrap() - 12;
                // One nonce names one signing.
                let jti = format!("{t}-{}", random.below(3));
                if guard.admit(&jti, t, now).is_ok() {
                    *taken.entry((jti, t)).or_default() += 1;
                }
                assert!(guard.seen.len() <= 40 && guard.seen.len() == guard.forget_at.len());
            }
            assert!(taken.values().all(|count| *count == 1));
            assert!(taken.len() > 100);
        }
    }
}
