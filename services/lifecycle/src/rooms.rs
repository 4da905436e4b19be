//! How many more messages of an agent may be open, or directives lie in its mailbox (§8.6), as far as it is known without
//! counting them.
//!
//! A count finds so much room; an eighth of it is given out here, for a while, before there is another count. So the limit is
//! exact for what comes one after the other by way of one process, and of up to eight that have counted alike. What comes at
//! once may each see room for one. What changes meanwhile is known late: whoever fills an inbox by way of another process may
//! come to have an eighth more.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::bounded;

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
    known_at: Instant,
}

impl Rooms {
    /// Takes a place of the agent's, if one is known to be free; the limit that it was counted beneath.
    pub(crate) fn take(&self, account: &str, agent: &str, now: Instant) -> Option<i64> {
        let agent = (account.to_owned(), agent.to_owned());
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let room = known.get_mut(&agent)?;
        if room.places == 0 || now >= room.known_at + KNOWN_FOR {
            return None;
        }
        room.places -= 1;
        Some(room.waiting_max)
    }

    /// A count that was begun at `begun_at` and has ended now found so much room for the agent beneath this limit, what it was
    /// made for included.
    pub(crate) fn counted(
        &self,
        account: &str,
        agent: &str,
        waiting_max: i64,
        room: i64,
        begun_at: Instant,
        now: Instant,
    ) {
        let places = ((room - 1) / PART).max(0);
        let agent = (account.to_owned(), agent.to_owned());
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(room) = known.get_mut(&agent)
            && begun_at <= room.known_at
        {
            // Both found the same room: it is not given out twice.
            room.places = room.places.min(places);
            return;
        }
        if known.len() >= AGENTS_MAX && !known.contains_key(&agent) {
            bounded::make_room(&mut known, |room| now < room.known_at + KNOWN_FOR);
        }
        known.insert(
            agent,
            Room {
                waiting_max,
                places,
                known_at: now,
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{AGENTS_MAX, KNOWN_FOR, Rooms};

    const TICK: Duration = Duration::from_millis(1);

    /// A count that takes no time.
    fn counted(rooms: &Rooms, agent: &str, room: i64, now: Instant) {
        rooms.counted("acme", agent, 1000, room, now, now);
    }

    #[test]
    fn an_eighth_of_what_was_counted_is_given_out_before_the_next_count() {
        let (rooms, mut now) = (Rooms::default(), Instant::now());
        assert_eq!(rooms.take("acme", "a", now), None);
        counted(&rooms, "a", 25, now);
        for _ in 0..3 {
            assert_eq!(rooms.take("acme", "a", now), Some(1000));
        }
        assert_eq!(rooms.take("acme", "a", now), None);
        // Near the limit each is counted.
        for room in [0, 1, 8] {
            now += TICK;
            counted(&rooms, "a", room, now);
            assert_eq!(rooms.take("acme", "a", now), None, "{room}");
        }
        now += TICK;
        counted(&rooms, "a", 1000, now);
        assert_eq!(rooms.take("acme", "b", now), None);
        assert_eq!(rooms.take("other", "a", now), None);
        assert_eq!(rooms.take("acme", "a", now + KNOWN_FOR), None, "it is too old");
    }

    #[test]
    fn what_counts_at_once_found_is_given_out_once() {
        let (rooms, begun_at) = (Rooms::default(), Instant::now());
        let now = begun_at + TICK;
        rooms.counted("acme", "a", 1000, 17, begun_at, now);
        assert_eq!(rooms.take("acme", "a", now), Some(1000));
        rooms.counted("acme", "a", 1000, 17, begun_at, now + TICK);
        assert_eq!(rooms.take("acme", "a", now), Some(1000));
        rooms.counted("acme", "a", 1000, 17, begun_at, now + TICK);
        assert_eq!(rooms.take("acme", "a", now), None);
        // One that found less knows better, whichever came first.
        rooms.counted("acme", "b", 1000, 1000, begun_at, now);
        rooms.counted("acme", "b", 1000, 1, begun_at, now + TICK);
        assert_eq!(rooms.take("acme", "b", now), None);
    }

    #[test]
    fn so_many_are_known_at_a_time() {
        let (rooms, now) = (Rooms::default(), Instant::now());
        for agent in 0..=AGENTS_MAX {
            counted(&rooms, &agent.to_string(), 1000, now);
        }
        assert!(rooms.known.lock().unwrap().len() <= AGENTS_MAX);
        assert_eq!(rooms.take("acme", &AGENTS_MAX.to_string(), now), Some(1000));
    }
}
