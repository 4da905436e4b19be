//! The duties of an agent, in their order.

use super::bounds::Bounds;
use super::dedup::{Dedup, Reservation, Standing};
use super::delivered::Delivered;
use super::identity::Identity;
use super::policy::SenderPolicy;
use super::refusal::Refusal;
use super::replay::ReplayGuard;
use crate::EntryKind;
use crate::error::Problem;
use crate::json::{self, Member, Node};
use crate::sign::{
    Entry, VerifyError, VerifyingKey, entry_header, verify_entry_header, verify_push_with_any,
};

/// A delivery that passed, and whether it is this one that is to be acted upon.
#[derive(Debug, PartialEq, Eq)]
pub struct Received {
    /// What came.
    pub delivered: Delivered,
    /// What to do with it.
    pub standing: Standing,
}

/// Receives what a hub delivers to one agent: drained items, directives pushed to its webhook, Responses pushed to its
/// callback.
#[derive(Debug)]
pub struct Receiver {
    identity: Identity,
    keys: Vec<VerifyingKey>,
    policy: SenderPolicy,
    replays: ReplayGuard,
    works: Dedup,
}

impl Receiver {
    /// For an agent that trusts `keys`: one, or two while they are rotated.
    pub fn new(
        identity: Identity,
        keys: Vec<VerifyingKey>,
        policy: SenderPolicy,
        bounds: Bounds,
    ) -> Receiver {
        Receiver {
            identity,
            keys,
            policy,
            replays: ReplayGuard::new(bounds.window_seconds, bounds.jti_count_max),
            works: Dedup::new(bounds.work_horizon_seconds, bounds.work_count_max),
        }
    }

    /// The agent has another session now, or none.
    pub fn set_identity(&mut self, identity: Identity) {
        self.identity = identity;
    }

    /// The keys were rotated.
    pub fn set_keys(&mut self, keys: Vec<VerifyingKey>) {
        self.keys = keys;
    }

    /// One element of a drain's `messages`, or the data of one event of the mailbox's stream.
    pub fn receive_item(&mut self, item: &str, now: i64) -> Result<Received, Refusal> {
        let item = json::parse(item).map_err(Refusal::Item)?;
        let (kind, payload) = payload(&item)?;
        let signature = item.get("signature").and_then(Node::as_str);
        let header = signature.and_then(entry_header).ok_or(VerifyError::Header)?;
        self.receive_entry(kind, payload, header, now)
    }

    /// A directive pushed to the agent's webhook, with the value of its signature header. Nothing else is pushed there.
    pub fn receive_webhook(&mut self, header: &str, body: &str, now: i64) -> Result<Received, Refusal> {
        let item = json::parse(body).map_err(Refusal::Item)?;
        let (kind, payload) = payload(&item)?;
        if kind != EntryKind::Directive {
            return Err(malformed("expected a directive"));
        }
        self.receive_entry(kind, payload, header, now)
    }

    /// A Response pushed to the agent's callback, with the value of its signature header. `callback_url` is what the
    /// agent wrote into its envelope.
    pub fn receive_push(
        &mut self,
        header: &str,
        body: &str,
        callback_url: &str,
        now: i64,
    ) -> Result<Received, Refusal> {
        let window_seconds = self.replays.window_seconds();
        let verified = verify_push_with_any(header, body, callback_url, &self.keys, now, window_seconds)?;
        let body = json::parse(body).map_err(Refusal::Item)?;
        let delivered = Delivered::push(&body)?;
        self.replays.admit(&verified.jti, verified.t, now)?;
        self.reserve(delivered, now)
    }

    /// The work is durably done. Only then is the delivery acknowledged to the hub.
    pub fn commit(&mut self, reservation: Reservation, now: i64) {
        self.works.commit(reservation, now);
    }

    /// The work failed in a way that the next delivery may try again.
    pub fn release(&mut self, reservation: &Reservation) {
        self.works.release(reservation);
    }

    /// What is in hand and done, to be kept across a restart.
    pub fn works(&mut self) -> &mut Dedup {
        &mut self.works
    }

    fn receive_entry(
        &mut self,
        kind: EntryKind,
        payload: &Member<'_>,
        header: &str,
        now: i64,
    ) -> Result<Received, Refusal> {
        let session_address = self.identity.session_address();
        if session_address.is_none() && matches!(kind, EntryKind::Response | EntryKind::Receipt) {
            return Err(Refusal::Addressee);
        }
        let entry = Entry {
            kind,
            payload: payload.text,
            session_address: session_address.as_deref().unwrap_or_default(),
        };
        let header = verify_entry_header(header, &entry, &self.keys, now, self.replays.window_seconds())?;
        let delivered = Delivered::entry(kind, &payload.node)?;
        self.replays.admit(header.jti, header.t, now)?;
        self.check_addressee(&delivered, &payload.node, session_address.as_deref())?;
        self.check_sender(&delivered, &payload.node)?;
        self.reserve(delivered, now)
    }

    /// The signature proves for whom the hub meant it; only the receiver can see that this is someone else (§13.4). A
    /// response is bound to the session by the signature alone.
    fn check_addressee(
        &self,
        delivered: &Delivered,
        payload: &Node<'_>,
        session_address: Option<&str>,
    ) -> Result<(), Refusal> {
        let to = payload.get("to").and_then(Node::as_str);
        let is_addressee = match delivered.kind {
            EntryKind::Directive | EntryKind::Message => {
                to.is_some_and(|to| self.identity.is_addressee(delivered.minor, to))
            }
            EntryKind::Response => true,
            EntryKind::Receipt => to == session_address,
        };
        if is_addressee {
            Ok(())
        } else {
            Err(Refusal::Addressee)
        }
    }

    /// An ask or a task of another agent is acted upon under the declared policy only.
    fn check_sender(&self, delivered: &Delivered, payload: &Node<'_>) -> Result<(), Refusal> {
        let is_command = delivered.kind == EntryKind::Message
            && payload.get("type").and_then(Node::as_str) != Some("notify");
        let is_allowed = delivered
            .from
            .as_deref()
            .is_some_and(|from| self.policy.allows(from));
        if is_command && !is_allowed {
            return Err(Refusal::Sender);
        }
        Ok(())
    }

    fn reserve(&mut self, delivered: Delivered, now: i64) -> Result<Received, Refusal> {
        let standing = self.works.reserve(&delivered.work, now)?;
        Ok(Received { delivered, standing })
    }
}

/// The one payload of an item.
fn payload<'n, 'a>(item: &'n Node<'a>) -> Result<(EntryKind, &'n Member<'a>), Refusal> {
    let mut found = EntryKind::ALL
        .into_iter()
        .filter_map(|kind| Some((kind, item.member(kind.as_str())?)));
    match (found.next(), found.next()) {
        (Some(only), None) => Ok(only),
        _ => Err(malformed("expected one of directive, message, response, receipt")),
    }
}

fn malformed(what: &str) -> Refusal {
    Refusal::Item(Problem::validation(what))
}

#[cfg(test)]
mod tests;
