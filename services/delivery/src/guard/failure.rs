//! Why a request of ours got no status: a closed set, never the other side's words.

use std::error::Error;
use std::io;

/// Why a request got no status.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Failure {
    /// The URL is not one that may be called: its scheme, or no host in it.
    InvalidUrl,
    /// The name did not resolve.
    Dns,
    /// The host is, or resolves to, an address that may not be called (§9.4).
    RefusedAddress,
    /// No connection came about.
    Connect,
    /// The other side could not prove who it is.
    Tls,
    /// The deadline passed.
    Timeout,
    /// The connection broke, or what came over it was not HTTP.
    Protocol,
}

impl Failure {
    /// As it is kept with the attempt.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::InvalidUrl => "invalid_url",
            Self::Dns => "dns",
            Self::RefusedAddress => "refused_address",
            Self::Connect => "connect",
            Self::Tls => "tls",
            Self::Timeout => "timeout",
            Self::Protocol => "protocol",
        }
    }

    /// Whether another attempt cannot go better: the hub itself refused.
    pub(crate) fn is_refusal(self) -> bool {
        matches!(self, Self::InvalidUrl | Self::RefusedAddress)
    }
}

/// What the resolver answers in place of an address that may not be called.
#[derive(Debug, thiserror::Error)]
#[error("the name resolves to an address that may not be called")]
pub(super) struct RefusedAddress;

impl From<&reqwest::Error> for Failure {
    fn from(error: &reqwest::Error) -> Self {
        if causes(error).any(<dyn Error>::is::<RefusedAddress>) {
            Self::RefusedAddress
        } else if error.is_dns() {
            Self::Dns
        } else if error.is_builder() {
            Self::InvalidUrl
        } else if causes(error).any(is_tls) {
            Self::Tls
        } else if error.is_timeout() {
            Self::Timeout
        } else if error.is_connect() {
            Self::Connect
        } else {
            Self::Protocol
        }
    }
}

fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&cause| cause.source())
}

/// The standard library's I/O error does not name what it wraps as its source, and may wrap another.
fn is_tls(cause: &(dyn Error + 'static)) -> bool {
    let wrapped = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    cause.is::<rustls::Error>() || wrapped.is_some_and(|inner| is_tls(inner))
}
