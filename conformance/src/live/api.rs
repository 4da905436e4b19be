//! Calls on a hub, and its answers.

use std::fmt::Write as _;
use std::sync::Arc;

use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use serde_json::{Value, json};

use super::hub::Hub;
use super::verdict::{Proof, Tried, Verdict, equal, failed, holds, text};

/// A caller with one credential, or with none.
#[derive(Clone)]
pub(crate) struct Api {
    pub(crate) hub: Arc<Hub>,
    token: Option<String>,
}

/// One request.
pub(crate) struct Call {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Option<String>,
}

/// What came back.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Reply {
    /// Of the request, for what is told of a failure.
    pub(crate) asked: String,
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Call {
    pub(crate) fn new(method: Method, path: impl Into<String>) -> Self {
        Self {
            method,
            path: path.into(),
            headers: Vec::new(),
            body: None,
        }
    }

    /// With a header.
    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// With JSON text, byte for byte.
    pub(crate) fn json(mut self, body: impl Into<String>) -> Self {
        self.body = Some(body.into());
        self.header(CONTENT_TYPE.as_str(), "application/json")
    }
}

impl Api {
    /// A caller without a credential.
    pub(crate) fn anonymous(hub: &Arc<Hub>) -> Self {
        Self {
            hub: Arc::clone(hub),
            token: None,
        }
    }

    /// A caller with a credential.
    pub(crate) fn with_token(hub: &Arc<Hub>, token: &str) -> Self {
        Self {
            hub: Arc::clone(hub),
            token: Some(token.to_owned()),
        }
    }

    pub(crate) fn token(&self) -> &str {
        self.token.as_deref().unwrap_or_default()
    }

    pub(crate) async fn get(&self, path: &str) -> Tried<Reply> {
        self.send(Call::new(Method::GET, path)).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Tried<Reply> {
        self.send(Call::new(Method::DELETE, path)).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Tried<Reply> {
        self.post_text(path, body.to_string()).await
    }

    pub(crate) async fn post_text(&self, path: &str, body: impl Into<String>) -> Tried<Reply> {
        self.send(Call::new(Method::POST, path).json(body)).await
    }

    pub(crate) async fn put(&self, path: &str, body: &Value) -> Tried<Reply> {
        self.send(Call::new(Method::PUT, path).json(body.to_string()))
            .await
    }

    pub(crate) async fn patch(&self, path: &str, body: &Value) -> Tried<Reply> {
        self.send(Call::new(Method::PATCH, path).json(body.to_string()))
            .await
    }

    pub(crate) async fn send(&self, call: Call) -> Tried<Reply> {
        let url = format!("{}{}", self.hub.base_url, call.path);
        let mut request = self.hub.http.request(call.method.clone(), url);
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        for (name, value) in &call.headers {
            request = request.header(*name, value);
        }
        if let Some(body) = &call.body {
            request = request.body(body.clone());
        }
        let answer = request.send().await?;
        let mut reply = Reply {
            asked: format!("{} {}", call.method, call.path),
            status: answer.status().as_u16(),
            headers: answer.headers().clone(),
            text: answer.text().await?,
        };
        if let Some(liar) = &self.hub.liar {
            liar.alter_reply(&call, self.token(), &mut reply);
        }
        Ok(reply)
    }
}

/// What agents and humans do with messages.
impl Api {
    pub(crate) async fn submit(&self, envelope: &Value) -> Tried<Reply> {
        self.post("/v1/messages", envelope).await
    }

    /// Submits what should be accepted; its id.
    pub(crate) async fn submitted(&self, envelope: &Value) -> Tried<String> {
        let ack = self.submit(envelope).await?.expect(202)?;
        Ok(text(&ack, "/id")?.to_owned())
    }

    pub(crate) async fn message(&self, id: &str) -> Tried<Reply> {
        self.get(&format!("/v1/messages/{id}")).await
    }

    /// The message as it is now.
    pub(crate) async fn read(&self, id: &str) -> Tried<Value> {
        self.message(id).await?.expect(200)
    }

    /// The message once it has ended, or as it is after so many seconds.
    pub(crate) async fn wait(&self, id: &str, seconds: u32) -> Tried<Value> {
        let path = format!("/v1/messages/{id}?wait={seconds}");
        self.get(&path).await?.expect(200)
    }

    pub(crate) async fn resolve(&self, id: &str, body: &Value) -> Tried<Reply> {
        self.post(&format!("/v1/messages/{id}/resolve"), body).await
    }

    /// Answers an ask.
    pub(crate) async fn answer(&self, id: &str, value: impl Into<Value>) -> Tried<Reply> {
        let body = json!({"resolution": "answered", "value": value.into()});
        self.resolve(id, &body).await
    }

    pub(crate) async fn cancel(&self, id: &str) -> Tried<Reply> {
        self.send(Call::new(Method::POST, format!("/v1/messages/{id}/cancel")))
            .await
    }
}

impl Reply {
    /// The body of an answer with this status.
    pub(crate) fn expect(&self, status: u16) -> Tried<Value> {
        if self.status != status {
            return failed(format!("{}: expected {status}, got {}", self.asked, self.told()));
        }
        self.json()
    }

    pub(crate) fn json(&self) -> Tried<Value> {
        let parsed = serde_json::from_str(&self.text);
        parsed.map_err(|error| Verdict::Failed(format!("{}: no JSON ({error}): {}", self.asked, self.told())))
    }

    /// The message of a refusal with this status and code, in the one shape that refusals have (§8.5).
    pub(crate) fn refused(&self, status: u16, code: &str) -> Tried<String> {
        self.refused_as(&[(status, code)])
    }

    /// The message of a refusal with one of these.
    pub(crate) fn refused_as(&self, expected: &[(u16, &str)]) -> Tried<String> {
        let told = || format!("{}: expected {expected:?}, got {}", self.asked, self.told());
        if !expected.iter().any(|(status, _)| *status == self.status) {
            return failed(told());
        }
        let body = self.json()?;
        let code = text(&body, "/error/code")?;
        let found = expected.contains(&(self.status, code));
        holds(found, told)?;
        let message = text(&body, "/error/message")?;
        holds(!message.is_empty(), || {
            format!("{}: an error without a message", self.asked)
        })?;
        Ok(message.to_owned())
    }

    /// That it is some refusal of the client, and nothing was done.
    pub(crate) fn refused_somehow(&self) -> Proof {
        holds((400..500).contains(&self.status), || {
            format!("{}: expected a refusal, got {}", self.asked, self.told())
        })?;
        text(&self.json()?, "/error/code").map(drop)
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Status and body, without a word of the request that they may repeat.
    pub(crate) fn but_for(&self, word: &str) -> (u16, String) {
        (self.status, self.text.replace(word, "…"))
    }

    /// That another reply says just the same.
    pub(crate) fn same_as(&self, other: &Reply) -> Proof {
        equal(
            &format!("{} against {}", self.asked, other.asked),
            &(self.status, &self.text),
            &(other.status, &other.text),
        )
    }

    /// Status and the beginning of the body.
    pub(crate) fn told(&self) -> String {
        const CHARS_MAX: usize = 400;
        let start: String = self.text.chars().take(CHARS_MAX).collect();
        format!("{} {start}", self.status)
    }
}

/// One segment of a path, percent-encoded.
pub(crate) fn segment(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::segment;

    #[test]
    fn a_segment_is_one_segment() {
        assert_eq!(
            segment("deploybot/dev-team#1 ü"),
            "deploybot%2Fdev-team%231%20%C3%BC"
        );
    }
}
