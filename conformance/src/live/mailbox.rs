//! An agent's mailbox, as the agent sees it (§8.7).

use ma2h::EntryKind;
use ma2h::sign::{Entry, VerifyingKey, entry_header, verify_entry};
use ma2h_schema::entry::check_shape;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::account::Caller;
use super::api::Reply;
use super::stage::now;
use super::verdict::{Proof, Tried, Verdict, equal, failed, text};

/// Longest that a drain may be asked to wait.
pub(crate) const WAIT_SECONDS: u32 = 30;

/// One item of a drain.
#[derive(Clone, Debug)]
pub(crate) struct Drained {
    pub(crate) kind: EntryKind,
    /// Byte for byte.
    pub(crate) payload: String,
    pub(crate) signature: String,
}

/// A mailbox with what its owner needs to believe what it finds.
#[derive(Clone)]
pub(crate) struct Mailbox {
    pub(crate) agent: Caller,
    pub(crate) key: VerifyingKey,
    /// As which it drains.
    pub(crate) session: Option<String>,
}

#[derive(Deserialize)]
struct Batch {
    messages: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    directive: Option<Box<RawValue>>,
    message: Option<Box<RawValue>>,
    response: Option<Box<RawValue>>,
    receipt: Option<Box<RawValue>>,
    signature: String,
}

impl Drained {
    pub(crate) fn json(&self) -> Tried<Value> {
        let parsed = serde_json::from_str(&self.payload);
        parsed.map_err(|error| Verdict::Failed(format!("an entry is no JSON: {error}")))
    }

    /// By which it is acknowledged: the resolution of a Response, the id of anything else.
    pub(crate) fn ack_key(&self) -> Tried<String> {
        let pointer = match self.kind {
            EntryKind::Response => "/resolution_id",
            _ => "/id",
        };
        Ok(text(&self.json()?, pointer)?.to_owned())
    }

    /// The nonce of this delivery.
    pub(crate) fn jti(&self) -> Tried<String> {
        match entry_header(&self.signature).and_then(ma2h::sign::parse_header) {
            Some(header) => Ok(header.jti.to_owned()),
            None => failed(format!("malformed signature: {}", self.signature)),
        }
    }

    /// One item of a drain, or the data of one event of a stream.
    pub(crate) fn parse(text: &str) -> Tried<Self> {
        let item: Item = serde_json::from_str(text)
            .map_err(|error| Verdict::Failed(format!("no drained item ({error}): {text}")))?;
        item.drained()
    }
}

impl Item {
    fn drained(self) -> Tried<Drained> {
        let members = [
            (EntryKind::Directive, self.directive),
            (EntryKind::Message, self.message),
            (EntryKind::Response, self.response),
            (EntryKind::Receipt, self.receipt),
        ];
        let mut present = members
            .into_iter()
            .filter_map(|(kind, payload)| Some((kind, payload?)));
        let (Some((kind, payload)), None) = (present.next(), present.next()) else {
            return failed("an item of a drain has one entry");
        };
        Ok(Drained {
            kind,
            payload: payload.get().to_owned(),
            signature: self.signature,
        })
    }
}

impl Mailbox {
    /// The same mailbox, drained as a session.
    pub(crate) fn of_session(&self, session: &str) -> Self {
        Self {
            session: Some(session.to_owned()),
            ..self.clone()
        }
    }

    /// `agent:<id>#sess_…`, or without the session.
    pub(crate) fn address(&self) -> String {
        match &self.session {
            Some(session) => format!("{}#{session}", self.agent.address),
            None => self.agent.address.clone(),
        }
    }

    fn path(&self, path: &str, query: &str) -> String {
        let session = self.session.as_ref().map(|session| format!("session={session}"));
        let query: Vec<String> = session
            .into_iter()
            .chain((!query.is_empty()).then(|| query.to_owned()))
            .collect();
        if query.is_empty() {
            return path.to_owned();
        }
        format!("{path}?{}", query.join("&"))
    }

