//! Wake-ups: hints that something happened, ids only.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::stream::{self, BoxStream};
use futures_util::{Stream, StreamExt};
use serde::{Deserialize, Serialize};
use tokio_stream::wrappers::WatchStream;

use super::connection::{self, Signals};

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

/// The wake-ups of every account, from one subscription to all buckets that restores itself. A listener that is
/// too slow loses some, and is told to look at everything instead.
pub struct Wakes {
    events: BoxStream<'static, WakeEvent>,
}

impl Wakes {
    pub(super) fn new(client: async_nats::Client, prefix: &str, signals: &Signals) -> Self {
        let all_buckets = format!("{prefix}.wake.*");
        let connects = signals.connects.subscribe();
        let losses = signals.losses.subscribe();
        let subscribed = async move {
            let subscription = client.subscribe(all_buckets).await;
            let wakes = match subscription {
                Ok(messages) => messages
                    .filter_map(|message| async move { read(&message.payload) })
                    .boxed(),
                Err(error) => {
                    tracing::error!(%error, "wake-ups cannot be subscribed to");
                    stream::empty().boxed()
                }
            };
            // The first count comes at once: whoever begins to listen has missed what came before. Later ones wait until
            // the server has the subscription again; what comes between looking and that would be missed.
            let connects = WatchStream::new(connects).then(move |count| {
                let client = client.clone();
                async move {
                    if count > 0 {
                        connection::settled(&client).await;
                    }
                    WakeEvent::Resync
                }
            });
            let losses = WatchStream::from_changes(losses).map(|_| WakeEvent::Resync);
            stream::select(stream::select(connects, losses), wakes)
        };
        Self {
            events: stream::once(subscribed).flatten().boxed(),
        }
    }
}

impl fmt::Debug for Wakes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Wakes").finish_non_exhaustive()
    }
}

impl Stream for Wakes {
    type Item = WakeEvent;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<WakeEvent>> {
        self.events.poll_next_unpin(context)
    }
}

/// Another release may send what this one does not know.
fn read(payload: &[u8]) -> Option<WakeEvent> {
    serde_json::from_slice(payload).ok().map(WakeEvent::Wake)
}

/// The subject of an account's wake-ups.
pub(super) fn subject(prefix: &str, account: &str) -> String {
    format!("{prefix}.wake.{}", bucket(account))
}

/// The bucket of an account: FNV-1a, the same in every process and release.
pub fn bucket(account: &str) -> u32 {
    const OFFSET: u32 = 0x811c_9dc5;
    const PRIME: u32 = 0x0100_0193;
    let hash = account
        .bytes()
        .fold(OFFSET, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(PRIME));
    hash % WAKE_BUCKETS
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{WAKE_BUCKETS, Wake, WakeEvent, WakeKind, bucket, read};

    #[test]
    fn accounts_spread_over_all_buckets() {
        let buckets: HashSet<_> = (0..1000)
            .map(|number| bucket(&format!("account-{number}")))
            .collect();
        assert_eq!(buckets.len(), WAKE_BUCKETS as usize);
        // Between releases that run side by side it must not change.
        assert_eq!([bucket("acme"), bucket("demo"), bucket("")], [47, 54, 5]);
    }

    #[test]
    fn a_wake_reads_back_and_the_unknown_is_passed_over() {
        let wake = Wake {
            account: "acme".to_owned(),
            event: WakeKind::MessageResolved,
            id: "msg_1".to_owned(),
            state: Some("answered".to_owned()),
        };
        let text = serde_json::to_string(&wake).unwrap();
        assert!(text.contains(r#""event":"message.resolved""#), "{text}");
        assert_eq!(read(text.as_bytes()), Some(WakeEvent::Wake(wake)));
        assert_eq!(
            read(br#"{"account":"acme","event":"something.new","id":"x"}"#),
            None
        );
    }
}
