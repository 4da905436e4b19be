//! What happened, on whichever replica, handed to those who wait for it here. Hints only: a waiter registers, looks,
//! and then waits (rule 6).

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::StreamExt;
use hub_platform::nats::{Nats, WakeEvent};
pub(crate) use hub_platform::nats::{Wake, WakeKind};
use tokio::sync::broadcast::{self, error::RecvError};
use tokio::sync::{Notify, watch};

use crate::app::App;
use crate::auth;

/// Notices a subscriber may be behind before it is told to look at everything.
const BACKLOG_MAX: usize = 256;

/// In-memory dispatch of the wake feed. What is registered is bounded by the calls that may be held.
pub(crate) struct Wakes {
    nats: Option<Nats>,
    accounts: Arc<Mutex<HashMap<String, broadcast::Sender<Notice>>>>,
    messages: Watched,
    mailboxes: Watched,
    missed: Notify,
}

/// What is waited for, each thing by its account and id.
type Watched = Arc<Mutex<HashMap<Key, watch::Sender<()>>>>;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    account: String,
    /// Of a message, or of the agent whose mailbox it is.
    id: String,
}

impl Key {
    fn of(account: &str, id: &str) -> Self {
        Self {
            account: account.to_owned(),
            id: id.to_owned(),
        }
    }
}

/// What a subscriber is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Notice {
    /// This happened.
    Wake(Wake),
    /// Something may have been missed: look again.
    Resync,
}

/// Everything of one account, from the moment of subscribing.
pub(crate) struct Subscription {
    account: String,
    /// None only while it is dropped.
    receiver: Option<broadcast::Receiver<Notice>>,
    accounts: Arc<Mutex<HashMap<String, broadcast::Sender<Notice>>>>,
}

/// Whether something happened to one message or mailbox since the last look.
pub(crate) struct Watch {
    key: Key,
    /// None only while it is dropped.
    receiver: Option<watch::Receiver<()>>,
    watched: Watched,
}

impl Wakes {
    /// Without `nats` nothing is heard but what [`Wakes::dispatch`] is told.
    pub(crate) fn new(nats: Option<Nats>) -> Self {
        Self {
            nats,
            accounts: Arc::default(),
            messages: Arc::default(),
            mailboxes: Arc::default(),
            missed: Notify::new(),
        }
    }

    /// Registers for everything of `account`.
    pub(crate) fn subscribe(&self, account: &str) -> Subscription {
        let mut accounts = lock(&self.accounts);
        let sender = accounts
            .entry(account.to_owned())
            .or_insert_with(|| broadcast::Sender::new(BACKLOG_MAX));
        let receiver = Some(sender.subscribe());
        Subscription {
            account: account.to_owned(),
            receiver,
            accounts: self.accounts.clone(),
        }
    }

    /// Registers for one message.
    pub(crate) fn watch_message(&self, account: &str, message_id: &str) -> Watch {
        watch(&self.messages, Key::of(account, message_id))
    }

    /// Registers for the mailbox of an agent.
    pub(crate) fn watch_mailbox(&self, account: &str, agent: &str) -> Watch {
        watch(&self.mailboxes, Key::of(account, agent))
    }

    /// Tells the waiters here.
    pub(crate) fn dispatch(&self, wake: &Wake) {
        if wake.event == WakeKind::MailboxFilled {
            return self.filled(&wake.account, &wake.id);
        }
        if let Some(sender) = lock(&self.accounts).get(&wake.account) {
            // Without a receiver it was dropped just now.
            let _ = sender.send(Notice::Wake(wake.clone()));
        }
        self.changed(&wake.account, &wake.id);
    }

    /// Has the waiters for one message look again.
    pub(crate) fn changed(&self, account: &str, message_id: &str) {
        notify(&self.messages, &Key::of(account, message_id));
    }

    /// Has the waiters for one mailbox look again.
    pub(crate) fn filled(&self, account: &str, agent: &str) {
        notify(&self.mailboxes, &Key::of(account, agent));
    }

    /// Account and id of every message that is waited for here.
    pub(crate) fn waited_for(&self) -> Vec<(String, String)> {
        keys(&self.messages)
    }

    /// Account and agent of every mailbox that is waited for here.
    pub(crate) fn waited_mailboxes(&self) -> Vec<(String, String)> {
        keys(&self.mailboxes)
    }

    /// Wakes may have been lost: tells every subscriber to look again, and has the beat look for all who wait.
    pub(crate) fn resync(&self) {
        for sender in lock(&self.accounts).values() {
            let _ = sender.send(Notice::Resync);
        }
        self.missed.notify_one();
    }

    /// Ends when wakes may have been lost since it ended last.
    pub(crate) async fn missed(&self) {
        self.missed.notified().await;
    }

    /// Tells the other replicas that a credential, or what it may do, has changed.
    pub(crate) async fn publish_revoked(&self, account: &str, id: &str) {
        if let Some(nats) = &self.nats {
            let event = WakeKind::CredentialRevoked;
            nats.wake(&Wake {
                account: account.to_owned(),
                event,
                id: id.to_owned(),
                state: None,
            })
            .await;
        }
    }
}

