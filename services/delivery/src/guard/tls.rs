//! Whom the hub believes when it calls out: the machine's authorities, and those that configuration adds.

use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, RootCertStore};

use super::Error;

/// A TLS 1.2+ client that trusts the machine's authorities and those of `extra_ca_file`.
pub(super) fn client_config(extra_ca_file: Option<&Path>) -> Result<ClientConfig, Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut tls = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13, &TLS12])?
        .with_root_certificates(authorities(extra_ca_file)?)
        .with_no_client_auth();
    tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(tls)
}

fn authorities(extra_ca_file: Option<&Path>) -> Result<RootCertStore, Error> {
    let mut authorities = RootCertStore::empty();
    let (known, ignored) =
        authorities.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if let Some(path) = extra_ca_file {
        for certificate in CertificateDer::pem_file_iter(path)? {
            authorities.add(certificate?)?;
        }
    }
    // A machine without authorities still delivers to what the extra file vouches for, or over http in
    // development; every other callback fails its handshake.
    if authorities.is_empty() {
        tracing::warn!("no certificate authority is known, no https callback can be delivered");
    }
    tracing::debug!(
        known,
        ignored,
        total = authorities.len(),
        "certificate authorities loaded"
    );
    Ok(authorities)
}
