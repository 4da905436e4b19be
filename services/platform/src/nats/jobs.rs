//! Jobs on a JetStream work queue. A job only says that a row is due: losing one costs time, not work.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::jetstream::consumer::{AckPolicy, PullConsumer, pull};
use async_nats::jetstream::context::{PublishError, PublishErrorKind};
use async_nats::jetstream::stream::{self, DiscardPolicy, RetentionPolicy, StorageType};
use async_nats::jetstream::{self, Context};
use bytes::Bytes;
use futures_util::StreamExt;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::{Mutex, watch};
use tokio::time::Instant;

use super::connection::is_connected;
use super::consumer::Consumer;
use crate::config;
use crate::telemetry::{self, HEADER};

/// How long a stream that was just seen is taken to be there.
const SEEN_FOR: Duration = Duration::from_millis(500);
/// The consumer that all workers share.
const CONSUMER: &str = "push";

/// The push jobs. Clones share the bound on what is in flight.
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
    ) -> Self {
        let timeout = Duration::from_millis(config.publish_timeout_ms);
        let context = jetstream::context::ContextBuilder::new()
            .timeout(timeout)
            .ack_timeout(timeout)
            .max_ack_inflight(config.publish_in_flight_max)
            .build(client.clone());
        let subject = format!("{}.push", config.prefix);
        let inner = Inner {
            client,
            context,
            stream: stream_config(config, &subject),
            consumer: consumer_config(config, &subject),
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
    pub async fn publish<T: Serialize + Sync>(&self, jobs: &[T]) -> usize {
        let traceparent = telemetry::traceparent();
        let mut taken = 0;
        for chunk in jobs.chunks(self.inner.in_flight_max) {
            let taken_of_chunk = self.publish_chunk(chunk, traceparent.as_deref()).await;
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

    async fn publish_chunk<T: Serialize + Sync>(&self, jobs: &[T], traceparent: Option<&str>) -> usize {
        if !is_connected(&self.inner.client) {
            return 0;
        }
        let payloads = jobs
            .iter()
            .filter_map(|job| serde_json::to_vec(job).ok())
            .map(Bytes::from);
        let publishes: Vec<_> = payloads
            .map(|payload| self.publish_one(payload, traceparent))
            .collect();
        futures_util::stream::iter(publishes)
            .buffer_unordered(self.inner.in_flight_max)
            .filter(|was_taken| std::future::ready(*was_taken))
            .count()
            .await
    }

    async fn publish_one(&self, payload: Bytes, traceparent: Option<&str>) -> bool {
        match self.send(payload.clone(), traceparent).await {
            Ok(()) => true,
            Err(error) if error.kind() == PublishErrorKind::StreamNotFound => {
                self.ensure_stream().await.is_ok() && self.send(payload, traceparent).await.is_ok()
            }
            Err(_) => false,
        }
    }

    async fn send(&self, payload: Bytes, traceparent: Option<&str>) -> Result<(), PublishError> {
        let mut headers = HeaderMap::new();
        if let Some(traceparent) = traceparent {
            headers.insert(HEADER, traceparent);
        }
        let context = &self.inner.context;
        context
            .publish_with_headers(self.inner.subject.clone(), headers, payload)
            .await?
            .await?;
        Ok(())
    }

    /// Takes jobs, at most so many at a time.
    pub fn consume<T: DeserializeOwned>(&self, batch_max: usize) -> Consumer<T> {
        Consumer::new(self.clone(), batch_max, self.inner.connects.clone())
    }

    /// The shared consumer, with its stream: both as configured, created where they are missing.
    pub(super) async fn open(&self) -> Result<PullConsumer, async_nats::Error> {
        self.ensure_stream().await?;
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

    pub(super) fn is_connected(&self) -> bool {
        is_connected(&self.inner.client)
    }

    async fn ensure_stream(&self) -> Result<(), async_nats::Error> {
        let mut seen_at = self.inner.seen_at.lock().await;
        if seen_at.is_some_and(|at| at.elapsed() < SEEN_FOR) {
            return Ok(());
        }
        self.inner
            .context
            .create_or_update_stream(self.inner.stream.clone())
            .await?;
        *seen_at = Some(Instant::now());
        Ok(())
    }
}

/// On disk, each job to one worker, bounded: what does not fit is refused, and published again when due.
fn stream_config(config: &config::Nats, subject: &str) -> stream::Config {
    stream::Config {
        name: format!("{}_PUSH", config.prefix),
        subjects: vec![subject.to_owned()],
        retention: RetentionPolicy::WorkQueue,
        storage: StorageType::File,
        discard: DiscardPolicy::New,
        max_bytes: i64::try_from(config.jobs_max_bytes).unwrap_or(i64::MAX),
        max_age: Duration::from_secs(config.jobs_max_age_seconds),
        num_replicas: config.jobs_replicas,
        ..stream::Config::default()
    }
}

fn consumer_config(config: &config::Nats, subject: &str) -> pull::Config {
    pull::Config {
        durable_name: Some(CONSUMER.to_owned()),
        ack_policy: AckPolicy::Explicit,
        ack_wait: Duration::from_millis(config.job_ack_wait_ms),
        max_ack_pending: i64::from(config.jobs_held_max),
        filter_subject: subject.to_owned(),
        ..pull::Config::default()
    }
}
