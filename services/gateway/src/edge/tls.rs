//! TLS: 1.2 and newer, HTTP/2 and HTTP/1.1.

use std::path::Path;
use std::sync::Arc;

use axum_server::tls_rustls::RustlsConfig;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::Error;

/// What is offered, best first.
const ALPN: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// The server's side of TLS from a certificate chain and its key, both PEM files.
pub(super) fn load(cert_file: &Path, key_file: &Path) -> Result<RustlsConfig, Error> {
    let chain = CertificateDer::pem_file_iter(cert_file)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| unusable(cert_file, &error))?;
    if chain.is_empty() {
        return Err(unusable(cert_file, &"no certificate in it"));
    }
    let key = PrivateKeyDer::from_pem_file(key_file).map_err(|error| unusable(key_file, &error))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])
        .map_err(|error| unusable(key_file, &error))?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|error| unusable(key_file, &error))?;
    config.alpn_protocols = ALPN.iter().map(|protocol| protocol.to_vec()).collect();
    Ok(RustlsConfig::from_config(Arc::new(config)))
}

fn unusable(file: &Path, reason: &dyn std::fmt::Display) -> Error {
    Error::Tls {
        file: file.to_owned(),
        reason: reason.to_string(),
    }
}
