//! What the worker counts. Every label has a closed set of values.

use std::time::Duration;

use metrics::{Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};

use hub_proto::lifecycle::PushKind;

use super::outcome::{Fault, Outcome};
use crate::guard::AddressClass;

const ATTEMPTS: &str = "hub_push_attempts_total";
const ATTEMPT_SECONDS: &str = "hub_push_attempt_seconds";
const IN_FLIGHT: &str = "hub_push_attempts_in_flight";
const ADDRESSES: &str = "hub_push_addresses_total";
const UNSETTLED: &str = "hub_push_outcomes_unsettled_total";

/// Says what each of them is.
pub(super) fn describe() {
    describe_counter!(
        ATTEMPTS,
        "pushes taken in hand, by what is pushed, outcome and kind of failure"
    );
    describe_histogram!(
        ATTEMPT_SECONDS,
        Unit::Seconds,
        "time from the call to its answer, by outcome"
    );
    describe_gauge!(IN_FLIGHT, "calls that have not been answered yet");
    describe_counter!(
        ADDRESSES,
        "calls, by the class of the address that was connected to, or refused"
    );
    describe_counter!(
        UNSETTLED,
        "outcomes that could not be recorded before their claim ran out"
    );
}

/// Counts what became of a push that was taken in hand.
pub(super) fn record(kind: PushKind, outcome: Outcome) {
    let kind = match kind {
        PushKind::Response => "response",
        PushKind::Directive => "directive",
        PushKind::Ack => "ack",
    };
    let error = outcome.fault().map_or("none", Fault::as_str);
    counter!(ATTEMPTS, "kind" => kind, "outcome" => outcome.label(), "error" => error).increment(1);
}

/// Records how long a call took.
pub(super) fn record_duration(outcome: Outcome, took: Duration) {
    histogram!(ATTEMPT_SECONDS, "outcome" => outcome.label()).record(took.as_secs_f64());
}

/// Counts a call by what kind of place it came to.
pub(super) fn record_address(class: Option<AddressClass>) {
    let class = class.map_or("none", AddressClass::as_str);
    counter!(ADDRESSES, "class" => class).increment(1);
}

/// Counts outcomes that were lost; their pushes are tried again.
pub(super) fn record_unsettled(count: usize) {
    counter!(UNSETTLED).increment(count as u64);
}

/// Counts a call as in flight until dropped.
pub(super) struct InFlight;

impl InFlight {
    pub(super) fn enter() -> Self {
        gauge!(IN_FLIGHT).increment(1);
        Self
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        gauge!(IN_FLIGHT).decrement(1);
    }
}
