//! Deadlocks and serialisation failures are retried, never shown (rule 11).

use std::future::Future;
use std::time::Duration;

use tokio_postgres::error::SqlState;

use super::Error;
use crate::backoff::Backoff;

/// Attempts of one transaction.
const ATTEMPTS_MAX: u32 = 5;
/// Pauses between them.
const FIRST_DELAY: Duration = Duration::from_millis(5);
const MAX_DELAY: Duration = Duration::from_millis(100);

/// Tells what lost a race from what failed.
pub trait Transient {
    /// Whether the transaction was rolled back only because others ran beside it.
    fn is_transient(&self) -> bool;
}

impl Transient for Error {
    fn is_transient(&self) -> bool {
        let state = self.sql_state();
        state == Some(&SqlState::T_R_DEADLOCK_DETECTED) || state == Some(&SqlState::T_R_SERIALIZATION_FAILURE)
    }
}

/// Runs a transaction again while it loses races. The operation begins its transaction itself, each time.
pub async fn retry<T, E, F, Fut>(mut operation: F) -> Result<T, E>
where
    E: Transient,
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<T, E>>,
{
    let mut backoff = Backoff::new(FIRST_DELAY, MAX_DELAY);
    for _ in 1..ATTEMPTS_MAX {
        match operation().await {
            Err(error) if error.is_transient() => {
                ::metrics::counter!("hub_db_retries_total").increment(1);
                backoff.wait().await;
            }
            outcome => return outcome,
        }
    }
    operation().await
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::{ATTEMPTS_MAX, Transient, retry};

    #[derive(Debug, PartialEq)]
    struct Lost(bool);

    impl Transient for Lost {
        fn is_transient(&self) -> bool {
            self.0
        }
    }

    #[tokio::test(start_paused = true)]
    async fn only_lost_races_are_run_again() {
        let runs = Cell::new(0);
        let outcome = retry(|| async {
            runs.set(runs.get() + 1);
            if runs.get() < 3 {
                Err(Lost(true))
            } else {
                Ok(runs.get())
            }
        });
        assert_eq!(outcome.await, Ok(3));

        runs.set(0);
        let outcome: Result<(), _> = retry(|| async {
            runs.set(runs.get() + 1);
            Err(Lost(false))
        })
        .await;
        assert_eq!((outcome, runs.get()), (Err(Lost(false)), 1));

        runs.set(0);
        let outcome: Result<(), _> = retry(|| async {
            runs.set(runs.get() + 1);
            Err(Lost(true))
        })
        .await;
        assert_eq!((outcome, runs.get()), (Err(Lost(true)), ATTEMPTS_MAX));
    }
}
