//! A human under test.

use std::ops::Deref;

use serde_json::{Value, json};

use super::{Api, Reply, segment};

/// A human with a token; every call of `Api` is hers to make as well.
#[derive(Clone)]
pub struct Human {
    id: String,
    api: Api,
}

impl Deref for Human {
    type Target = Api;

    fn deref(&self) -> &Api {
        &self.api
    }
}

impl Human {
    /// Of a human's id and the calls she makes.
    pub fn new(id: &str, api: Api) -> Self {
        Self {
            id: id.to_owned(),
            api,
        }
    }

    /// Her id, without `human:`.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Her address, as `allowed_resolvers` names it.
    pub fn address(&self) -> String {
        format!("human:{}", self.id)
    }

    /// The same human on another gateway.
    #[must_use]
    pub fn on(&self, base_url: &str) -> Self {
        Self {
            id: self.id.clone(),
            api: self.api.at(base_url),
        }
    }

    /// Reads a message.
    pub async fn message(&self, id: &str) -> Reply {
        self.get(&format!("/v1/messages/{}", segment(id))).await
    }

    /// Reads a message, held until its status changes or the seconds are over.
    pub async fn wait(&self, id: &str, seconds: u32) -> Reply {
        self.get(&format!("/v1/messages/{}?wait={seconds}", segment(id)))
            .await
    }

    /// The inbox; `query` is empty or begins with a question mark.
    pub async fn messages(&self, query: &str) -> Reply {
        self.get(&format!("/v1/messages{query}")).await
    }

    /// Resolves a message.
    pub async fn resolve(&self, id: &str, body: &Value) -> Reply {
        self.post(&format!("/v1/messages/{}/resolve", segment(id)), body)
            .await
    }

    /// Answers an ask with a value.
    pub async fn answer(&self, id: &str, value: impl Into<Value>) -> Reply {
        self.resolve(id, &json!({"resolution": "answered", "value": value.into()}))
            .await
    }

    /// The delivery attempts of a message's Response.
    pub async fn attempts(&self, id: &str) -> Reply {
        self.get(&format!("/v1/messages/{}/attempts", segment(id))).await
    }
}
