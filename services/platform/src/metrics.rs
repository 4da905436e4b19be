//! Prometheus metrics of this process. Labels are closed sets, never an account, host or id.

use std::net::SocketAddr;
use std::sync::OnceLock;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tokio::net::TcpListener;

use crate::shutdown::Shutdown;

/// Bounds of the buckets of everything measured in seconds.
const SECONDS: [f64; 14] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0,
];
/// Bounds of the buckets of everything counted.
const COUNTS: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 256.0, 1024.0];
/// How often what was observed is folded into buckets, whether or not somebody reads them.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(5);

static HANDLE: OnceLock<PrometheusHandle> = OnceLock::new();

/// Starts collecting, once per process; later calls return the same handle. Histograms whose name ends in
/// `_seconds` get buckets of time, others buckets of counts.
pub fn install() -> PrometheusHandle {
    HANDLE.get_or_init(start).clone()
}

fn start() -> PrometheusHandle {
    let recorder = builder().build_recorder();
    let handle = recorder.handle();
    // Refused where another recorder is in place: that one collects, and ours stays empty.
    let _ = ::metrics::set_global_recorder(recorder);
    let upkeep = handle.clone();
    // A thread and not a task: it outlives the runtime that happened to come first.
    let _ = std::thread::Builder::new()
        .name("metrics".to_owned())
        .spawn(move || {
            loop {
                std::thread::sleep(UPKEEP_INTERVAL);
                upkeep.run_upkeep();
            }
        });
    handle
}

fn builder() -> PrometheusBuilder {
    let seconds = Matcher::Suffix("_seconds".to_owned());
    // Only an empty list of buckets is refused.
    PrometheusBuilder::new()
        .set_buckets(&COUNTS)
        .and_then(|builder| builder.set_buckets_for_metric(seconds, &SECONDS))
        .unwrap_or_default()
}

/// Serves `GET /metrics` until shutdown, and returns where.
pub async fn serve(addr: SocketAddr, shutdown: &Shutdown) -> std::io::Result<SocketAddr> {
    let handle = install();
    let listener = TcpListener::bind(addr).await?;
    let bound = listener.local_addr()?;
    let router = Router::new().route("/metrics", get(move || std::future::ready(handle.render())));
    let until = shutdown.clone();
    shutdown.spawn(async move {
        let server = axum::serve(listener, router);
        let outcome = server
            .with_graceful_shutdown(async move { until.requested().await })
            .await;
        if let Err(error) = outcome {
            tracing::error!(%error, "metrics server failed");
        }
    });
    Ok(bound)
}
