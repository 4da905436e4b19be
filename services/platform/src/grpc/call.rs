//! A call that survives the loss of a replica.

use std::error::Error;
use std::future::Future;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};
use tonic::{Code, Response, Status};

use crate::backoff::Backoff;
use crate::config;

/// Makes a call, again where it got no answer, until `call_timeout_ms` has passed. Every call between tiers can
/// be repeated: the caller minted the ids of what it asks for.
pub async fn call<T, F, Fut>(peers: &config::Peers, mut attempt: F) -> Result<T, Status>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<Response<T>, Status>>,
{
    let deadline = Instant::now() + Duration::from_millis(peers.call_timeout_ms);
    let mut backoff = Backoff::new(
        Duration::from_millis(peers.retry_first_delay_ms),
        Duration::from_millis(peers.retry_max_delay_ms),
    );
    loop {
        let until = deadline.min(Instant::now() + Duration::from_millis(peers.attempt_timeout_ms));
        let outcome = timeout_at(until, attempt()).await;
        let status = match outcome {
            Ok(Ok(response)) => return Ok(response.into_inner()),
            Ok(Err(status)) if !is_unanswered(&status) => return Err(status),
            Ok(Err(status)) => status,
            Err(_) => Status::unavailable("no answer in time"),
        };
        let delay = backoff.next_delay();
        if Instant::now() + delay >= deadline {
            return Err(status);
        }
        ::metrics::counter!("hub_grpc_retries_total").increment(1);
        tokio::time::sleep(delay).await;
    }
}

/// Whether nobody decided: the tier could not reach its database, or the connection broke. A status that came
/// over the wire has no source, one that the transport made up has.
fn is_unanswered(status: &Status) -> bool {
    match status.code() {
        Code::Unavailable => true,
        Code::Unknown | Code::Internal | Code::Cancelled => status.source().is_some(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::time::Duration;

    use tokio::time::Instant;
    use tonic::{Code, Response, Status};

    use super::call;
    use crate::config::{Config, Peers};

    fn peers() -> Peers {
        Config::load([]).unwrap().peers
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_is_made_again_until_it_is_answered() {
        let attempts = Cell::new(0);
        let peers = peers();
        let answer = call(&peers, || async {
            attempts.set(attempts.get() + 1);
            match attempts.get() {
                1 => Err(Status::unavailable("connection refused")),
                // As a replica that hangs.
                2 => std::future::pending().await,
                attempt => Ok(Response::new(attempt)),
            }
        });
        assert_eq!(answer.await.unwrap(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn a_refusal_is_an_answer() {
        let attempts = Cell::new(0);
        let answer: Result<(), _> = call(&peers(), || async {
            attempts.set(attempts.get() + 1);
            Err(Status::failed_precondition("already terminal"))
        })
        .await;
        assert_eq!(answer.unwrap_err().code(), Code::FailedPrecondition);
        assert_eq!(attempts.get(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn the_deadline_bounds_all_attempts() {
        let start = Instant::now();
        let answer: Result<(), _> = call(&peers(), || async { Err(Status::unavailable("away")) }).await;
        assert_eq!(answer.unwrap_err().code(), Code::Unavailable);
        let waited = start.elapsed();
        assert!(
            (Duration::from_secs(9)..=Duration::from_secs(10)).contains(&waited),
            "{waited:?}"
        );
    }
}
