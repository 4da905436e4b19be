//! What a client sends and nobody reads: thrown away, within bounds, before the answer goes out.
//!
//! A refusal that is made before the body has come would otherwise end the stream under a client that is still sending. Over
//! HTTP/2 many take the reset that follows for a failure and never read the answer.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::header;
use axum::middleware::Next;
use axum::response::Response;
use http_body_util::BodyExt;
use hyper::body::{Frame, SizeHint};

/// What is read and thrown away of a body at most, and for how long.
const DISCARD_BYTES_MAX: usize = 64 << 20;
const DISCARD_WAIT: Duration = Duration::from_secs(2);

/// The layer that throws away what a handler has left of its request's body.
pub(super) async fn discard(request: Request, next: Next) -> Response {
    // Who asks first whether to send has sent nothing, and need not.
    let asks_first = request.headers().contains_key(header::EXPECT);
    if asks_first || request.body().is_end_stream() {
        return next.run(request).await;
    }
    let left = Left::default();
    let returned = left.clone();
    let response = next
        .run(request.map(|body| {
            Body::new(Lent {
                body: Some(body),
                left: returned,
            })
        }))
        .await;
    if let Some(body) = left.take() {
        throw_away(body).await;
    }
    response
}

/// Whoever sends more, or more slowly, is cut off.
async fn throw_away(mut body: Body) {
    let mut bytes_left = DISCARD_BYTES_MAX;
    let discarding = async {
        while let Some(Ok(frame)) = body.frame().await {
            let bytes = frame.data_ref().map_or(0, Bytes::len);
            let Some(left) = bytes_left.checked_sub(bytes) else {
                return;
            };
            bytes_left = left;
        }
    };
    let _ = tokio::time::timeout(DISCARD_WAIT, discarding).await;
}

/// Where a body comes back to that was not read to its end.
#[derive(Clone, Default)]
struct Left(Arc<Mutex<Option<Body>>>);

impl Left {
    fn take(&self) -> Option<Body> {
        self.lock().take()
    }

    /// No code panics while it holds the lock.
    fn lock(&self) -> MutexGuard<'_, Option<Body>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request's body while a handler has it.
struct Lent {
    /// None once it has ended.
    body: Option<Body>,
    left: Left,
}

impl HttpBody for Lent {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Some(body) = &mut self.body else {
            return Poll::Ready(None);
        };
        let polled = Pin::new(body).poll_frame(context);
        if matches!(polled, Poll::Ready(None | Some(Err(_)))) {
            self.body = None;
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body
            .as_ref()
            .map_or_else(|| SizeHint::with_exact(0), HttpBody::size_hint)
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some(body) = self.body.take().filter(|body| !body.is_end_stream()) {
            *self.left.lock() = Some(body);
        }
    }
}
