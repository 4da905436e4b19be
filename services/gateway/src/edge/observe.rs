//! A request's span, its metrics, its id.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::Response;
use hub_platform::telemetry;
use tracing::{Instrument, Span, field::Empty};

use super::call::Call;
use super::connection::Connection;
use super::{headers, request_id};
use crate::app::App;

/// The label of what matched no route.
const UNMATCHED: &str = "unmatched";

/// The outermost layer: nothing is answered that it has not seen.
pub(super) async fn observe(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let started = Instant::now();
    let connection = request.extensions_mut().remove::<Connection>();
    let call = Call::new(connection, request.headers(), &app.config.gateway.trusted_proxies);
    let request_id = request_id::choose(request.headers());
    let method = method_label(request.method());
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map_or_else(|| UNMATCHED.to_owned(), |matched| matched.as_str().to_owned());
    let span = tracing::info_span!(
        "http request",
        otel.kind = "server",
        http.method = method,
        http.route = route,
        request_id = request_id.to_str().unwrap_or_default(),
        http.status = Empty,
        client.address = %call.address(),
    );
    if let Some(parent) = request
        .headers()
        .get("traceparent")
        .and_then(|value| value.to_str().ok())
    {
        telemetry::set_parent(&span, parent);
    }
    request.extensions_mut().insert(call);
    let mut response = next.run(request).instrument(span.clone()).await;
    record(&span, &route, method, &response, started);
    headers::finish(response.headers_mut(), app.config.security.development);
    response.headers_mut().insert(&request_id::REQUEST_ID, request_id);
    response
}

fn record(span: &Span, route: &str, method: &'static str, response: &Response, started: Instant) {
    let status = response.status().as_u16();
    let elapsed = started.elapsed();
    span.record("http.status", status);
    let class = status_class(status);
    metrics::counter!(
        "hub_http_requests_total", "route" => route.to_owned(), "method" => method, "status_class" => class
    )
    .increment(1);
    metrics::histogram!("hub_http_request_duration_seconds", "route" => route.to_owned(), "method" => method)
        .record(elapsed.as_secs_f64());
    let duration_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
    tracing::debug!(parent: span, status, duration_ms, "answered");
}

/// A closed set, whatever a client sends.
fn method_label(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        _ => "other",
    }
}

fn status_class(status: u16) -> &'static str {
    match status {
        100..=199 => "1xx",
        200..=299 => "2xx",
        300..=399 => "3xx",
        400..=499 => "4xx",
        _ => "5xx",
    }
}
