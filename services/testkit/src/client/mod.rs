//! Typed clients of a hub under test: what its users can do, over HTTPS as they would.

mod account;
mod agent;
mod human;
mod reply;

use http::Method;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use serde_json::Value;

pub use account::Account;
pub use agent::Agent;
pub use human::Human;
pub use ma2h_hub::admin::segment;
pub use reply::Reply;

/// Makes calls with one credential, or none, on one gateway.
#[derive(Clone)]
pub struct Api {
    http: reqwest::Client,
    base_url: String,
    token: Option<String>,
}

impl Api {
    /// Calls with this credential.
    pub fn new(http: reqwest::Client, base_url: impl Into<String>, token: Option<String>) -> Self {
        Self {
            http,
            base_url: base_url.into(),
            token,
        }
    }

    /// The same credential on another gateway.
    #[must_use]
    pub fn at(&self, base_url: &str) -> Self {
        Self {
            base_url: base_url.to_owned(),
            ..self.clone()
        }
    }

    /// The same gateway with another credential.
    #[must_use]
    pub fn with_token(&self, token: &str) -> Self {
        Self {
            token: Some(token.to_owned()),
            ..self.clone()
        }
    }

    /// The credential, if it has one.
    pub fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// Where it calls.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// A request that a test can add to before it is sent.
    pub fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.base_url));
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    /// GET.
    pub async fn get(&self, path: &str) -> Reply {
        Reply::of(self.request(Method::GET, path)).await
    }

    /// POST of JSON.
    pub async fn post(&self, path: &str, body: &Value) -> Reply {
        self.send_text(Method::POST, path, body.to_string()).await
    }

    /// PUT of JSON.
    pub async fn put(&self, path: &str, body: &Value) -> Reply {
        self.send_text(Method::PUT, path, body.to_string()).await
    }

    /// PATCH of JSON.
    pub async fn patch(&self, path: &str, body: &Value) -> Reply {
        self.send_text(Method::PATCH, path, body.to_string()).await
    }

    /// DELETE.
    pub async fn delete(&self, path: &str) -> Reply {
        Reply::of(self.request(Method::DELETE, path)).await
    }

    /// A body exactly as given, said to be JSON.
    pub async fn send_text(&self, method: Method, path: &str, body: impl Into<String>) -> Reply {
        let request = self
            .request(method, path)
            .header(CONTENT_TYPE, "application/json");
        Reply::of(request.body(body.into())).await
    }

    /// A GET with headers of one's own.
    pub async fn get_with(&self, path: &str, headers: HeaderMap) -> Reply {
        Reply::of(self.request(Method::GET, path).headers(headers)).await
    }
}
