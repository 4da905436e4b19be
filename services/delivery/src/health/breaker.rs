//! What comes of failures of a host. Pure: the clock and the chance are given.
//!
//! After so many failures in a row the breaker opens: what is owed to the host is held, and after a pause one push alone
//! looks whether it is back. The pauses grow as those between the attempts of a push do. A host that fails for long is
//! paused: its pushes are kept, one looks now and then, and the account's people are told. Whatever answer comes, other
//! than a 5xx, closes the breaker.

use std::time::Duration;

use hub_platform::backoff;
use hub_platform::config;

/// When a host is no longer sent to, and when somebody looks again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Breaker {
    failures_max: u32,
    first_pause: Duration,
    pause_max: Duration,
    paused_after: Duration,
    paused_probe_every: Duration,
}

/// How a host stands before a failure.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Standing {
    pub(super) state: State,
    /// Failures in a row.
    pub(super) failures: u32,
    /// Since the first of them.
    pub(super) failing_for: Duration,
    /// Looks that found it failing, since the breaker opened.
    pub(super) probes_failed: u32,
}

/// What is sent to a host.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum State {
    /// All.
    Closed,
    /// One push now and then.
    Open,
    /// The same, rarely.
    PausedByHub,
    /// Nothing.
    PausedByPerson,
}

/// Failures of a host that ended together.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Failed {
    pub(super) count: u32,
    /// Whether one of them had been sent to look.
    pub(super) is_probe: bool,
}

/// How a host stands after it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Next {
    pub(super) failures: u32,
    pub(super) probes_failed: u32,
    /// When one may look, where that changes.
    pub(super) probe_in: Option<Duration>,
    /// Whether the breaker opens.
    pub(super) opens: bool,
    /// Whether the host is paused from now on.
    pub(super) pauses: bool,
}

impl Breaker {
    /// As configured.
    pub(crate) fn of(config: &config::Callback) -> Self {
        Self {
            failures_max: config.breaker_failures,
            first_pause: Duration::from_millis(config.first_delay_ms),
            pause_max: Duration::from_millis(config.max_delay_ms),
            paused_after: Duration::from_secs(config.pause_after_seconds),
            paused_probe_every: Duration::from_secs(config.pause_probe_seconds),
        }
    }

    /// Decides; `jitter` lies between 0 and 1. What ends after the breaker has opened was sent before: it counts, and moves
    /// nothing.
    pub(super) fn decide(&self, standing: &Standing, failed: Failed, jitter: f64) -> Next {
        let failures = standing.failures.saturating_add(failed.count);
        let has_looked = failed.is_probe && standing.state != State::Closed;
        let probes_failed = standing.probes_failed.saturating_add(u32::from(has_looked));
        let opens = standing.state == State::Closed && failures >= self.failures_max;
        let is_long = standing.failing_for >= self.paused_after;
        let pauses = is_long && (opens || (standing.state == State::Open && has_looked));
        let probe_in = match standing.state {
            State::PausedByPerson => None,
            _ if pauses => Some(self.between_probes(jitter)),
            State::PausedByHub => has_looked.then(|| self.between_probes(jitter)),
            State::Open | State::Closed => (opens || has_looked)
                .then(|| backoff::delay(self.first_pause, self.pause_max, probes_failed, jitter)),
        };
        Next {
            failures,
            probes_failed,
            probe_in,
            opens,
            pauses,
        }
    }

    fn between_probes(&self, jitter: f64) -> Duration {
        backoff::delay(self.paused_probe_every, self.paused_probe_every, 0, jitter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BREAKER: Breaker = Breaker {
        failures_max: 3,
        first_pause: Duration::from_secs(1),
        pause_max: Duration::from_mins(1),
        paused_after: Duration::from_hours(1),
        paused_probe_every: Duration::from_mins(5),
    };
    const LONG: Duration = Duration::from_hours(2);
    const ONE: Failed = Failed {
        count: 1,
        is_probe: false,
    };
    const PROBE: Failed = Failed {
        count: 1,
        is_probe: true,
    };

    fn check(
        state: State,
        failures: u32,
        failing_for: Duration,
        failed: Failed,
        expected: (Option<u64>, bool, bool),
    ) {
        let standing = Standing {
            state,
            failures,
            failing_for,
            probes_failed: 0,
        };
        let next = BREAKER.decide(&standing, failed, 1.0);
        let probe_in = next.probe_in.map(|pause| pause.as_secs());
        assert_eq!(
            (probe_in, next.opens, next.pauses),
            expected,
            "{standing:?} {failed:?}"
        );
        assert_eq!(next.failures, failures + failed.count);
    }

    #[test]
    fn it_opens_after_so_many_failures_in_a_row() {
        let soon = Duration::ZERO;
        check(State::Closed, 0, soon, ONE, (None, false, false));
        check(State::Closed, 1, soon, ONE, (None, false, false));
        check(State::Closed, 2, soon, ONE, (Some(1), true, false));
        let many = Failed { count: 5, ..ONE };
        check(State::Closed, 0, soon, many, (Some(1), true, false));
    }

    #[test]
    fn what_was_sent_before_moves_nothing() {
        check(State::Open, 3, Duration::ZERO, ONE, (None, false, false));
        check(State::Open, 3, LONG, ONE, (None, false, false));
        check(State::PausedByHub, 9, LONG, ONE, (None, false, false));
    }

    #[test]
    fn the_pauses_between_looks_grow_up_to_the_longest() {
        for (probes_failed, seconds) in [(0, 2), (1, 4), (4, 32), (5, 60), (99, 60)] {
            let standing = Standing {
                state: State::Open,
                failures: 3,
                failing_for: Duration::ZERO,
                probes_failed,
            };
            let next = BREAKER.decide(&standing, PROBE, 1.0);
            assert_eq!(
                next.probe_in,
                Some(Duration::from_secs(seconds)),
                "{probes_failed}"
            );
            assert_eq!(next.probes_failed, probes_failed + 1);
        }
    }

    #[test]
    fn a_host_that_fails_for_long_is_paused_once() {
        check(State::Closed, 1, LONG, ONE, (None, false, false));
        check(State::Closed, 2, LONG, ONE, (Some(300), true, true));
        check(State::Open, 3, LONG, PROBE, (Some(300), false, true));
        check(State::PausedByHub, 9, LONG, PROBE, (Some(300), false, false));
    }

    #[test]
    fn what_a_person_paused_only_a_person_resumes() {
        check(State::PausedByPerson, 0, LONG, PROBE, (None, false, false));
        check(State::PausedByPerson, 9, LONG, ONE, (None, false, false));
    }
}
