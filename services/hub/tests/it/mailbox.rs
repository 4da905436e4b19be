//! An agent's mailbox as its agent sees it, and the people who write to it.

use std::io::Write as _;
use std::process::{Command, Stdio};

use hub_testkit::{Account, Agent, Human, Reply, TestHub};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use time::OffsetDateTime;

pub(crate) const WORKER: &str = "orchard/worker";
pub(crate) const ENTRY_SECRET: &str = "a secret of the worker's mailbox, 0123456789";

/// An account with an operator and an agent that drains.
pub(crate) struct Post {
    pub hub: TestHub,
    pub account: Account,
    /// An operator.
    pub alice: Human,
    pub worker: Agent,
}

/// One item of a drain, as it came.
#[derive(Clone, Debug)]
pub(crate) struct Drained {
    pub id: String,
    pub directive: String,
    pub signature: String,
}

impl Post {
    pub(crate) async fn start() -> Self {
        Self::on(TestHub::start().await).await
    }

    /// Where what is drained comes again soon.
    pub(crate) async fn with_window(seconds: u32) -> Self {
        let hub = TestHub::builder().set("HUB_INBOUND_VISIBILITY_TIMEOUT_SECONDS", seconds);
        Self::on(hub.start().await).await
    }

    pub(crate) async fn on(hub: TestHub) -> Self {
        let account = hub.account("orchard").await;
        let worker = account.agent(WORKER).await;
        let alice = account.human("alice", "operator").await;
        account.put_hmac_entry_key(WORKER, ENTRY_SECRET).await;
        Self {
            hub,
            account,
            alice,
            worker,
        }
    }

    /// Writes to the worker; the directive's id.
    pub(crate) async fn direct(&self, title: &str) -> String {
        directed(&self.alice, WORKER, title).await
    }

    /// How far a directive got.
    pub(crate) async fn track(&self, id: &str) -> Value {
        self.alice.get(&format!("/v1/directives/{id}")).await.expect(200)["delivery"].take()
    }

    /// Where a directive is.
    pub(crate) async fn state(&self, id: &str) -> String {
        self.track(id).await["state"].as_str().unwrap().to_owned()
    }
}

/// Writes to an agent; the directive's id.
pub(crate) async fn directed(author: &Human, agent: &str, title: &str) -> String {
    let body = json!({"to": format!("agent:{agent}"), "title": title});
    let written = author.post("/v1/directives", &body).await.expect(201);
    written["directive"]["id"].as_str().unwrap().to_owned()
}

/// Drains with a query, which is empty or begins with a question mark.
pub(crate) async fn drain(agent: &Agent, query: &str) -> Vec<Drained> {
    drained(&agent.get(&format!("/v1/inbox{query}")).await)
}

/// What a drain answered.
pub(crate) fn drained(reply: &Reply) -> Vec<Drained> {
    #[derive(serde::Deserialize)]
    struct Item {
        directive: Box<RawValue>,
        signature: String,
    }
    #[derive(serde::Deserialize)]
    struct Batch {
        messages: Vec<Item>,
    }
    reply.expect(200);
    let batch: Batch = serde_json::from_str(&reply.text).unwrap();
    let item = |item: Item| {
        let directive: Value = serde_json::from_str(item.directive.get()).unwrap();
        Drained {
            id: directive["id"].as_str().unwrap().to_owned(),
            directive: item.directive.get().to_owned(),
            signature: item.signature,
        }
    };
    batch.messages.into_iter().map(item).collect()
}

/// The ids of what was drained.
pub(crate) fn ids(drained: &[Drained]) -> Vec<String> {
    drained.iter().map(|entry| entry.id.clone()).collect()
}

/// Acknowledges; how many entries that consumed.
pub(crate) async fn ack(agent: &Agent, ids: &[String]) -> u64 {
    let acked = agent.post("/v1/inbox/ack", &json!({"ids": ids})).await;
    acked.expect(200)["acked"].as_u64().unwrap()
}

impl Drained {
    /// One part of its signature.
    pub(crate) fn part(&self, name: &str) -> &str {
        let header = self.signature.strip_prefix("MA2H-Signature: ").unwrap();
        let mut parts = header.split(',').filter_map(|part| part.split_once('='));
        parts.find(|(part, _)| *part == name).unwrap().1
    }

    /// Has an independent program verify it, as the worker must.
    pub(crate) fn verify(&self, alg: &str, key: &str) -> Result<(), String> {
        let header = self.signature.strip_prefix("MA2H-Signature: ");
        verify(&json!({
            "header": header.expect("a header with its name"), "body": self.directive,
            "address": format!("agent:{WORKER}"), "alg": alg, "key": key,
            "now": OffsetDateTime::now_utc().unix_timestamp(),
        }))
    }
}

/// Has an independent program verify what `input` says.
pub(crate) fn verify(input: &Value) -> Result<(), String> {
    let mut child = Command::new("python3")
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/verify.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("run python3");
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.to_string().as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let verdict: Value = serde_json::from_slice(&output.stdout).expect("the verifier answers in JSON");
    if verdict["ok"] == true {
        Ok(())
    } else {
        Err(verdict["why"].to_string())
    }
}

/// The hub's public key, as base64url.
pub(crate) async fn hub_key(hub: &TestHub) -> String {
    let keys = hub.anonymous().get("/.well-known/ma2h/keys").await.expect(200);
    keys["keys"][0]["x"].as_str().unwrap().to_owned()
}
