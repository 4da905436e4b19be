//! A worker's end of the job queue.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use async_nats::jetstream::consumer::pull::{self, MessagesError, MessagesErrorKind};
use async_nats::jetstream::message::Acker;
use async_nats::jetstream::{AckKind, Message};
use futures_util::{FutureExt, StreamExt};
use tokio::sync::watch;
use tokio::time::Instant;

use super::jobs::Jobs;
use crate::backoff::Backoff;

/// How long the server keeps a request for jobs, and how often it says that it still has it.
const REQUEST_EXPIRES: Duration = Duration::from_secs(30);
const REQUEST_HEARTBEAT: Duration = Duration::from_secs(5);
/// After two heartbeats that did not come a request is given up: had one come, it would have lasted for three.
const HEARTBEATS_OF_A_MUTE: u32 = 3;
/// Pauses between attempts to open the queue.
const FIRST_DELAY: Duration = Duration::from_millis(50);
const MAX_DELAY: Duration = Duration::from_secs(2);
/// How long an ack may wait for room in the connection's queue.
const ACK_TIMEOUT: Duration = Duration::from_secs(1);

/// Takes jobs, and creates stream and consumer anew where they are missing.
pub struct Consumer<T> {
    jobs: Jobs,
    batch_max: usize,
    connects: watch::Receiver<u64>,
    messages: Option<pull::Stream>,
    /// Since when it is open, while no job has come.
    unheard_since: Option<Instant>,
    /// The server never said anything of it: it is to be made anew.
    is_mute: bool,
    /// Of jobs that could not be read.
    unreadable: Vec<Acker>,
    backoff: Backoff,
    job: PhantomData<fn() -> T>,
}

impl<T> fmt::Debug for Consumer<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Consumer")
            .field("batch_max", &self.batch_max)
            .finish_non_exhaustive()
    }
}

impl<T: prost::Message + Default> Consumer<T> {
    pub(super) fn new(jobs: Jobs, batch_max: usize, connects: watch::Receiver<u64>) -> Self {
        let backoff = Backoff::new(FIRST_DELAY, MAX_DELAY);
        Self {
            jobs,
            batch_max: batch_max.max(1),
            connects,
            messages: None,
            unheard_since: None,
            is_mute: false,
            unreadable: Vec::new(),
            backoff,
            job: PhantomData,
        }
    }

    /// Waits for the next batch, which has at least one job. Dropping the future loses nothing that the ack
    /// deadline would not bring back.
    pub async fn next(&mut self) -> Vec<Delivery<T>> {
        loop {
            let Some(messages) = &mut self.messages else {
                self.open().await;
                continue;
            };
            let first = tokio::select! {
                first = messages.next() => first,
                // A server that came back may have lost stream and consumer.
                _ = self.connects.changed() => None,
            };
            let batch = self.take(first);
            self.give_up_unreadable().await;
            if !batch.is_empty() {
                return batch;
            }
            if self.messages.is_none() {
                self.backoff.wait().await;
            }
        }
    }

    async fn open(&mut self) {
        self.connects.mark_unchanged();
        if !self.jobs.is_connected() {
            // It may come back with another consumer.
            self.is_mute = false;
            // Ends early when the server is there.
            let _ = tokio::time::timeout(MAX_DELAY, self.connects.changed()).await;
            return;
        }
        match self.subscribe().await {
            Ok(messages) => {
                self.messages = Some(messages);
                self.unheard_since = Some(Instant::now());
            }
            Err(error) => {
                tracing::warn!(%error, "job queue cannot be opened");
                self.backoff.wait().await;
            }
        }
    }

    async fn subscribe(&mut self) -> Result<pull::Stream, async_nats::Error> {
        if self.is_mute {
            tracing::warn!("job queue is mute: its consumer is made anew");
            self.jobs.delete_consumer().await?;
            self.is_mute = false;
        }
        let consumer = self.jobs.open().await?;
        let request = consumer.stream().max_messages_per_batch(self.batch_max);
        Ok(request
            .expires(REQUEST_EXPIRES)
            .heartbeat(REQUEST_HEARTBEAT)
            .messages()
            .await?)
    }

    /// Takes jobs of another release off the queue, where they would take the place of others: what they stand for is
    /// published again when due.
    async fn give_up_unreadable(&mut self) {
        for acker in self.unreadable.drain(..) {
            ::metrics::counter!("hub_nats_jobs_unknown_total").increment(1);
            // One whose end is lost comes back, and is given up again.
            let _ = tokio::time::timeout(ACK_TIMEOUT, acker.ack_with(AckKind::Term)).await;
        }
    }

    /// The first job and what is at hand behind it. Without a first the queue is opened anew.
    fn take(&mut self, first: Option<Result<Message, MessagesError>>) -> Vec<Delivery<T>> {
        let mut batch = Vec::new();
        let mut next = first;
        while let Some(Ok(message)) = next {
            self.backoff.reset();
            self.unheard_since = None;
            let (message, acker) = message.split();
            match T::decode(message.payload) {
                Ok(job) => batch.push(Delivery { job, acker }),
                Err(_) => self.unreadable.push(acker),
            }
            if batch.len() == self.batch_max {
                return batch;
            }
            match self
                .messages
                .as_mut()
                .and_then(|messages| messages.next().now_or_never())
            {
                None => return batch,
                Some(at_hand) => next = at_hand,
            }
        }
        if let Some(Err(error)) = next {
            tracing::debug!(%error, "job queue interrupted");
            self.is_mute = is_mute(error.kind(), self.unheard_since.map(|since| since.elapsed()));
        }
        self.messages = None;
        batch
    }
}

/// Whether the server has said nothing at all since it was opened. Such a consumer may stay so, whoever opens it again.
fn is_mute(error: MessagesErrorKind, unheard_for: Option<Duration>) -> bool {
    error == MessagesErrorKind::MissingHeartbeat
        && unheard_for.is_some_and(|time| time < HEARTBEATS_OF_A_MUTE * REQUEST_HEARTBEAT)
}

/// A job in hand.
pub struct Delivery<T> {
    /// What is to be done.
    pub job: T,
    acker: Acker,
}

impl<T: fmt::Debug> fmt::Debug for Delivery<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Delivery")
            .field("job", &self.job)
            .finish_non_exhaustive()
    }
}

impl<T> Delivery<T> {
    /// Takes the job off the queue. An ack that is lost only brings the job back.
    pub async fn ack(&self) {
        let acked = tokio::time::timeout(ACK_TIMEOUT, self.acker.ack()).await;
        if !matches!(acked, Ok(Ok(()))) {
            ::metrics::counter!("hub_nats_job_acks_lost_total").increment(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use async_nats::jetstream::consumer::pull::MessagesErrorKind::{ConsumerDeleted, MissingHeartbeat};

    use super::{REQUEST_HEARTBEAT, is_mute};

    #[test]
    fn a_consumer_that_never_said_anything_is_mute() {
        let given_up = 2 * REQUEST_HEARTBEAT + Duration::from_millis(100);
        assert!(is_mute(MissingHeartbeat, Some(given_up)));
        let later = given_up + REQUEST_HEARTBEAT;
        assert!(!is_mute(MissingHeartbeat, Some(later)), "a heartbeat came");
        assert!(!is_mute(MissingHeartbeat, None), "a job came");
        assert!(!is_mute(ConsumerDeleted, Some(given_up)));
    }
}
