//! How many more messages of an agent may be open (§8.6), as far as it is known without counting them.
//!
//! A count finds so much room; an eighth of it is given out here, for a while, before there is another count. So the limit is
//! exact where one process takes an agent's submits, and where up to eight do that have counted alike. What changes meanwhile
//! is known late: an agent that fills its inbox by way of another process may come to have an eighth more.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What part of the room is given out before there is another count.
const PART: i64 = 8;
/// How long it is.
const KNOWN_FOR: Duration = Duration::from_secs(30);
/// Agents whose room is known at a time; of others it is counted.
const AGENTS_MAX: usize = 10_000;

/// What is known of the room of agents.
#[derive(Debug, Default)]
pub(crate) struct Rooms {
    known: Mutex<HashMap<(String, String), Room>>,
}

/// What is known of one agent's.
#[derive(Debug)]
struct Room {
    /// The limit that it was counted beneath.
    waiting_max: i64,
    places: i64,
    until: Instant,
}

impl Rooms {
    /// Takes a place of the agent's, if one is known to be free; the limit that it lies beneath.
    pub(super) fn take(&self, account: &str, agent: &str, now: Instant) -> Option<i64> {
        let agent = (account.to_owned(), agent.to_owned());
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let room = known.get_mut(&agent)?;
        if room.places == 0 || room.until <= now {
            known.remove(&agent);
            return None;
        }
        room.places -= 1;
        Some(room.waiting_max)
    }

    /// A count found so much room for the agent beneath this limit, the submit that was counted for included.
    pub(super) fn counted(&self, account: &str, agent: &str, waiting_max: i64, room: i64, now: Instant) {
        let places = (room - 1) / PART;
        if places <= 0 {
            return;
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= AGENTS_MAX {
            known.retain(|_, room| room.until > now);
        }
        if known.len() < AGENTS_MAX {
            let agent = (account.to_owned(), agent.to_owned());
            let until = now + KNOWN_FOR;
            known.insert(
                agent,
                Room {
                    waiting_max,
                    places,
                    until,
                },
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::{AGENTS_MAX, KNOWN_FOR, Rooms};

    #[test]
    fn an_eighth_of_what_was_counted_is_given_out_before_the_next_count() {
        let (rooms, now) = (Rooms::default(), Instant::now());
        assert_eq!(rooms.take("acme", "a", now), None);
        rooms.counted("acme", "a", 1000, 25, now);
        for _ in 0..3 {
            assert_eq!(rooms.take("acme", "a", now), Some(1000));
        }
        assert_eq!(rooms.take("acme", "a", now), None);
        // Near the limit each is counted.
        for room in [0, 1, 8] {
            rooms.counted("acme", "a", 1000, room, now);
            assert_eq!(rooms.take("acme", "a", now), None, "{room}");
        }
        rooms.counted("acme", "a", 1000, 1000, now);
        assert_eq!(rooms.take("acme", "b", now), None);
        assert_eq!(rooms.take("other", "a", now), None);
        assert_eq!(rooms.take("acme", "a", now + KNOWN_FOR), None, "it is too old");
    }

    #[test]
    fn so_many_are_known_at_a_time() {
        let (rooms, now) = (Rooms::default(), Instant::now());
        for agent in 0..=AGENTS_MAX {
            rooms.counted("acme", &agent.to_string(), 1000, 1000, now);
        }
        assert_eq!(rooms.take("acme", &AGENTS_MAX.to_string(), now), None);
        let later = now + KNOWN_FOR;
        rooms.counted("acme", "late", 1000, 1000, later);
        assert_eq!(rooms.take("acme", "late", later), Some(1000));
    }
}
