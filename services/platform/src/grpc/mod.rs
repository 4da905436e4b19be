//! gRPC between the tiers.

mod call;
mod channel;
mod roster;
mod server;
mod status;
#[cfg(test)]
mod tests;
mod trace;

pub use call::call;
pub use channel::{TraceContext, TracedChannel, channel};
pub use server::serve;
pub use status::{problem_to_status, status_to_problem};

use crate::config;

/// What a message between tiers may hold beside envelopes; also where a batch stops (rule 15).
const SLACK_BYTES: usize = 4 * 1024 * 1024;

/// What is wrong with a peer's address or with serving.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A setting that names no peer.
    #[error("no peer is configured: expected a comma list of URLs")]
    NoPeer,
    /// A setting that names more than anyone runs.
    #[error("more than {max} peers are configured")]
    TooManyPeers {
        /// How many can be.
        max: usize,
    },
    /// A peer's URL that cannot be read.
    #[error("{url} is not the URL of a peer")]
    PeerUrl {
        /// The URL.
        url: String,
    },
    /// The server failed.
    #[error("grpc server: {0}")]
    Server(#[from] tonic::transport::Error),
}

/// The largest message between tiers, for `max_decoding_message_size` and `max_encoding_message_size` of
/// services and clients: an envelope with a Response that repeats its `state`, and what surrounds them.
pub fn message_bytes_max(limits: &config::Limits) -> usize {
    2 * limits.max_envelope_bytes + SLACK_BYTES
}
