//! How far back a pass looks for what is due.
//!
//! What a pass has taken leaves dead entries at the beginning of its index. While somebody holds an old snapshot, a
//! backup or a report, vacuum cannot remove them, and a pass that began at the beginning would step over all of them each
//! time. So a pass looks at what came due of late; what it may have missed, because another held it then or no pass ran,
//! is found by a whole look now and again.

use std::time::{Duration, Instant};

/// How far back a usual pass looks: over more than one whole look may be away.
const USUAL: Duration = Duration::from_mins(2);
/// How often everything is looked at.
const WHOLE_EVERY: Duration = Duration::from_mins(1);
/// Further back than anything that is stored.
const WHOLE: Duration = Duration::from_hours(24 * 36_525);

/// Of one pass. It begins with a whole look.
#[derive(Debug, Default)]
pub(crate) struct LookBack {
    whole_at: Option<Instant>,
}

impl LookBack {
    /// How far back the next pass looks, in milliseconds.
    pub(crate) fn next_ms(&mut self) -> i64 {
        self.at(Instant::now())
    }

    /// A pass that failed has seen nothing: the next one looks at everything.
    pub(crate) fn forget(&mut self) {
        self.whole_at = None;
    }

    fn at(&mut self, now: Instant) -> i64 {
        let is_whole = self
            .whole_at
            .is_none_or(|at| now.saturating_duration_since(at) >= WHOLE_EVERY);
        if is_whole {
            self.whole_at = Some(now);
        }
        let reach = if is_whole { WHOLE } else { USUAL };
        i64::try_from(reach.as_millis()).unwrap_or(i64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{LookBack, USUAL, WHOLE, WHOLE_EVERY};

    #[test]
    fn everything_is_looked_at_at_first_then_now_and_again_and_after_a_failure() {
        let (mut look_back, start) = (LookBack::default(), Instant::now());
        let reach = |look_back: &mut LookBack, after: Duration| {
            Duration::from_millis(look_back.at(start + after).unsigned_abs())
        };
        let second = Duration::from_secs(1);
        assert_eq!(reach(&mut look_back, Duration::ZERO), WHOLE);
        assert_eq!(reach(&mut look_back, second), USUAL);
        assert_eq!(reach(&mut look_back, WHOLE_EVERY), WHOLE);
        assert_eq!(reach(&mut look_back, WHOLE_EVERY + second), USUAL);
        look_back.forget();
        assert_eq!(reach(&mut look_back, WHOLE_EVERY + second), WHOLE);
        // A process that stood still.
        assert_eq!(reach(&mut look_back, 10 * WHOLE_EVERY), WHOLE);
        assert!(USUAL > WHOLE_EVERY);
    }
}
