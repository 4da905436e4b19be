//! Ports on loopback.

use std::net::{Ipv4Addr, TcpListener};

/// A port on loopback that is free now. Somebody else may take it first: who starts a server on it tries again.
pub fn free_port() -> std::io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
}
