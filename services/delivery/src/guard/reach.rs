//! Name resolution that answers with addresses that may be called, or not at all (§9.4).

use std::collections::HashMap;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::address::{AddressClass, classify};
use super::failure::RefusedAddress;
use super::names::Names;

/// How many addresses of an answer are kept to be tried.
const ADDRESSES_PER_NAME_MAX: usize = 16;

/// Which addresses may be called.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reach {
    /// Public ones.
    Public,
    /// Also loopback and private ones: development only.
    Private,
}

impl Reach {
    pub(super) fn covers(self, class: AddressClass) -> bool {
        match (self, class) {
            (_, AddressClass::Public) | (Self::Private, AddressClass::Loopback | AddressClass::Private) => {
                true
            }
            (Self::Public | Self::Private, _) => false,
        }
    }
}

/// Names whose last place is known at a time; one more, and those before it are forgotten.
const PLACES_MAX: usize = 10_000;

/// What is known of where a call came to.
#[derive(Clone, Copy, Debug, Default)]
enum Way {
    /// It is not on its way.
    #[default]
    Unsent,
    /// No name was looked up for it: it goes over a connection that was kept from an earlier call.
    Kept,
    /// A name is being looked up, or stands for no address; or it stands for places of this kind.
    LookedUp(Option<AddressClass>),
    /// The name stands for a place of this kind, where nobody calls.
    Refused(AddressClass),
    /// It came to a place of this kind.
    At(AddressClass),
}

tokio::task_local! {
    /// Of the call under way. A look-up may go on when the call has got a connection by other means.
    static WAY: Arc<Mutex<Way>>;
}

/// What kind of place each name led to last: kept connections lead there too.
#[derive(Debug, Default)]
pub(super) struct Places(Mutex<HashMap<String, AddressClass>>);

impl Places {
    /// Makes a call to `host`, and tells what kind of place it came to: the one that was connected to, or refused. None where
    /// the name stood for no address.
    pub(super) async fn watch<T>(
        &self,
        host: &str,
        call: impl Future<Output = T>,
    ) -> (T, Option<AddressClass>) {
        let way = Arc::new(Mutex::new(Way::default()));
        let done = WAY.scope(way.clone(), call).await;
        let way = *locked(&way);
        let mut places = locked(&self.0);
        let class = match way {
            Way::Unsent | Way::LookedUp(None) => None,
            Way::Kept => places.get(host).copied(),
            Way::Refused(class) => Some(class),
            Way::LookedUp(Some(class)) | Way::At(class) => {
                if places.len() >= PLACES_MAX && !places.contains_key(host) {
                    places.clear();
                }
                places.insert(host.to_owned(), class);
                Some(class)
            }
        };
        (done, class)
    }
}

/// Notes what kind of place the call under way has come to. One that nobody watches is none of ours.
pub(super) fn reached(class: AddressClass) {
    let _ = WAY.try_with(|way| *locked(way) = Way::At(class));
}

/// Notes that the call under way is sent, to wherever that leads.
pub(super) fn sent() {
    let _ = WAY.try_with(|way| {
        let mut way = locked(way);
        if matches!(*way, Way::Unsent) {
            *way = Way::Kept;
        }
    });
}

/// Notes what a name stands for, unless the call has come to a place by other means.
fn looked_up(way: &Mutex<Way>, found: Way) {
    let mut way = locked(way);
    if !matches!(*way, Way::At(_)) {
        *way = found;
    }
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Resolves for the client, which connects to nothing but the addresses it is given here: what was checked is
/// what is connected to, however often the name changes its answer.
pub(super) struct CheckedResolver {
    pub(super) names: Arc<dyn Names>,
    pub(super) reach: Reach,
}

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let answer = self.names.addresses(name.as_str());
        let reach = self.reach;
        let way = WAY.try_with(Arc::clone).unwrap_or_default();
        looked_up(&way, Way::LookedUp(None));
        Box::pin(async move {
            let addresses = answer.await?;
            let mut classes = addresses.iter().copied().map(classify);
            // One bad address taints the whole answer: whoever wrote it meant harm, or knows no better.
            if let Some(refused) = classes.clone().find(|class| !reach.covers(*class)) {
                looked_up(&way, Way::Refused(refused));
                return Err(RefusedAddress.into());
            }
            if let Some(class) = classes.next() {
                looked_up(&way, Way::LookedUp(Some(class)));
            }
            let addresses = addresses.into_iter().take(ADDRESSES_PER_NAME_MAX);
            // Port 0 stands for the port of the URL.
            Ok(Box::new(addresses.map(|address| SocketAddr::new(address, 0))) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Reach, classify};

    #[test]
    fn development_reaches_loopback_and_private_and_nothing_more() {
        let covers = |reach: Reach, text: &str| reach.covers(classify(text.parse().unwrap()));
        let reached = |text: &str| covers(Reach::Private, text);
        for text in [
            "127.0.0.1",
            "::1",
            "10.1.2.3",
            "192.168.0.1",
            "fd00::1",
            "1.1.1.1",
        ] {
            assert!(reached(text), "{text}");
        }
        for text in [
            "169.254.169.254",
            "0.0.0.0",
            "::ffff:127.0.0.1",
            "224.0.0.1",
            "100.64.0.1",
            "fe80::1",
        ] {
            assert!(!reached(text), "{text}");
        }
        assert!(!covers(Reach::Public, "127.0.0.1"));
        assert!(!covers(Reach::Public, "10.0.0.1"));
    }
}
