//! Callback hosts on loopback: one that notes when each message's Response arrives, and one that never answers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use anyhow::Context as _;
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use serde::Deserialize;
use tokio::net::TcpListener;
use tokio::sync::Notify;

#[derive(Default)]
struct Arrivals {
    first: Mutex<HashMap<String, Instant>>,
    changed: Notify,
}

pub(crate) struct Sink {
    /// `127.0.0.1:<port>`.
    pub host: String,
    arrivals: Arc<Arrivals>,
}

#[derive(Deserialize)]
struct Push {
    in_reply_to: String,
}

impl Sink {
    pub(crate) async fn start() -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")
            .await
            .context("open the callback sink")?;
        let host = listener.local_addr()?.to_string();
        let arrivals = Arc::new(Arrivals::default());
        let router = Router::new()
            .route("/push", post(receive))
            .with_state(Arc::clone(&arrivals));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(Self { host, arrivals })
    }

    /// One that takes every connection and never answers.
    pub(crate) async fn hanging() -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")
            .await
            .context("open the hanging sink")?;
        let host = listener.local_addr()?.to_string();
        tokio::spawn(async move {
            // Kept open, so that the caller waits for its own deadline.
            let mut taken = Vec::new();
            while let Ok((connection, _)) = listener.accept().await {
                taken.push(connection);
            }
        });
        Ok(Self {
            host,
            arrivals: Arc::default(),
        })
    }

    /// Messages whose Response has arrived, at least once.
    pub(crate) fn count(&self) -> usize {
        self.arrivals.lock().len()
    }

    pub(crate) fn arrived_at(&self, message_id: &str) -> Option<Instant> {
        self.arrivals.lock().get(message_id).copied()
    }

    /// Returns at the next arrival.
    pub(crate) async fn changed(&self) {
        self.arrivals.changed.notified().await;
    }
}

impl Arrivals {
    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Instant>> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn receive(State(arrivals): State<Arc<Arrivals>>, body: String) -> StatusCode {
    let Ok(push) = serde_json::from_str::<Push>(&body) else {
        return StatusCode::BAD_REQUEST;
    };
    arrivals
        .lock()
        .entry(push.in_reply_to)
        .or_insert_with(Instant::now);
    arrivals.changed.notify_one();
    StatusCode::NO_CONTENT
}
