//! What comes of an attempt. Pure: the clock and the chance are given.

use hub_platform::config;
use hub_proto::lifecycle::PushResult;

/// When a push is tried again, and when it is given up (§8.3).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Policy {
    first_delay_ms: u64,
    backoff_factor: f64,
    delay_ms_max: u64,
    attempts_max: u32,
    duration_ms_max: u64,
    defer_first_ms: u64,
}

impl Policy {
    /// As configured.
    pub(crate) fn of(config: &config::Callback) -> Self {
        Self {
            first_delay_ms: config.first_delay_ms,
            backoff_factor: config.backoff_factor,
            delay_ms_max: config.max_delay_ms,
            attempts_max: config.max_attempts,
            duration_ms_max: config.max_duration_seconds.saturating_mul(1000),
            defer_first_ms: config.defer_first_ms,
        }
    }
}

/// What is known of an attempt that has ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    pub(crate) result: PushResult,
    /// From 1, of those that count toward the caps.
    pub(crate) number: u32,
    /// Whether it was made to see if a paused host is back, and counts toward no cap.
    pub(crate) is_probe: bool,
    /// How often in a row the push was put back untried.
    pub(crate) deferrals: u32,
    /// Since the first attempt was begun, without the time for which the push was held.
    pub(crate) elapsed_ms: u64,
    /// What the other side asked for.
    pub(crate) retry_after_ms: Option<u32>,
}

/// What comes of it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Verdict {
    /// The agent has it.
    Delivered,
    /// Not tried again.
    Refused,
    /// Tried again after a pause.
    Retry {
        /// The pause.
        pause_ms: u64,
    },
    /// Given up.
    Exhausted,
    /// Was not tried: due again after a pause, and nothing counted.
    Deferred {
        /// The pause.
        pause_ms: u64,
    },
}

impl Verdict {
    /// As the statement and the metrics name it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Refused => "refused",
            Self::Retry { .. } => "retry",
            Self::Exhausted => "exhausted",
            Self::Deferred { .. } => "deferred",
        }
    }

    /// How long nothing is tried.
    pub(crate) fn pause_ms(self) -> u64 {
        match self {
            Self::Retry { pause_ms } | Self::Deferred { pause_ms } => pause_ms,
            Self::Delivered | Self::Refused | Self::Exhausted => 0,
        }
    }
}

/// Decides; `jitter` lies between 0 and 1. None where the result says nothing.
pub(crate) fn decide(policy: &Policy, ended: &Ended, jitter: f64) -> Option<Verdict> {
    Some(match ended.result {
        PushResult::Unspecified => return None,
        PushResult::Delivered => Verdict::Delivered,
        PushResult::Refused => Verdict::Refused,
        // Short at first, since a permit comes free as soon as an attempt ends; longer where the host stays behind, so
        // that what waits for it is not passed round and round.
        PushResult::Deferred => Verdict::Deferred {
            pause_ms: jittered(
                doubled(policy.defer_first_ms, ended.deferrals, policy.delay_ms_max),
                jitter,
            ),
        },
        PushResult::Failed if ended.is_probe => Verdict::Retry {
            pause_ms: pause_ms(policy, ended, jitter),
        },
        PushResult::Failed => retry_or_give_up(policy, ended, jitter),
    })
}

/// An attempt that was lost with its worker counts too, but only one that is known to have failed gives the push up.
fn retry_or_give_up(policy: &Policy, ended: &Ended, jitter: f64) -> Verdict {
    let pause_ms = pause_ms(policy, ended, jitter);
    let is_in_time = ended.elapsed_ms.saturating_add(pause_ms) <= policy.duration_ms_max;
    if ended.number < policy.attempts_max && is_in_time {
        Verdict::Retry { pause_ms }
    } else {
        Verdict::Exhausted
    }
}

/// Exponential with jitter, capped; longer if the other side asked for it, up to the same cap.
fn pause_ms(policy: &Policy, ended: &Ended, jitter: f64) -> u64 {
    let exponent = i32::try_from(ended.number.saturating_sub(1)).unwrap_or(i32::MAX);
    // Configured times are far below 2^53, and a cast of what is beyond u64 ends at its limit.
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss
    )]
    let backoff_ms = (policy.first_delay_ms as f64 * policy.backoff_factor.powi(exponent)) as u64;
    let backoff_ms = jittered(backoff_ms.min(policy.delay_ms_max), jitter);
    let asked_ms = ended.retry_after_ms.map_or(0, u64::from).min(policy.delay_ms_max);
    backoff_ms.max(asked_ms)
}

fn doubled(first_ms: u64, times: u32, max_ms: u64) -> u64 {
    first_ms.saturating_mul(2_u64.saturating_pow(times)).min(max_ms)
}

/// From three quarters up to the whole: those that failed together come back apart, none later than promised.
fn jittered(pause_ms: u64, jitter: f64) -> u64 {
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss
    )]
    let taken_ms = (pause_ms as f64 * 0.25 * jitter.clamp(0.0, 1.0)) as u64;
    pause_ms.saturating_sub(taken_ms)
}

