//! Loopback ports for a development hub.

use std::net::{Ipv4Addr, TcpListener};

use rand::RngExt as _;

/// Below the range from which kernels take source ports. From inside it, a client that keeps trying to reach a
/// restarting server would one day be given the server's own port, connect to itself, and keep the server out.
const RANGE: std::ops::Range<u16> = 20_000..32_000;
const TRIES: u32 = 1_000;

/// A loopback port that nobody listens on and that is none of `taken`.
pub fn free(taken: &[u16]) -> anyhow::Result<u16> {
    for _ in 0..TRIES {
        let port = rand::rng().random_range(RANGE);
        if !taken.contains(&port) && is_free(port) {
            return Ok(port);
        }
    }
    anyhow::bail!(
        "found no free loopback port from {} to {}",
        RANGE.start,
        RANGE.end
    )
}

/// Whether a server could listen there now.
pub fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}
