//! How much a receiver remembers, and for how long.

/// The bounds of a receiver's memory. At a bound it refuses what is new, which the hub then delivers again, rather than
/// forget what it must not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Seconds that a signature's time may be off, to either side; what the hub advertises.
    pub window_seconds: i64,
    /// Nonces remembered at a time; each for at least twice the window.
    pub jti_count_max: usize,
    /// Works remembered at a time, in hand or done.
    pub work_count_max: usize,
    /// Seconds that a finished work is remembered. At least as long as the hub may still deliver it: a few visibility
    /// timeouts after the acknowledgement.
    pub work_horizon_seconds: i64,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds {
            window_seconds: 120,
            jti_count_max: 100_000,
            work_count_max: 100_000,
            work_horizon_seconds: 24 * 60 * 60,
        }
    }
}
