//! W3C trace context, in and out.

use std::collections::HashMap;

use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::{SpanContext, TraceContextExt};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

/// The name of the header, in HTTP and gRPC alike.
pub(crate) const HEADER: &str = "traceparent";

/// The W3C `traceparent` of the current span, where it has one.
pub fn traceparent() -> Option<String> {
    let context = Span::current().context();
    let span = context.span();
    format_traceparent(span.span_context())
}

/// The trace a span belongs to, as logs name it.
pub fn trace_id(span: &Span) -> Option<String> {
    let context = span.context();
    let trace_id = context.span().span_context().trace_id();
    (trace_id != opentelemetry::TraceId::INVALID).then(|| trace_id.to_string())
}

/// Makes a span the child of a caller's; what is no `traceparent` changes nothing. To be called before the span
/// is entered.
pub fn set_parent(span: &Span, traceparent: &str) {
    let carrier = HashMap::from([(HEADER.to_owned(), traceparent.to_owned())]);
    let context = TraceContextPropagator::new().extract(&carrier);
    if context.span().span_context().is_valid() {
        // Refused for a span that was entered or that nobody records: it then begins a trace of its own.
        let _ = span.set_parent(context);
    }
}

fn format_traceparent(context: &SpanContext) -> Option<String> {
    let (trace_id, span_id) = (context.trace_id(), context.span_id());
    let flags = context.trace_flags().to_u8();
    context
        .is_valid()
        .then(|| format!("00-{trace_id}-{span_id}-{flags:02x}"))
}

#[cfg(test)]
mod tests {
    use tracing::{info_span, subscriber};
    use tracing_subscriber::layer::SubscriberExt;

    use super::super::Guard;
    use super::{set_parent, trace_id, traceparent};
    use crate::config::Config;

    const CALLER: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn a_callers_trace_goes_on_in_ours() {
        let config = Config::load([]).unwrap();
        let guard = Guard::new(&config.telemetry, "test").unwrap();
        let registry = tracing_subscriber::registry().with(guard.layer());
        subscriber::with_default(registry, || {
            let span = info_span!("call");
            set_parent(&span, CALLER);
            assert_eq!(trace_id(&span).unwrap(), &CALLER[3..35]);
            let ours = span
                .in_scope(|| info_span!("inner").in_scope(traceparent))
                .unwrap();
            assert_eq!(ours[..36], CALLER[..36]);
            assert_ne!(ours, CALLER);

            let span = info_span!("call");
            set_parent(&span, "not a traceparent");
            let ours = span.in_scope(traceparent).unwrap();
            assert_ne!(ours[..36], CALLER[..36]);
        });
        assert_eq!(traceparent(), None);
    }
}
