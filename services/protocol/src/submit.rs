//! What a first submit must satisfy that neither the clock nor a row decides.
//!
//! Asked after the idempotency key: a retry recovers its ack whatever has been refused since (§8.1).

mod bounds;

use crate::callback;
use crate::envelope::Envelope;
use crate::error::{ErrorCode, Problem};
use crate::version::PUSH_MINOR_MIN;

/// Checks it.
pub fn check(envelope: &Envelope) -> Result<(), Problem> {
    bounds::check(envelope)?;
    check_push(envelope)?;
    check_route(envelope)?;
    envelope.ask.as_ref().map_or(Ok(()), crate::ask::Ask::check)
}

/// A push must be verifiable by its receiver (§10), and its URL one that can be called (§9.4).
fn check_push(envelope: &Envelope) -> Result<(), Problem> {
    let Some(push) = &envelope.callback else {
        return Ok(());
    };
    if envelope.version.minor() < PUSH_MINOR_MIN {
        let message = "ma2h_version: a push callback needs 0.3 or above, whose signature it carries";
        return Err(Problem::new(ErrorCode::VersionNotSupported, message));
    }
    let block = envelope.kind.block().unwrap_or_default();
    let named = |problem: Problem| Problem::new(problem.code, format!("{block}.{}", problem.message));
    callback::check_url(&push.url).map(|_| ()).map_err(named)
}

/// The inter-agent leg is optional (§8.0), and this hub does not offer it.
fn check_route(envelope: &Envelope) -> Result<(), Problem> {
    if envelope.to.is_some() {
        return Err(Problem::invalid_field("to: addressed messages are not offered"));
    }
    if envelope.session.is_some() {
        return Err(Problem::invalid_field("agent.session: sessions are not offered"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
