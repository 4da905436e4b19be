//! Log lines on standard error.

use std::io::IsTerminal;

use tracing::Subscriber;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::EnvFilter;
use tracing_subscriber::registry::LookupSpan;

use super::Error;
use crate::config::{self, LogFormat};

/// A client library that reports each attempt to reconnect; the platform reports the outcome.
const NOISY: &str = "async_nats=warn";

type BoxedLayer<S> = Box<dyn Layer<S> + Send + Sync>;

pub(super) fn layer<S>(config: &config::Telemetry) -> Result<BoxedLayer<S>, Error>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    let filter = EnvFilter::try_new(directives(&config.log_filter));
    let filter = filter.map_err(|error| Error::Filter(error.to_string()))?;
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    // Colours are for eyes: a file gets none.
    let lines = lines.with_ansi(std::io::stderr().is_terminal());
    Ok(match config.log_format {
        LogFormat::Json => lines
            .json()
            .flatten_event(true)
            .with_current_span(false)
            .with_filter(filter)
            .boxed(),
        LogFormat::Text => lines.with_filter(filter).boxed(),
    })
}

/// The operator's directives, with the noisy library held back unless they speak of it.
fn directives(filter: &str) -> String {
    if filter.contains("async_nats") {
        filter.to_owned()
    } else {
        format!("{NOISY},{filter}")
    }
}

#[cfg(test)]
mod tests {
    use super::directives;

    #[test]
    fn the_noisy_library_is_held_back_unless_asked_for() {
        assert_eq!(directives("info"), "async_nats=warn,info");
        assert_eq!(directives("info,async_nats=debug"), "info,async_nats=debug");
    }
}
