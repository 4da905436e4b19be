//! Jobs on JetStream work queues, one for each kind of work. A job only says that a row is due: losing one costs time, not
//! work.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, PullConsumer, pull};
use async_nats::jetstream::context::{
    CreateStreamErrorKind, GetStreamError, GetStreamErrorKind, PublishError, PublishErrorKind,
};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::{
    self, ConsumerError, ConsumerErrorKind, DiscardPolicy, RetentionPolicy, StorageType,
};
use async_nats::jetstream::{self, Context, ErrorCode};
use bytes::Bytes;
use futures_util::StreamExt;
use prost::Message;
use tokio::sync::{Mutex, watch};
use tokio::time::Instant;

use super::connection::is_connected;
use super::consumer::Consumer;
use crate::config;

/// A name under which no stream is made.
const NO_STREAM: &str = "-";
/// How long a stream that was just seen is taken to be there.
const SEEN_FOR: Duration = Duration::from_millis(500);

/// A kind of work, with a stream of its own: a flood of one does not delay the other.
pub(super) struct Queue {
    /// The last part of the subject, and the consumer that all workers share.
    name: &'static str,
    /// The last part of the stream's name.
    stream: &'static str,
    /// Its stream holds this part of what is configured.
    share: u64,
}

/// Pushes that are due.
pub(super) const PUSH: Queue = Queue {
    name: "push",
    stream: "PUSH",
    share: 1,
};
/// Broadcasts that have agents to reach. There are few of them, each with one job.
pub(super) const FAN_OUT: Queue = Queue {
    name: "fanout",
    stream: "FANOUT",
    share: 16,
};

/// The jobs of one kind. Clones share the bound on what is in flight.
#[derive(Clone)]
pub struct Jobs {
    inner: Arc<Inner>,
}

struct Inner {
    client: async_nats::Client,
    context: Context,
    subject: String,
    stream: stream::Config,
    consumer: pull::Config,
    in_flight_max: usize,
    connects: watch::Receiver<u64>,
    /// When the stream was last created or seen; held while looking, so that one looks for all.
    seen_at: Mutex<Option<Instant>>,
}

impl fmt::Debug for Jobs {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Jobs")
            .field("stream", &self.inner.stream.name)
            .finish_non_exhaustive()
    }
}

