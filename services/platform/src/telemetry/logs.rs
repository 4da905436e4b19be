//! Log lines on standard error.

use std::io::IsTerminal;

use tracing::{Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{EnvFilter, FilterExt, filter_fn};
use tracing_subscriber::registry::LookupSpan;

use super::Error;
use crate::config::{self, LogFormat};

/// A client library that reports each attempt to reconnect; the platform reports the outcome.
const NOISY: &str = "async_nats=warn";

/// How the names of our own crates begin.
const OURS: [&str; 2] = ["hub_", "ma2h"];

type BoxedLayer<S> = Box<dyn Layer<S> + Send + Sync>;

pub(super) fn layer<S>(config: &config::Telemetry) -> Result<BoxedLayer<S>, Error>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    let filter = EnvFilter::try_new(directives(&config.log_filter));
    let filter = filter.map_err(|error| Error::Filter(error.to_string()))?;
    let filter = filter.and(filter_fn(|line| may_show(*line.level(), line.target())));
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

/// Below info a library quotes what passes through it, such as the values of a statement: those lines are never written,
/// whatever the operator's directives say (§9.6).
fn may_show(level: Level, target: &str) -> bool {
    level <= Level::INFO || OURS.iter().any(|ours| target.starts_with(ours))
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
    use tracing::Level;

    use super::{directives, may_show};

    #[test]
    fn below_info_only_our_own_crates_speak() {
        let cases = [
            (Level::DEBUG, "hub_lifecycle::submit", true),
            (Level::TRACE, "ma2h_hub", true),
            (Level::INFO, "tokio_postgres", true),
            (Level::DEBUG, "tokio_postgres::query", false),
            (Level::TRACE, "h2::codec", false),
        ];
        for (level, target, shown) in cases {
            assert_eq!(may_show(level, target), shown, "{target} at {level}");
        }
    }

    #[test]
    fn the_noisy_library_is_held_back_unless_asked_for() {
        assert_eq!(directives("info"), "async_nats=warn,info");
        assert_eq!(directives("info,async_nats=debug"), "info,async_nats=debug");
    }
}
