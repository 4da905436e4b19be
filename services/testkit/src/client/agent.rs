//! An agent under test.

use std::ops::Deref;

use serde_json::Value;

use super::{Api, Reply, segment};

/// An agent with a token; every call of `Api` is its to make as well.
#[derive(Clone)]
pub struct Agent {
    id: String,
    api: Api,
}

impl Deref for Agent {
    type Target = Api;

    fn deref(&self) -> &Api {
        &self.api
    }
}

impl Agent {
    /// Of an agent.id and the calls it makes.
    pub fn new(id: &str, api: Api) -> Self {
        Self {
            id: id.to_owned(),
            api,
        }
    }

    /// Its agent.id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The same agent on another gateway.
    #[must_use]
    pub fn on(&self, base_url: &str) -> Self {
        Self {
            id: self.id.clone(),
            api: self.api.at(base_url),
        }
    }

    /// Submits an envelope.
    pub async fn submit(&self, envelope: &Value) -> Reply {
        self.post("/v1/messages", envelope).await
    }

    /// Submits an envelope that the hub has to accept; returns the message's id.
    pub async fn submitted(&self, envelope: &Value) -> String {
        let reply = self.submit(envelope).await;
        assert!(reply.status.is_success(), "{}: {}", reply.status, reply.text);
        reply.text_at("id")
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

    /// Lists its submissions; `query` is empty or begins with a question mark.
    pub async fn messages(&self, query: &str) -> Reply {
        self.get(&format!("/v1/messages{query}")).await
    }

    /// Withdraws an ask.
    pub async fn cancel(&self, id: &str) -> Reply {
        self.post(
            &format!("/v1/messages/{}/cancel", segment(id)),
            &serde_json::json!({}),
        )
        .await
    }

    /// Answers a message it is an allowed resolver of.
    pub async fn resolve(&self, id: &str, body: &Value) -> Reply {
        self.post(&format!("/v1/messages/{}/resolve", segment(id)), body)
            .await
    }
}
