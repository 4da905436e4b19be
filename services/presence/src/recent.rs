//! Who was written a moment ago, so that a flood of polls costs no statement each.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Agents that are remembered. One that finds no room is written each time, which the statement bears as well.
const AGENTS_MAX: usize = 100_000;

/// When each agent was last written by this process.
pub(crate) struct Recent {
    lasts: Duration,
    agents_max: usize,
    written: Mutex<HashMap<(String, String), Instant>>,
}

impl Recent {
    /// Remembers each for `lasts`.
    pub(crate) fn new(lasts: Duration) -> Self {
        Self {
            lasts,
            agents_max: AGENTS_MAX,
            written: Mutex::default(),
        }
    }

    /// Whether the agent was written within that time.
    pub(crate) fn holds(&self, agent: &(String, String), now: Instant) -> bool {
        let written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        written
            .get(agent)
            .is_some_and(|at| now.duration_since(*at) < self.lasts)
    }

    /// Remembers that the agent was written by a statement that began at `now`.
    pub(crate) fn insert(&self, agent: (String, String), now: Instant) {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        if written.len() >= self.agents_max && !written.contains_key(&agent) {
            written.retain(|_, at| now.duration_since(*at) < self.lasts);
            if written.len() >= self.agents_max {
                return;
            }
        }
        written.insert(agent, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(id: &str) -> (String, String) {
        ("acme".to_owned(), id.to_owned())
    }

    #[test]
    fn an_agent_is_remembered_for_a_moment() {
        let recent = Recent::new(Duration::from_secs(5));
        let now = Instant::now();
        assert!(!recent.holds(&agent("a"), now));
        recent.insert(agent("a"), now);
        assert!(recent.holds(&agent("a"), now));
        assert!(recent.holds(&agent("a"), now + Duration::from_millis(4999)));
        assert!(!recent.holds(&agent("a"), now + Duration::from_secs(5)));
        assert!(!recent.holds(&agent("b"), now));
        assert!(!recent.holds(&("other".to_owned(), "a".to_owned()), now));
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let recent = Recent {
            agents_max: 2,
            ..Recent::new(Duration::from_secs(5))
        };
        let now = Instant::now();
        for id in ["a", "b", "c"] {
            recent.insert(agent(id), now);
        }
        assert!(recent.holds(&agent("a"), now) && recent.holds(&agent("b"), now));
        assert!(!recent.holds(&agent("c"), now));
        let later = now + Duration::from_secs(6);
        recent.insert(agent("c"), later);
        assert!(recent.holds(&agent("c"), later));
        assert_eq!(recent.written.lock().unwrap().len(), 1);
    }
}
