//! The pause between two passes.

use std::time::Duration;

use hub_platform::shutdown::Shutdown;

/// A pause with jitter, so that replicas do not look at the same moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pause {
    interval: Duration,
}

impl Pause {
    /// One of this length on average.
    pub(crate) fn of(interval: Duration) -> Self {
        Self { interval }
    }

    /// Waits it out and says so, or says no at once when the process stops.
    pub(crate) async fn unless(&self, shutdown: &Shutdown) -> bool {
        tokio::select! {
            () = shutdown.requested() => false,
            () = tokio::time::sleep(jittered(self.interval, rand::random())) => true,
        }
    }
}

/// Three quarters to five quarters of the interval.
fn jittered(interval: Duration, jitter: f64) -> Duration {
    interval.mul_f64(0.75 + jitter / 2.0)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::jittered;

    #[test]
    fn a_pause_keeps_near_its_interval() {
        let interval = Duration::from_secs(1);
        for (jitter, millis) in [(0.0, 750), (0.5, 1000), (1.0, 1250)] {
            assert_eq!(jittered(interval, jitter), Duration::from_millis(millis));
        }
    }
}
