//! Pauses between attempts: exponential, capped, with jitter so that those who failed together do not come
//! back together.

use std::time::Duration;

/// A pause that doubles from `first` up to `max`.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    first: Duration,
    max: Duration,
    attempts: u32,
}

impl Backoff {
    /// Begins anew at `first`.
    pub fn new(first: Duration, max: Duration) -> Self {
        Self {
            first,
            max,
            attempts: 0,
        }
    }

    /// The pause before the next attempt.
    pub fn next_delay(&mut self) -> Duration {
        let delay = delay(self.first, self.max, self.attempts, rand::random());
        self.attempts = self.attempts.saturating_add(1);
        delay
    }

    /// Forgets the failures, after something went well.
    pub fn reset(&mut self) {
        self.attempts = 0;
    }

    /// Waits out the next pause.
    pub async fn wait(&mut self) {
        tokio::time::sleep(self.next_delay()).await;
    }
}

/// The pause after so many failures; `jitter` from 0 to 1 takes it from half to all of its length.
pub fn delay(first: Duration, max: Duration, attempts: u32, jitter: f64) -> Duration {
    let doubled = first.saturating_mul(2_u32.saturating_pow(attempts));
    doubled.min(max).mul_f64(0.5 + jitter.clamp(0.0, 1.0) / 2.0)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Backoff, delay};

    #[test]
    fn pauses_double_up_to_the_cap() {
        let (first, max) = (Duration::from_millis(100), Duration::from_secs(1));
        let full: Vec<_> = (0..6)
            .map(|attempts| delay(first, max, attempts, 1.0).as_millis())
            .collect();
        assert_eq!(full, [100, 200, 400, 800, 1000, 1000]);
        assert_eq!(delay(first, max, 0, 0.0).as_millis(), 50);
        assert_eq!(delay(first, max, u32::MAX, 1.0), max);
    }

    #[test]
    fn success_starts_over() {
        let mut backoff = Backoff::new(Duration::from_millis(100), Duration::from_mins(1));
        for _ in 0..5 {
            backoff.next_delay();
        }
        assert!(backoff.next_delay() >= Duration::from_millis(1600));
        backoff.reset();
        assert!(backoff.next_delay() <= Duration::from_millis(100));
    }
}