#[cfg(test)]
mod tests {
    use super::PushResult::{Deferred, Delivered, Failed, Refused, Unspecified};
    use super::{Ended, Policy, PushResult, Verdict, decide};

    const POLICY: Policy = Policy {
        first_delay_ms: 1000,
        backoff_factor: 3.0,
        delay_ms_max: 60_000,
        attempts_max: 8,
        duration_ms_max: 600_000,
        defer_first_ms: 100,
    };

    fn ended(result: PushResult, number: u32, elapsed_ms: u64, retry_after_ms: Option<u32>) -> Ended {
        Ended {
            result,
            number,
            is_probe: false,
            deferrals: 0,
            elapsed_ms,
            retry_after_ms,
        }
    }

    #[test]
    fn what_comes_of_an_attempt() {
        let retry = |pause_ms| Some(Verdict::Retry { pause_ms });
        let cases = [
            (ended(Delivered, 1, 0, None), Some(Verdict::Delivered)),
            (ended(Delivered, 99, 9_999_999, None), Some(Verdict::Delivered)),
            (ended(Refused, 1, 0, Some(5000)), Some(Verdict::Refused)),
            (
                ended(Deferred, 8, 0, None),
                Some(Verdict::Deferred { pause_ms: 100 }),
            ),
            (ended(Unspecified, 1, 0, None), None),
            // The pause grows by the factor up to the cap.
            (ended(Failed, 1, 0, None), retry(1000)),
            (ended(Failed, 2, 0, None), retry(3000)),
            (ended(Failed, 4, 0, None), retry(27_000)),
            (ended(Failed, 5, 0, None), retry(60_000)),
            // Retry-After lengthens it, never shortens it, never beyond the cap.
            (ended(Failed, 1, 0, Some(0)), retry(1000)),
            (ended(Failed, 1, 0, Some(20_000)), retry(20_000)),
            (ended(Failed, 2, 0, Some(2000)), retry(3000)),
            (ended(Failed, 1, 0, Some(u32::MAX)), retry(60_000)),
            // The caps.
            (ended(Failed, 7, 0, None), retry(60_000)),
            (ended(Failed, 8, 0, None), Some(Verdict::Exhausted)),
            (ended(Failed, 9, 0, None), Some(Verdict::Exhausted)),
            (ended(Failed, 1, 599_000, None), retry(1000)),
            (ended(Failed, 1, 599_001, None), Some(Verdict::Exhausted)),
            (ended(Failed, 1, u64::MAX, None), Some(Verdict::Exhausted)),
        ];
        for (ended, verdict) in cases {
            assert_eq!(decide(&POLICY, &ended, 0.0), verdict, "{ended:?}");
        }
    }

    #[test]
    fn a_probe_that_fails_gives_no_push_up() {
        for (number, elapsed_ms) in [(1, 0), (8, 0), (99, u64::MAX)] {
            let probe = Ended {
                is_probe: true,
                ..ended(Failed, number, elapsed_ms, None)
            };
            let verdict = decide(&POLICY, &probe, 0.0);
            assert!(
                matches!(verdict, Some(Verdict::Retry { .. })),
                "{probe:?}: {verdict:?}"
            );
        }
        let answered = Ended {
            is_probe: true,
            ..ended(Refused, 1, 0, None)
        };
        assert_eq!(decide(&POLICY, &answered, 0.0), Some(Verdict::Refused));
    }

    #[test]
    fn what_is_put_back_again_and_again_waits_longer_each_time() {
        for (deferrals, pause_ms) in [(0, 100), (1, 200), (5, 3200), (10, 60_000), (u32::MAX, 60_000)] {
            let deferred = Ended {
                deferrals,
                ..ended(Deferred, 1, 0, None)
            };
            assert_eq!(
                decide(&POLICY, &deferred, 0.0),
                Some(Verdict::Deferred { pause_ms })
            );
        }
    }

    #[test]
    fn jitter_shortens_by_a_quarter_at_most() {
        for (jitter, pause_ms) in [(0.0, 1000), (0.5, 875), (1.0, 750)] {
            let verdict = decide(&POLICY, &ended(Failed, 1, 0, None), jitter);
            assert_eq!(verdict, Some(Verdict::Retry { pause_ms }));
        }
    }

    #[test]
    fn extreme_settings_do_not_overflow() {
        let policy = Policy {
            first_delay_ms: u64::MAX,
            backoff_factor: 100.0,
            delay_ms_max: u64::MAX,
            attempts_max: u32::MAX,
            duration_ms_max: u64::MAX,
            defer_first_ms: u64::MAX,
        };
        let verdict = decide(&policy, &ended(Failed, u32::MAX - 1, 0, None), 0.0);
        assert_eq!(verdict, Some(Verdict::Retry { pause_ms: u64::MAX }));
    }
}
