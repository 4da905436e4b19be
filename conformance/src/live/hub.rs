//! The hub under proof, as a stranger finds it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use reqwest::Certificate;
use serde_json::Value;

use super::fault::{Fault, Liar};

/// A call that takes longer is a failure; the longest wait that may be asked for is a minute.
const CALL_TIMEOUT: Duration = Duration::from_secs(75);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Where the hub is, how to speak with it, and what it says of itself.
pub(crate) struct Hub {
    pub(crate) base_url: String,
    pub(crate) http: reqwest::Client,
    /// Read once, before the first check.
    pub(crate) capability: Value,
    /// What stands between the hub and the checks, when those are what is tried.
    pub(crate) liar: Option<Arc<Liar>>,
    /// The description that a hub for development writes.
    pub(crate) description: Option<PathBuf>,
    /// The address at which the hub reaches this machine.
    pub(crate) callback_address: std::net::IpAddr,
}

/// How to reach a hub.
pub(crate) struct Reach {
    pub(crate) base_url: String,
    pub(crate) ca_file: Option<PathBuf>,
    pub(crate) description: Option<PathBuf>,
    pub(crate) callback_address: std::net::IpAddr,
}

impl Hub {
    /// Asks the hub what it is.
    pub(crate) async fn meet(reach: Reach) -> anyhow::Result<Arc<Hub>> {
        let http = client(reach.ca_file.as_deref())?;
        let base_url = reach.base_url.trim_end_matches('/').to_owned();
        anyhow::ensure!(base_url.starts_with("https://"), "{base_url}: a hub speaks HTTPS");
        let url = format!("{base_url}/.well-known/ma2h");
        let asked = async { http.get(&url).send().await?.error_for_status()?.text().await };
        let text = asked.await.with_context(|| format!("read {url}"))?;
        let capability = serde_json::from_str(&text).with_context(|| format!("parse {url}"))?;
        Ok(Arc::new(Hub {
            base_url,
            http,
            capability,
            liar: None,
            description: reach.description,
            callback_address: reach.callback_address,
        }))
    }

    /// The same hub behind a fault.
    pub(crate) fn behind(&self, fault: &'static Fault) -> Arc<Hub> {
        Arc::new(Hub {
            base_url: self.base_url.clone(),
            http: self.http.clone(),
            capability: self.capability.clone(),
            liar: Some(Arc::new(Liar::new(fault))),
            description: self.description.clone(),
            callback_address: self.callback_address,
        })
    }

    /// How often the fault before it showed.
    pub(crate) fn lies(&self) -> usize {
        self.liar.as_ref().map_or(0, |liar| liar.lies())
    }

    /// A number that the capability document states.
    pub(crate) fn states(&self, pointer: &str) -> Option<u64> {
        self.capability.pointer(pointer).and_then(Value::as_u64)
    }

    /// The replay window it advertises, or the protocol's.
    pub(crate) fn replay_window_seconds(&self) -> i64 {
        let stated = self.capability["replay_window_seconds"].as_i64();
        stated.unwrap_or(120)
    }
}

/// A client that trusts a given authority, or those of this machine, and follows nothing.
fn client(ca_file: Option<&std::path::Path>) -> anyhow::Result<reqwest::Client> {
    // Another may have been installed; the first stays.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = reqwest::Client::builder()
        .timeout(CALL_TIMEOUT)
        .connect_timeout(CONNECT_TIMEOUT)
        .redirect(reqwest::redirect::Policy::none())
        .https_only(true)
        .no_proxy();
    if let Some(path) = ca_file {
        let pem = std::fs::read(path).with_context(|| format!("read {}", path.display()))?;
        let authority = Certificate::from_pem(&pem).with_context(|| format!("parse {}", path.display()))?;
        builder = builder.tls_certs_only([authority]);
    }
    builder.build().context("set up HTTPS")
}
