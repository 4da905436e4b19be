//! How many connections are served at a time.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum_server::accept::Accept;
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tower::Service;

/// Turns away, before its TLS handshake, any connection beyond the bound.
#[derive(Clone)]
pub(super) struct Bounded {
    permits: Arc<Semaphore>,
}

impl Bounded {
    /// At most so many connections at a time.
    pub(super) fn new(connections_max: usize) -> Self {
        Self {
            permits: Arc::new(Semaphore::new(connections_max.min(Semaphore::MAX_PERMITS))),
        }
    }
}

impl<S: Send + 'static> Accept<TcpStream, S> for Bounded {
    type Stream = TcpStream;
    type Service = Counted<S>;
    type Future = Pin<Box<dyn Future<Output = io::Result<(TcpStream, Counted<S>)>> + Send>>;

    fn accept(&self, stream: TcpStream, service: S) -> Self::Future {
        let permit = self.permits.clone().try_acquire_owned();
        Box::pin(async move {
            let Ok(permit) = permit else {
                metrics::counter!("hub_http_connections_refused_total").increment(1);
                return Err(io::Error::other("too many connections"));
            };
            // A small answer must not wait for the acknowledgement of the one before.
            stream.set_nodelay(true)?;
            Ok((
                stream,
                Counted {
                    inner: service,
                    _permit: Arc::new(permit),
                },
            ))
        })
    }
}

/// A connection's service, which holds the connection's place for as long as it lives.
#[derive(Clone)]
pub(super) struct Counted<S> {
    inner: S,
    _permit: Arc<OwnedSemaphorePermit>,
}

impl<S: Service<R>, R> Service<R> for Counted<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: R) -> S::Future {
        self.inner.call(request)
    }
}
