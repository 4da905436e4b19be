//! Each call in a span under its caller's, counted and timed.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use http::{Request, Response};
use tonic::Code;
use tower::{Layer, Service};
use tracing::{Instrument, Span, field, info_span};

use crate::telemetry::{self, HEADER};

/// Wraps the server's services.
#[derive(Clone, Copy, Debug)]
pub(super) struct TraceLayer;

impl<S> Layer<S> for TraceLayer {
    type Service = Trace<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Trace { inner }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Trace<S> {
    inner: S,
}

impl<S, Q, R> Service<Request<Q>> for Trace<S>
where
    S: Service<Request<Q>, Response = Response<R>>,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
    R: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Q>) -> Self::Future {
        let path = request.uri().path().to_owned();
        if path.starts_with("/grpc.health.") {
            return Box::pin(self.inner.call(request));
        }
        let span = span(&path, &request);
        let call = span.in_scope(|| self.inner.call(request));
        let started = Instant::now();
        let timed = async move {
            let outcome = call.await;
            if let Ok(response) = &outcome {
                record(&path, code_of(response), started);
            }
            outcome
        };
        Box::pin(timed.instrument(span))
    }
}

fn span<Q>(path: &str, request: &Request<Q>) -> Span {
    let span = info_span!(
        "grpc",
        otel.name = path,
        otel.kind = "server",
        trace_id = field::Empty
    );
    let caller = request
        .headers()
        .get(HEADER)
        .and_then(|value| value.to_str().ok());
    if let Some(traceparent) = caller {
        telemetry::set_parent(&span, traceparent);
    }
    if let Some(trace_id) = telemetry::trace_id(&span) {
        span.record("trace_id", trace_id);
    }
    span
}

/// An error's code stands in the headers; without one the call went well.
fn code_of<R>(response: &Response<R>) -> Code {
    response
        .headers()
        .get("grpc-status")
        .map_or(Code::Ok, |value| Code::from_bytes(value.as_bytes()))
}

fn record(path: &str, code: Code, started: Instant) {
    let (service, method) = labels(path, code);
    let labels = [
        ("service", service),
        ("method", method),
        ("code", format!("{code:?}")),
    ];
    ::metrics::counter!("hub_grpc_requests_total", &labels).increment(1);
    ::metrics::histogram!("hub_grpc_request_duration_seconds", &labels[..2]).record(started.elapsed());
}

/// Service and method from `/hub.lifecycle.v1.Lifecycle/SubmitMessage`. What nobody serves has no name of its
/// own, so that a caller cannot make up labels.
fn labels(path: &str, code: Code) -> (String, String) {
    let names = path.trim_start_matches('/').split_once('/');
    match names {
        Some((service, method)) if code != Code::Unimplemented => (service.to_owned(), method.to_owned()),
        _ => ("unknown".to_owned(), "unknown".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use tonic::Code;

    use super::labels;

    #[test]
    fn only_what_is_served_becomes_a_label() {
        let path = "/hub.lifecycle.v1.Lifecycle/SubmitMessage";
        let names = |path, code| {
            let (service, method) = labels(path, code);
            format!("{service} {method}")
        };
        assert_eq!(names(path, Code::Ok), "hub.lifecycle.v1.Lifecycle SubmitMessage");
        assert_eq!(names("/made.Up/Name", Code::Unimplemented), "unknown unknown");
        assert_eq!(names("/", Code::Ok), "unknown unknown");
    }
}
