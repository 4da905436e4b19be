//! A certificate authority for one machine, and the gateway's certificate.
//!
//! The authority stays, because people and programs are told to trust it; the server's certificate is issued anew at
//! each start, so that none is ever near its end. The authority vouches for loopback names only: whoever trusts it
//! trusts it with nothing else.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use rcgen::{
    BasicConstraints, CertificateParams, CidrSubnet, DnType, ExtendedKeyUsagePurpose, GeneralSubtree, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, NameConstraints,
};
use time::{Duration, OffsetDateTime};

use super::files;

const AUTHORITY_LIFE: Duration = Duration::days(3_650);
/// What browsers still accept of a certificate.
const SERVER_LIFE: Duration = Duration::days(397);
/// Clocks of a container and its host may differ.
const BACKDATED: Duration = Duration::hours(1);
const NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// Where the certificates are, as PEM.
#[derive(Clone, Debug)]
pub struct Certificates {
    /// The authority a client is told to trust.
    pub ca: PathBuf,
    /// The gateway's certificate.
    pub server: PathBuf,
    /// The gateway's private key.
    pub server_key: PathBuf,
}

impl Certificates {
    /// Where they are, or will be, in a folder.
    pub fn within(dir: &Path) -> Self {
        Self {
            ca: dir.join("ca.pem"),
            server: dir.join("server.pem"),
            server_key: dir.join("server.key"),
        }
    }
}

/// Makes an authority in `dir` unless there is one, and has it issue a certificate for the gateway.
pub fn issue(dir: &Path) -> anyhow::Result<Certificates> {
    let files = Certificates::within(dir);
    let authority_key = dir.join("ca.key");
    if !(files.ca.exists() && authority_key.exists()) {
        let (certificate, key) = authority().context("make a certificate authority")?;
        files::write_private(&authority_key, &key)?;
        files::write(&files.ca, &certificate)?;
    }

    let key = KeyPair::from_pem(&files::read(&authority_key)?)
        .with_context(|| format!("parse {}", authority_key.display()))?;
    let issuer = Issuer::from_ca_cert_pem(&files::read(&files.ca)?, key)
        .with_context(|| format!("parse {}", files.ca.display()))?;
    let (certificate, key) = server(&issuer).context("issue the server's certificate")?;
    files::write_private(&files.server_key, &key)?;
    files::write(&files.server, &certificate)?;
    Ok(files)
}

/// Certificate and key of an authority, as PEM.
fn authority() -> Result<(String, String), rcgen::Error> {
    let mut params = lasting(Vec::new(), AUTHORITY_LIFE)?;
    params
        .distinguished_name
        .push(DnType::CommonName, "MA2H hub, development on this machine");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params.name_constraints = Some(NameConstraints {
        permitted_subtrees: vec![
            GeneralSubtree::DnsName("localhost".into()),
            GeneralSubtree::IpAddress(CidrSubnet::from_addr_prefix(IpAddr::from([127, 0, 0, 1]), 8)),
            GeneralSubtree::IpAddress(CidrSubnet::from_addr_prefix(
                IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1]),
                128,
            )),
        ],
        excluded_subtrees: Vec::new(),
    });
    let key = KeyPair::generate()?;
    Ok((params.self_signed(&key)?.pem(), key.serialize_pem()))
}

/// Certificate and key of the gateway, as PEM.
fn server(issuer: &Issuer<'_, KeyPair>) -> Result<(String, String), rcgen::Error> {
    let names = NAMES.map(String::from).to_vec();
    let mut params = lasting(names, SERVER_LIFE)?;
    params.distinguished_name.push(DnType::CommonName, "MA2H hub");
    params.use_authority_key_identifier_extension = true;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let key = KeyPair::generate()?;
    Ok((params.signed_by(&key, issuer)?.pem(), key.serialize_pem()))
}

fn lasting(names: Vec<String>, life: Duration) -> Result<CertificateParams, rcgen::Error> {
    let now = OffsetDateTime::now_utc();
    let mut params = CertificateParams::new(names)?;
    params.not_before = now - BACKDATED;
    params.not_after = now + life;
    Ok(params)
}
