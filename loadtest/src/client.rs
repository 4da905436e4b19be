//! The calls a scenario makes, over HTTPS as any agent or human would.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use reqwest::{Certificate, ClientBuilder, Method};
use serde_json::Value;

const CALL_TIMEOUT: Duration = Duration::from_secs(30);

pub(crate) struct Client {
    http: reqwest::Client,
    base_urls: Vec<String>,
    turn: AtomicUsize,
}

impl Client {
    pub(crate) fn new(base_urls: Vec<String>, ca_cert: &Path) -> anyhow::Result<Self> {
        Self::build(base_urls, ca_cert, CALL_TIMEOUT, |builder| builder)
    }

    /// One that makes all its calls over one connection, with HTTP/2.
    pub(crate) fn of_one_connection(
        base_urls: Vec<String>,
        ca_cert: &Path,
        timeout: Duration,
    ) -> anyhow::Result<Self> {
        Self::build(base_urls, ca_cert, timeout, ClientBuilder::http2_prior_knowledge)
    }

    fn build(
        base_urls: Vec<String>,
        ca_cert: &Path,
        timeout: Duration,
        change: impl FnOnce(ClientBuilder) -> ClientBuilder,
    ) -> anyhow::Result<Self> {
        let pem = std::fs::read(ca_cert).with_context(|| format!("read {}", ca_cert.display()))?;
        let builder = reqwest::Client::builder()
            .tls_certs_only([Certificate::from_pem(&pem)?])
            .no_proxy()
            .timeout(timeout);
        Ok(Self {
            http: change(builder).build()?,
            base_urls,
            turn: AtomicUsize::new(0),
        })
    }

    /// Makes one call on the next gateway in turn, and fails on any answer but a 2xx.
    pub(crate) async fn call(
        &self,
        token: &str,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> anyhow::Result<Value> {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed) % self.base_urls.len();
        let mut request = self
            .http
            .request(method.clone(), format!("{}{path}", self.base_urls[turn]))
            .bearer_auth(token);
        if let Some(body) = body {
            request = request
                .header("content-type", "application/json")
                .body(body.to_string());
        }
        let answer = request.send().await.with_context(|| format!("{method} {path}"))?;
        let status = answer.status();
        let text = answer
            .text()
            .await
            .with_context(|| format!("{method} {path}: read the answer"))?;
        anyhow::ensure!(status.is_success(), "{method} {path}: {status}: {text}");
        if text.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_str(&text).with_context(|| format!("{method} {path}: parse the answer"))
    }
}
