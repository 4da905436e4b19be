//! Logs and traces.

use super::LogFormat;
use super::section::section;

section! {
    /// Logs and traces.
    Telemetry in "telemetry" {
        /// How log lines are written.
        log_format: LogFormat = "HUB_LOG_FORMAT", "json", "json or text";
        /// What is logged: a level, or directives such as `info,hub_delivery=debug`.
        log_filter: String = "HUB_LOG", "info", "directives";
        /// Where traces go over OTLP gRPC; nowhere where unset.
        otlp_endpoint: Option<String> = "HUB_OTLP_ENDPOINT", "", "URL";
    }
}
