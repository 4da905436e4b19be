//! Serving gRPC.

use std::time::Duration;

use tokio::net::TcpListener;
use tonic::service::Routes;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic_health::ServingStatus;

use super::Error;
use super::trace::TraceLayer;
use crate::health::Readiness;
use crate::shutdown::Shutdown;

/// Calls of one connection at a time.
const STREAMS_MAX: u32 = 1024;
/// How often a connection is asked whether it still lives, and how long it may take to say so.
const KEEPALIVE: Duration = Duration::from_secs(10);

/// Serves the routes and the health service until shutdown, then finishes the calls in hand.
pub async fn serve(
    listener: TcpListener,
    routes: Routes,
    readiness: Readiness,
    shutdown: Shutdown,
) -> Result<(), Error> {
    let (reporter, health) = tonic_health::server::health_reporter();
    let report = tokio::spawn(report(reporter, readiness, shutdown.clone()));
    let outcome = Server::builder()
        .layer(TraceLayer)
        .max_concurrent_streams(STREAMS_MAX)
        .http2_keepalive_interval(Some(KEEPALIVE))
        .http2_keepalive_timeout(Some(KEEPALIVE))
        .add_routes(routes.add_service(health))
        .serve_with_incoming_shutdown(TcpIncoming::from(listener).with_nodelay(Some(true)), async move {
            shutdown.requested().await;
        })
        .await;
    report.abort();
    Ok(outcome?)
}

/// Answers the health service from the readiness, and `NOT_SERVING` from the signal to stop on.
async fn report(reporter: tonic_health::server::HealthReporter, readiness: Readiness, shutdown: Shutdown) {
    let mut changes = readiness.subscribe();
    loop {
        let is_ready = *changes.borrow_and_update() && !shutdown.is_triggered();
        let status = if is_ready {
            ServingStatus::Serving
        } else {
            ServingStatus::NotServing
        };
        reporter.set_service_status("", status).await;
        if shutdown.is_triggered() {
            return;
        }
        tokio::select! {
            outcome = changes.changed() => if outcome.is_err() { return },
            () = shutdown.requested() => {}
        }
    }
}