    /// What the hub answers to a drain.
    pub(crate) async fn ask(&self, query: &str) -> Tried<Reply> {
        self.agent.get(&self.path("/v1/inbox", query)).await
    }

    /// What is there now.
    pub(crate) async fn drain(&self) -> Tried<Vec<Drained>> {
        self.drain_with("").await
    }

    /// What is there under a query.
    pub(crate) async fn drain_with(&self, query: &str) -> Tried<Vec<Drained>> {
        let reply = self.ask(query).await?;
        reply.expect(200)?;
        let batch: Batch = serde_json::from_str(&reply.text)
            .map_err(|error| Verdict::Failed(format!("no drain ({error}): {}", reply.told())))?;
        batch.messages.into_iter().map(Item::drained).collect()
    }

    /// Drains until something comes; verified, and of its shape.
    pub(crate) async fn some(&self) -> Tried<Vec<Drained>> {
        loop {
            let drained = self.drain_with(&format!("wait={WAIT_SECONDS}")).await?;
            if !drained.is_empty() {
                for entry in &drained {
                    self.believe(entry)?;
                }
                return Ok(drained);
            }
        }
    }

    /// Drains one entry, and no more.
    pub(crate) async fn one(&self, kind: EntryKind) -> Tried<Drained> {
        let drained = self.some().await?;
        match drained.as_slice() {
            [entry] if entry.kind == kind => Ok(entry.clone()),
            other => failed(format!("expected one {}, got {other:?}", kind.as_str())),
        }
    }

    /// Drains until an entry of this kind has come, and takes the others with it.
    pub(crate) async fn first(&self, kind: EntryKind) -> Tried<Drained> {
        loop {
            let drained = self.some().await?;
            if let Some(entry) = drained.into_iter().find(|entry| entry.kind == kind) {
                return Ok(entry);
            }
        }
    }

    /// That nothing is there.
    pub(crate) async fn is_empty(&self) -> Proof {
        let drained = self.drain().await?;
        equal("entries", &drained.len(), &0)
            .map_err(|_| Verdict::Failed(format!("expected none, got {drained:?}")))
    }

    /// Verifies an entry as its receiver must (§13.4): signature, shape, addressee.
    pub(crate) fn believe(&self, drained: &Drained) -> Proof {
        self.verified(drained)?;
        let payload = drained.json()?;
        let version = text(&payload, "/ma2h_version")?;
        let minor = version
            .strip_prefix("0.")
            .and_then(|minor| minor.parse().ok())
            .unwrap_or(0);
        check_shape(minor, drained.kind, &payload)
            .map_err(|violation| Verdict::Failed(format!("{violation} in {payload}")))?;
        if matches!(drained.kind, EntryKind::Directive | EntryKind::Message) {
            let to = text(&payload, "/to")?;
            if to != self.agent.address && to != self.address() {
                return failed(format!("an entry for {to} came to {}", self.address()));
            }
        }
        Ok(())
    }

    /// Verifies an entry's signature.
    pub(crate) fn verified(&self, drained: &Drained) -> Proof {
        let address = self.address();
        let entry = Entry {
            kind: drained.kind,
            payload: &drained.payload,
            session_address: &address,
        };
        let keys = [self.key.clone()];
        let window = self.agent.hub.replay_window_seconds();
        match verify_entry(&drained.signature, &entry, &keys, now(), window) {
            Ok(_) => Ok(()),
            Err(error) => failed(format!("{error}: {drained:?}")),
        }
    }

    /// Acknowledges entries by their keys; what the hub answers.
    pub(crate) async fn ack(&self, keys: &[String]) -> Tried<Reply> {
        self.ack_with(&json!({"ids": keys})).await
    }

    pub(crate) async fn ack_with(&self, body: &Value) -> Tried<Reply> {
        self.agent.post(&self.path("/v1/inbox/ack", ""), body).await
    }

    /// Acknowledges one entry.
    pub(crate) async fn acked(&self, drained: &Drained) -> Proof {
        self.ack(&[drained.ack_key()?]).await?.expect(200).map(drop)
    }
}
