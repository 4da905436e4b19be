//! What happened, on whichever replica, handed to those who wait for it here. Hints only: a waiter registers, looks,
//! and then waits.

pub(crate) use hub_platform::nats::{Wake, WakeKind};

/// In-memory dispatch of the wake feed.
pub(crate) struct Wakes;

/// What a subscriber is told.
#[derive(Clone, Debug)]
pub(crate) enum Notice {
    /// This happened.
    Wake(Wake),
    /// Something may have been missed: look again.
    Resync,
}

/// Everything of one account, from the moment of subscribing.
pub(crate) struct Subscription;

impl Wakes {
    /// Registers for everything of `account`.
    pub(crate) fn subscribe(&self, account: &str) -> Subscription {
        let _ = account;
        Subscription
    }
}

impl Subscription {
    /// The next notice; never ends by itself. Cancel-safe.
    pub(crate) async fn next(&mut self) -> Notice {
        std::future::pending().await
    }
}
