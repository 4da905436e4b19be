//! Logs and traces: one subscriber for the process, W3C trace context through every hop.

mod context;
mod export;
mod logs;

pub(crate) use context::HEADER;
pub use context::{set_parent, trace_id, traceparent};
pub use export::Guard;

use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::config;

/// What keeps telemetry from starting.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The log filter cannot be read.
    #[error("HUB_LOG: {0}")]
    Filter(String),
    /// Traces cannot be exported.
    #[error("HUB_OTLP_ENDPOINT: {0}")]
    Exporter(String),
}

/// Starts logs and traces for this process; a second call, as in tests, leaves the first in place. With an
/// OTLP endpoint it must be called inside the runtime.
pub fn init(config: &config::Telemetry, service_name: &'static str) -> Result<Guard, Error> {
    let guard = Guard::new(config, service_name)?;
    let logs = logs::layer(config)?;
    // Refused where a subscriber is in place already: that one stays.
    let _ = tracing_subscriber::registry()
        .with(guard.layer())
        .with(logs)
        .try_init();
    Ok(guard)
}
