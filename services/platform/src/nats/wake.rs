//! Wake-ups: hints that something happened, ids only.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::Stream;
use serde::{Deserialize, Serialize};

/// Subjects that wake-ups are spread over, by account.
pub const WAKE_BUCKETS: u32 = 64;

/// Something happened.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Wake {
    /// In which account.
    pub account: String,
    /// What.
    pub event: WakeKind,
    /// To which message, agent or token.
    pub id: String,
    /// What it is now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
}

/// What happened.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub enum WakeKind {
    /// A message was accepted.
    #[serde(rename = "message.created")]
    MessageCreated,
    /// A message came to its end.
    #[serde(rename = "message.resolved")]
    MessageResolved,
    /// A track moved.
    #[serde(rename = "delivery.updated")]
    DeliveryUpdated,
    /// An agent came or went.
    #[serde(rename = "presence.updated")]
    PresenceUpdated,
    /// A credential was revoked.
    #[serde(rename = "credential.revoked")]
    CredentialRevoked,
}

/// What a listener gets.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum WakeEvent {
    /// Something happened.
    Wake(Wake),
    /// Something may have been missed: look at everything.
    Resync,
}

/// The wake-ups of every account, from a subscription that restores itself.
#[derive(Debug)]
pub struct Wakes {
    receiver: tokio::sync::mpsc::Receiver<WakeEvent>,
}

impl Stream for Wakes {
    type Item = WakeEvent;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<WakeEvent>> {
        self.receiver.poll_recv(context)
    }
}

/// The bucket of an account.
pub fn bucket(account: &str) -> u32 {
    let _ = account;
    todo!()
}
