//! Jobs on a JetStream work queue.

use std::marker::PhantomData;

use serde::de::DeserializeOwned;
use serde::Serialize;

/// The push jobs. Clones share the bound on what is in flight.
#[derive(Clone, Debug)]
pub struct Jobs {
    _private: (),
}

impl Jobs {
    /// Publishes jobs and returns how many the server took; the others are published again when due.
    pub async fn publish<T: Serialize + Sync>(&self, jobs: &[T]) -> usize {
        let _ = jobs;
        todo!()
    }

    /// Takes jobs, at most so many at a time.
    pub fn consume<T: DeserializeOwned>(&self, batch_max: usize) -> Consumer<T> {
        let _ = batch_max;
        todo!()
    }
}

/// Takes jobs, and creates stream and consumer anew where they are missing.
#[derive(Debug)]
pub struct Consumer<T> {
    _job: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned> Consumer<T> {
    /// Waits for the next batch, which has at least one job. Dropping the future loses nothing that an ack
    /// deadline would not bring back.
    pub async fn next(&mut self) -> Vec<Delivery<T>> {
        todo!()
    }
}

/// A job in hand.
pub struct Delivery<T> {
    /// What is to be done.
    pub job: T,
    /// Trace context of who published it.
    pub traceparent: Option<String>,
    acker: async_nats::jetstream::message::Acker,
}

impl<T> Delivery<T> {
    /// Takes the job off the queue. An ack that is lost only brings the job back.
    pub async fn ack(self) {
        let _ = self.acker;
        todo!()
    }
}
