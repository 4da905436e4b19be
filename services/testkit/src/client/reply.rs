//! What a hub answered.

use http::{HeaderMap, StatusCode};
use serde_json::Value;

use crate::contract::Exchange;

/// A whole answer.
#[derive(Clone, Debug)]
pub struct Reply {
    /// Its status.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body, as sent.
    pub text: String,
}

impl Reply {
    /// Sends the request and reads the whole answer; a call that finds no answer fails the test.
    pub async fn of(request: reqwest::RequestBuilder) -> Self {
        Self::try_of(request)
            .await
            .unwrap_or_else(|error| panic!("no answer: {error:?}"))
    }

    /// Sends the request and reads the whole answer: for calls on a hub that is being killed. What was answered must be as
    /// the hub's own description has it.
    pub async fn try_of(request: reqwest::RequestBuilder) -> reqwest::Result<Self> {
        let (client, request) = request.build_split();
        let request = request?;
        let (method, path) = (request.method().clone(), request.url().path().to_owned());
        let body = request
            .body()
            .and_then(reqwest::Body::as_bytes)
            .map(<[u8]>::to_vec);
        let answer = client.execute(request).await?;
        let (status, headers) = (answer.status(), answer.headers().clone());
        let text = answer.text().await?;
        let exchange = Exchange {
            method: &method,
            path: &path,
            request: body.as_deref(),
            status,
            answer: &text,
        };
        exchange.check();
        Ok(Self {
            status,
            headers,
            text,
        })
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text)
            .unwrap_or_else(|error| panic!("{}: no JSON ({error}): {}", self.status, self.text))
    }

    /// The body, after making sure of the status.
    #[track_caller]
    pub fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status.as_u16(), status, "{}", self.text);
        if self.text.is_empty() {
            Value::Null
        } else {
            self.json()
        }
    }

    /// Makes sure of the status and the code of an error; returns its message.
    #[track_caller]
    pub fn expect_error(&self, status: u16, code: &str) -> String {
        let body = self.expect(status);
        assert_eq!(body["error"]["code"], code, "{}", self.text);
        body["error"]["message"].as_str().unwrap_or_default().to_owned()
    }

    /// A header's value, if it is there and is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// A text member at the top of the body.
    #[track_caller]
    pub fn text_at(&self, member: &str) -> String {
        let body = self.json();
        body[member]
            .as_str()
            .unwrap_or_else(|| panic!("no {member} in {}", self.text))
            .to_owned()
    }
}