impl Subscription {
    /// The next notice; never ends by itself. Cancel-safe.
    pub(crate) async fn next(&mut self) -> Notice {
        let Some(receiver) = &mut self.receiver else {
            return std::future::pending().await;
        };
        match receiver.recv().await {
            Ok(notice) => notice,
            Err(RecvError::Lagged(_)) => Notice::Resync,
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.receiver = None;
        remove_unless(&self.accounts, &self.account, |sender| {
            sender.receiver_count() > 0
        });
    }
}

impl Watch {
    /// Ends when something happened since registering, or since it ended last. Cancel-safe.
    pub(crate) async fn changed(&mut self) {
        let Some(receiver) = &mut self.receiver else {
            return std::future::pending().await;
        };
        if receiver.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.receiver = None;
        remove_unless(&self.watched, &self.key, |sender| sender.receiver_count() > 0);
    }
}

fn watch(watched: &Watched, key: Key) -> Watch {
    let receiver = lock(watched)
        .entry(key.clone())
        .or_insert_with(|| watch::Sender::new(()))
        .subscribe();
    Watch {
        key,
        receiver: Some(receiver),
        watched: watched.clone(),
    }
}

fn notify(watched: &Watched, key: &Key) {
    if let Some(sender) = lock(watched).get(key) {
        sender.send_replace(());
    }
}

fn keys(watched: &Watched) -> Vec<(String, String)> {
    let watched = lock(watched);
    let keys = watched.keys();
    keys.map(|key| (key.account.clone(), key.id.clone())).collect()
}

/// Reads the feed until the hub stops.
pub(crate) async fn listen(app: Arc<App>) {
    let Some(nats) = app.wakes.nats.clone() else {
        return;
    };
    let mut feed = nats.wakes();
    loop {
        let event = tokio::select! {
            () = app.shutdown.requested() => return,
            event = feed.next() => event,
        };
        match event {
            Some(WakeEvent::Wake(wake)) if wake.event == WakeKind::CredentialRevoked => {
                auth::forget(&app, &wake.account);
            }
            Some(WakeEvent::Wake(wake)) => app.wakes.dispatch(&wake),
            Some(WakeEvent::Resync) => app.wakes.resync(),
            // It restores itself and does not end; were it to, waiters would still be told at each beat.
            None => return tracing::error!("the wake feed ended"),
        }
    }
}

fn remove_unless<K: Hash + Eq, V>(map: &Mutex<HashMap<K, V>>, key: &K, is_used: impl Fn(&V) -> bool) {
    let mut map = lock(map);
    if map.get(key).is_some_and(|value| !is_used(value)) {
        map.remove(key);
    }
}

/// No code panics while it holds the lock; were it to, the map would still be whole.
fn lock<T>(map: &Mutex<T>) -> MutexGuard<'_, T> {
    map.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::{BACKLOG_MAX, Notice, Wake, WakeKind, Wakes, lock};

    fn wake(account: &str, id: &str) -> Wake {
        Wake {
            account: account.to_owned(),
            event: WakeKind::MessageResolved,
            id: id.to_owned(),
            state: None,
        }
    }

    #[tokio::test]
    async fn a_wake_reaches_its_message_only() {
        let wakes = Wakes::new(None);
        let mut waiting = wakes.watch_message("acme", "msg_1");
        let mut other = wakes.watch_message("acme", "msg_2");
        wakes.dispatch(&wake("acme", "msg_1"));
        wakes.dispatch(&wake("other", "msg_2"));
        assert!(waiting.changed().now_or_never().is_some());
        assert!(waiting.changed().now_or_never().is_none());
        assert!(other.changed().now_or_never().is_none());
    }

    #[tokio::test]
    async fn a_mailbox_that_was_filled_wakes_its_agent_only() {
        let wakes = Wakes::new(None);
        let mut waiting = wakes.watch_mailbox("acme", "bot");
        let mut other = wakes.watch_mailbox("acme", "other");
        let mut person = wakes.subscribe("acme");
        wakes.dispatch(&Wake {
            event: WakeKind::MailboxFilled,
            ..wake("acme", "bot")
        });
        assert!(waiting.changed().now_or_never().is_some());
        assert!(other.changed().now_or_never().is_none());
        assert!(person.next().now_or_never().is_none());
        assert!(wakes.waited_for().is_empty());
    }

    #[tokio::test]
    async fn a_wake_between_registering_and_waiting_is_not_lost() {
        let wakes = Wakes::new(None);
        let mut waiting = wakes.watch_message("acme", "msg_1");
        wakes.changed("acme", "msg_1");
        assert!(waiting.changed().now_or_never().is_some());
    }

    #[tokio::test]
    async fn lost_wakes_send_the_beat_to_look_and_no_waiter() {
        let wakes = Wakes::new(None);
        let mut waiting = wakes.watch_mailbox("acme", "bot");
        let mut person = wakes.subscribe("acme");
        wakes.resync();
        assert!(waiting.changed().now_or_never().is_none());
        assert_eq!(person.next().now_or_never(), Some(Notice::Resync));
        assert!(wakes.missed().now_or_never().is_some());
        assert!(wakes.missed().now_or_never().is_none());
    }

    #[tokio::test]
    async fn who_falls_behind_is_told_to_look_again() {
        let wakes = Wakes::new(None);
        let mut subscription = wakes.subscribe("acme");
        for _ in 0..=BACKLOG_MAX {
            wakes.dispatch(&wake("acme", "msg_1"));
        }
        assert_eq!(subscription.next().await, Notice::Resync);
        assert_eq!(subscription.next().await, Notice::Wake(wake("acme", "msg_1")));
    }

    #[test]
    fn who_has_gone_leaves_nothing_behind() {
        let wakes = Wakes::new(None);
        let (one, other) = (
            wakes.watch_message("acme", "msg_1"),
            wakes.watch_message("acme", "msg_1"),
        );
        drop(one);
        assert_eq!(wakes.waited_for(), [("acme".to_owned(), "msg_1".to_owned())]);
        drop(other);
        drop(wakes.subscribe("acme"));
        assert!(lock(&wakes.messages).is_empty() && lock(&wakes.accounts).is_empty());
    }
}
