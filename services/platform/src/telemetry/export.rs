//! Traces over OTLP. Without an endpoint spans still get their ids, so that context passes through.

use std::time::Duration;

use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::{Level, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::registry::LookupSpan;

use super::Error;
use crate::config;

/// How long the end of the process waits for the last traces.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(2);

/// Sends the last traces when dropped.
#[derive(Debug)]
pub struct Guard {
    provider: SdkTracerProvider,
}

impl Guard {
    pub(super) fn new(config: &config::Telemetry, service_name: &'static str) -> Result<Self, Error> {
        let resource = Resource::builder().with_service_name(service_name).build();
        let builder = SdkTracerProvider::builder().with_resource(resource);
        let provider = match &config.otlp_endpoint {
            None => builder.build(),
            Some(endpoint) => {
                let exporter = SpanExporter::builder()
                    .with_tonic()
                    .with_endpoint(endpoint)
                    .build();
                let exporter = exporter.map_err(|error| Error::Exporter(error.to_string()))?;
                builder.with_batch_exporter(exporter).build()
            }
        };
        Ok(Self { provider })
    }

    /// Spans of level info become traces, whatever the log shows; events stay in the log.
    pub(super) fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: Subscriber + for<'span> LookupSpan<'span>,
    {
        let is_traced = |metadata: &Metadata<'_>| metadata.is_span() && *metadata.level() <= Level::INFO;
        tracing_opentelemetry::layer()
            .with_tracer(self.provider.tracer("hub"))
            .with_location(false)
            .with_threads(false)
            .with_filter(filter_fn(is_traced))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // A collector that is away must not keep the process from ending.
        let _ = self.provider.shutdown_with_timeout(FLUSH_TIMEOUT);
    }
}