impl Jobs {
    pub(super) fn new(
        client: async_nats::Client,
        config: &config::Nats,
        connects: watch::Receiver<u64>,
        queue: &Queue,
    ) -> Self {
        let timeout = Duration::from_millis(config.publish_timeout_ms);
        let context = jetstream::context::ContextBuilder::new()
            .timeout(timeout)
            .ack_timeout(timeout)
            .max_ack_inflight(config.publish_in_flight_max)
            .build(client.clone());
        let subject = format!("{}.{}", config.prefix, queue.name);
        let inner = Inner {
            client,
            context,
            stream: stream_config(config, &subject, queue),
            consumer: consumer_config(config, &subject, queue),
            subject,
            in_flight_max: config.publish_in_flight_max,
            connects,
            seen_at: Mutex::new(None),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// Publishes jobs and returns how many the server took; the others are published again when due.
    pub async fn publish<T: Message>(&self, jobs: &[T]) -> usize {
        let mut taken = 0;
        for chunk in jobs.chunks(self.inner.in_flight_max) {
            let taken_of_chunk = self.publish_chunk(chunk).await;
            taken += taken_of_chunk;
            if taken_of_chunk == 0 {
                // Nobody takes jobs now; the rest would only wait for its timeout.
                break;
            }
        }
        let count = |outcome: &'static str, jobs: usize| {
            let jobs = u64::try_from(jobs).unwrap_or(u64::MAX);
            ::metrics::counter!("hub_nats_jobs_published_total", "outcome" => outcome).increment(jobs);
        };
        count("taken", taken);
        count("dropped", jobs.len() - taken);
        taken
    }

    async fn publish_chunk<T: Message>(&self, jobs: &[T]) -> usize {
        if !is_connected(&self.inner.client) {
            return 0;
        }
        let payloads = jobs.iter().map(|job| Bytes::from(job.encode_to_vec()));
        let publishes: Vec<_> = payloads.map(|payload| self.publish_one(payload)).collect();
        futures_util::stream::iter(publishes)
            .buffer_unordered(self.inner.in_flight_max)
            .filter(|was_taken| std::future::ready(*was_taken))
            .count()
            .await
    }

    async fn publish_one(&self, payload: Bytes) -> bool {
        match self.send(payload.clone()).await {
            Ok(()) => true,
            Err(error) if error.kind() == PublishErrorKind::StreamNotFound => {
                self.ensure_stream().await.is_ok() && self.send(payload).await.is_ok()
            }
            Err(_) => false,
        }
    }

    async fn send(&self, payload: Bytes) -> Result<(), PublishError> {
        let Inner { context, subject, .. } = &*self.inner;
        context.publish(subject.clone(), payload).await?.await?;
        Ok(())
    }

    /// How many jobs the server holds that no worker has done with; none where it does not say.
    pub async fn waiting(&self) -> Option<u64> {
        if !is_connected(&self.inner.client) {
            return None;
        }
        match self.inner.context.get_stream(&self.inner.stream.name).await {
            Ok(stream) => Some(stream.cached_info().state.messages),
            // It has lost its stream: the next publish makes it anew.
            Err(error) if is_missing(&error) => Some(0),
            Err(_) => None,
        }
    }

    /// Takes jobs, at most so many at a time.
    pub fn consume<T: Message + Default>(&self, batch_max: usize) -> Consumer<T> {
        Consumer::new(self.clone(), batch_max, self.inner.connects.clone())
    }

    /// The shared consumer, with its stream: both as configured, created where they are missing.
    ///
    /// Servers before 2.9.15 give a stream's name away before it is set up, so that of two workers who open a queue at once
    /// one may come too early. A consumer made then stays mute for ever.
    pub(super) async fn open(&self) -> Result<PullConsumer, async_nats::Error> {
        self.ensure_stream().await?;
        self.check_stream_answers().await?;
        let Inner {
            context,
            stream,
            consumer,
            ..
        } = &*self.inner;
        Ok(context
            .create_consumer_on_stream(consumer.clone(), &stream.name)
            .await?)
    }

    /// Drops the shared consumer, if it is there. Its jobs stay in the queue.
    pub(super) async fn delete_consumer(&self) -> Result<(), async_nats::Error> {
        let Inner {
            context,
            stream,
            consumer,
            ..
        } = &*self.inner;
        let name = consumer.durable_name.as_deref().unwrap_or_default();
        match context.delete_consumer_from_stream(name, &stream.name).await {
            Err(error) if !is_gone(&error) => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// A stream that is set up answers what is published; it takes nothing that is meant for another.
    async fn check_stream_answers(&self) -> Result<(), async_nats::Error> {
        let Inner { context, subject, .. } = &*self.inner;
        let misdirected = PublishMessage::build().expected_stream(NO_STREAM);
        match context.send_publish(subject.clone(), misdirected).await?.await {
            Err(error) if !is_answer(&error) => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Whether the server is connected now.
    pub fn is_connected(&self) -> bool {
        is_connected(&self.inner.client)
    }

    async fn ensure_stream(&self) -> Result<(), async_nats::Error> {
        let mut seen_at = self.inner.seen_at.lock().await;
        if seen_at.is_some_and(|at| at.elapsed() < SEEN_FOR) {
            return Ok(());
        }
        let Inner { context, stream, .. } = &*self.inner;
        // In this order: an update of a stream that is not set up yet ends a server before 2.9.15.
        if let Err(refusal) = context.create_stream(stream.clone()).await {
            // It is there and differs, or has itself taken the room that the server has for streams.
            let CreateStreamErrorKind::JetStream(_) = refusal.kind() else {
                return Err(refusal.into());
            };
            match context.update_stream(stream).await {
                Err(error) if error.kind() == CreateStreamErrorKind::NotFound => return Err(refusal.into()),
                updated => updated?,
            };
        }
        *seen_at = Some(Instant::now());
        Ok(())
    }
}

/// The server's word, not that none came.
fn is_answer(error: &PublishError) -> bool {
    std::error::Error::source(error).is_some_and(<dyn std::error::Error>::is::<jetstream::Error>)
}

fn is_gone(error: &ConsumerError) -> bool {
    let ConsumerErrorKind::JetStream(cause) = error.kind() else {
        return false;
    };
    cause.error_code() == ErrorCode::CONSUMER_NOT_FOUND
}

fn is_missing(error: &GetStreamError) -> bool {
    let GetStreamErrorKind::JetStream(cause) = error.kind() else {
        return false;
    };
    cause.error_code() == ErrorCode::STREAM_NOT_FOUND
}

/// On disk, each job to one worker, bounded: what does not fit is refused, and published again when due.
fn stream_config(config: &config::Nats, subject: &str, queue: &Queue) -> stream::Config {
    stream::Config {
        name: format!("{}_{}", config.prefix, queue.stream),
        subjects: vec![subject.to_owned()],
        retention: RetentionPolicy::WorkQueue,
        storage: StorageType::File,
        discard: DiscardPolicy::New,
        max_bytes: i64::try_from(config.jobs_max_bytes / queue.share).unwrap_or(i64::MAX),
        max_age: Duration::from_secs(config.jobs_max_age_seconds),
        num_replicas: config.jobs_replicas,
        ..stream::Config::default()
    }
}

fn consumer_config(config: &config::Nats, subject: &str, queue: &Queue) -> pull::Config {
    pull::Config {
        durable_name: Some(queue.name.to_owned()),
        ack_policy: AckPolicy::Explicit,
        ack_wait: Duration::from_millis(config.job_ack_wait_ms),
        max_ack_pending: i64::from(config.jobs_held_max),
        filter_subject: subject.to_owned(),
        ..pull::Config::default()
    }
}
