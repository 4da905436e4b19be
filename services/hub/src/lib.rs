//! The hub's one program: any tier by role, all of them in one process, and what goes with running them.

pub mod admin;
pub mod all;
pub mod cli;
pub mod dev;
pub mod keys;
pub mod migrate;
pub mod role;
pub mod tiers;

/// Has TLS done by *ring*, in every client and server of this process; doing it twice is no harm.
pub fn install_tls_provider() {
    rustls::crypto::ring::default_provider().install_default().ok();
}
