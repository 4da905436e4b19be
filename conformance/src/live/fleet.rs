//! Scenes of more than one agent: mailboxes, sessions, and mail between agents.

use ma2h::sign::VerifyingKey;
use serde_json::{Value, json};

use super::account::{Account, Caller};
use super::api::Reply;
use super::envelope;
use super::mailbox::Mailbox;
use super::stage::{Stage, pause};
use super::verdict::{Proof, Tried, Verdict, equal, holds, skipped, text};

const ENTRY_SECRET: &str = "a secret for mailboxes only, 0123456789";
/// Times longer than this are not waited for.
const WAIT_SECONDS_MAX: u64 = 20;

/// An account with an owner and two agents that have mailboxes.
pub(crate) struct Fleet {
    pub(crate) account: Account,
    pub(crate) alice: Caller,
    /// Who sends.
    pub(crate) sender: Mailbox,
    /// Who is sent to.
    pub(crate) worker: Mailbox,
}

/// A registered session.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) id: String,
    pub(crate) body: Value,
}

impl Stage {
    /// Two agents whose entries are signed with a secret of theirs.
    pub(crate) async fn fleet(&self) -> Tried<Fleet> {
        let scene = self.scene().await?;
        let worker = scene.account.agent("orchard/worker", 1).await?;
        let fleet = Fleet {
            sender: self.mailbox(&scene.account, scene.agent).await?,
            worker: self.mailbox(&scene.account, worker).await?,
            account: scene.account,
            alice: scene.alice,
        };
        Ok(fleet)
    }

    /// The same in an account whose owner has said yes to mail between agents.
    pub(crate) async fn talking_fleet(&self) -> Tried<Fleet> {
        let fleet = self.fleet().await?;
        fleet
            .account
            .set_policy(json!({"inter_agent": {"enabled": true}}))
            .await?;
        Ok(fleet)
    }

    /// An agent's mailbox.
    pub(crate) async fn mailbox(&self, account: &Account, agent: Caller) -> Tried<Mailbox> {
        let key = match account.put_entry_secret(&agent.id, ENTRY_SECRET).await {
            Ok(()) => VerifyingKey::hmac(ENTRY_SECRET.as_bytes())
                .map_err(|problem| Verdict::Failed(problem.to_string()))?,
            Err(Verdict::Skipped(_)) => self.hub_key().await?,
            Err(verdict) => return Err(verdict),
        };
        Ok(Mailbox {
            agent,
            key,
            session: None,
        })
    }

    /// A time that the hub advertises and that can be waited for.
    pub(crate) fn short_seconds(&self, pointer: &str) -> Tried<u64> {
        match self.hub.states(pointer) {
            Some(seconds) if seconds <= WAIT_SECONDS_MAX => Ok(seconds),
            Some(seconds) => skipped(format!("{pointer}: {seconds} s are not waited for")),
            None => skipped(format!("the capability document has no {pointer}")),
        }
    }

    /// How long a drained entry is hidden, where that can be waited for.
    pub(crate) fn visibility_seconds(&self) -> Tried<u64> {
        self.short_seconds("/inbound/visibility_timeout_seconds")
    }

    /// The shortest lease, where it can be waited for.
    pub(crate) fn shortest_lease_seconds(&self) -> Tried<u64> {
        self.short_seconds("/sessions/min_ttl_seconds")
    }
}

impl Fleet {
    /// A directive of alice's; the hub's answer.
    pub(crate) async fn direct(&self, to: &str, title: &str) -> Tried<Value> {
        let body = json!({"to": to, "title": title});
        self.alice.post("/v1/directives", &body).await?.expect(201)
    }

    /// A directive to the worker; its id.
    pub(crate) async fn directed(&self, title: &str) -> Tried<String> {
        let said = self.direct(&self.worker.agent.address, title).await?;
        Ok(text(&said, "/directive/id")?.to_owned())
    }

    /// What alice reads of a directive.
    pub(crate) async fn track(&self, id: &str) -> Tried<Value> {
        let read = self
            .alice
            .get(&format!("/v1/directives/{id}"))
            .await?
            .expect(200)?;
        Ok(read["delivery"].clone())
    }

    /// A notify of the sender's to an address.
    pub(crate) fn notify(&self, to: &str) -> Value {
        envelope::with(envelope::notify(&self.sender.agent.id), "/to", json!(to))
    }

    /// An ask of the sender's, to be approved or denied by whom it is for.
    pub(crate) fn ask(&self, to: &str) -> Value {
        let ask = envelope::ask(&self.sender.agent.id, json!({"mode": "confirm"}));
        envelope::with(ask, "/to", json!(to))
    }

    /// A task of the sender's.
    pub(crate) fn task(&self, to: &str) -> Value {
        let task = envelope::task(&self.sender.agent.id, "human:alice");
        let task = envelope::without(task, "/action/allowed_resolvers");
        envelope::with(task, "/to", json!(to))
    }

    /// What the sender reads of a message of its own.
    pub(crate) async fn read(&self, id: &str) -> Tried<Value> {
        self.sender.agent.read(id).await
    }
}

impl Mailbox {
    /// Registers a session.
    pub(crate) async fn register(&self, body: &Value) -> Tried<Session> {
        let registered = self.agent.post("/v1/sessions", body).await?.expect(201)?;
        Ok(Session {
            id: text(&registered, "/session/id")?.to_owned(),
            body: registered["session"].clone(),
        })
    }

    /// The mailbox as a new session.
    pub(crate) async fn session(&self) -> Tried<Mailbox> {
        let session = self.register(&json!({})).await?;
        Ok(self.of_session(&session.id))
    }

    /// Its session's id.
    pub(crate) fn session_id(&self) -> &str {
        self.session.as_deref().unwrap_or_default()
    }

    /// What is read of its session.
    pub(crate) async fn lease(&self) -> Tried<Value> {
        let path = format!("/v1/sessions/{}", self.session_id());
        Ok(self.agent.get(&path).await?.expect(200)?["session"].clone())
    }

    /// Ends its session.
    pub(crate) async fn close(&self) -> Proof {
        let path = format!("/v1/sessions/{}", self.session_id());
        let reply = self.agent.delete(&path).await?;
        holds((200..300).contains(&reply.status), || {
            format!("{}: {}", reply.asked, reply.told())
        })
    }

    /// A session with the shortest lease, waited for until it has ended.
    pub(crate) async fn lapsed(&self, stage: &Stage) -> Tried<Mailbox> {
        let ttl = stage.shortest_lease_seconds()?;
        let session = self.register(&json!({"ttl_seconds": ttl})).await?;
        let session = self.of_session(&session.id);
        while session.lease().await?["state"] == "active" {
            pause().await;
        }
        equal("state", &session.lease().await?["state"], "expired")?;
        Ok(session)
    }

    /// Its session presented wherever one is: at a drain, an ack and a resolve.
    pub(crate) async fn presented(&self) -> Tried<[Reply; 3]> {
        let ask = envelope::confirm(&self.agent.id, &self.agent.address);
        let id = self.agent.submitted(&ask).await?;
        let resolve = format!("/v1/messages/{id}/resolve?session={}", self.session_id());
        let body = json!({"resolution": "answered", "value": "approve"});
        Ok([
            self.ask("").await?,
            self.ack(&[]).await?,
            self.agent.post(&resolve, &body).await?,
        ])
    }

    /// A message that names its session.
    pub(crate) fn naming(&self, envelope: Value) -> Value {
        envelope::with(envelope, "/agent/session", json!(self.session_id()))
    }
}
