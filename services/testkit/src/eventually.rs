//! Waiting for a condition instead of for the clock.

use std::time::Duration;

use tokio::time::Instant;

/// Generous: it bounds a test that fails, never one that passes.
pub const DEADLINE: Duration = Duration::from_secs(30);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Looks until the condition gives a value, and fails the test at the deadline, naming what it waited for.
pub async fn eventually<T, Looking>(what: &str, look: impl FnMut() -> Looking) -> T
where
    Looking: Future<Output = Option<T>>,
{
    eventually_within(DEADLINE, what, look).await
}

/// `eventually` with a deadline of one's own.
pub async fn eventually_within<T, Looking>(
    deadline: Duration,
    what: &str,
    mut look: impl FnMut() -> Looking,
) -> T
where
    Looking: Future<Output = Option<T>>,
{
    let end = Instant::now() + deadline;
    let mut beat = tokio::time::interval(LOOK_EVERY);
    loop {
        beat.tick().await;
        if let Some(value) = look().await {
            return value;
        }
        assert!(
            Instant::now() < end,
            "waited {} s in vain: {what}",
            deadline.as_secs()
        );
    }
}
