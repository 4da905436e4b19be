//! Calls on the hub's own HTTPS API.

use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Certificate, Method, StatusCode};
use serde_json::Value;

const CALL_TIMEOUT: Duration = Duration::from_secs(30);

/// A caller with one credential.
pub(crate) struct Client {
    http: reqwest::Client,
    base_url: String,
    token: String,
}

/// What the hub said.
pub(crate) struct Answer {
    pub status: StatusCode,
    pub body: String,
}

impl Client {
    /// Of a hub's base URL, an authority to trust, and a token.
    #[expect(
        clippy::disallowed_methods,
        reason = "the command line calls the hub, it is not the hub"
    )]
    pub(crate) fn new(base_url: &str, ca_file: Option<&Path>, token: &str) -> anyhow::Result<Self> {
        let mut http = reqwest::Client::builder().timeout(CALL_TIMEOUT).no_proxy();
        if let Some(path) = ca_file {
            let pem = std::fs::read(path).with_context(|| format!("read {}", path.display()))?;
            let authority =
                Certificate::from_pem(&pem).with_context(|| format!("parse {}", path.display()))?;
            http = http.tls_certs_only([authority]);
        }
        let http = http.build().context("set up HTTPS")?;
        Ok(Self {
            http,
            base_url: base_url.trim_end_matches('/').to_owned(),
            token: token.to_owned(),
        })
    }

    /// The same hub with another credential.
    pub(crate) fn with_token(&self, token: &str) -> Self {
        Self {
            http: self.http.clone(),
            base_url: self.base_url.clone(),
            token: token.to_owned(),
        }
    }

    pub(crate) async fn get(&self, path: &str) -> anyhow::Result<Answer> {
        self.call(Method::GET, path, None).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> anyhow::Result<Answer> {
        self.call(Method::POST, path, Some(body)).await
    }

    pub(crate) async fn put(&self, path: &str, body: &Value) -> anyhow::Result<Answer> {
        self.call(Method::PUT, path, Some(body)).await
    }

    async fn call(&self, method: Method, path: &str, body: Option<&Value>) -> anyhow::Result<Answer> {
        let url = format!("{}{path}", self.base_url);
        let mut request = self.http.request(method.clone(), &url).bearer_auth(&self.token);
        if let Some(body) = body {
            request = request
                .header(CONTENT_TYPE, "application/json")
                .body(body.to_string());
        }
        let called = async {
            let answer = request.send().await?;
            let status = answer.status();
            Ok::<_, reqwest::Error>(Answer {
                status,
                body: answer.text().await?,
            })
        };
        called.await.with_context(|| format!("{method} {url}"))
    }
}

impl Answer {
    /// The body of a success; anything else is an error with what the hub said.
    pub(crate) fn created(&self) -> anyhow::Result<Value> {
        let body: Value = serde_json::from_str(&self.body).unwrap_or(Value::Null);
        if self.status.is_success() {
            return Ok(body);
        }
        let said = body["error"]["message"].as_str().unwrap_or("no reason given");
        anyhow::bail!("the hub refused: {} ({said})", self.status.as_u16())
    }

    /// A success, or that the thing is there already.
    pub(crate) fn exists(&self) -> anyhow::Result<()> {
        if self.status == StatusCode::CONFLICT {
            return Ok(());
        }
        self.created().map(drop)
    }
}

/// An id as one segment of a path.
pub fn segment(id: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    id.bytes()
        .map(|byte| {
            if plain(byte) {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::segment;

    #[test]
    fn an_id_stays_one_segment() {
        assert_eq!(segment("demo/agent#1 ü"), "demo%2Fagent%231%20%C3%BC");
    }
}
