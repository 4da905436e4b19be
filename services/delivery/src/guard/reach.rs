//! Name resolution that answers with addresses that may be called, or not at all (§9.4).

use std::cell::Cell;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;

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

tokio::task_local! {
    /// What kind of place the call under way has come to.
    static REACHED: Cell<Option<AddressClass>>;
}

/// Makes a call, and tells what kind of place it came to: the one that was connected to, or refused. None where a name stood
/// for no address, or a connection that was kept from an earlier call broke.
pub(super) async fn watched<T>(call: impl Future<Output = T>) -> (T, Option<AddressClass>) {
    let call = async {
        let done = call.await;
        (done, REACHED.with(Cell::get))
    };
    REACHED.scope(Cell::new(None), call).await
}

/// Notes what kind of place the call under way has come to. One that nobody watches is none of ours.
pub(super) fn reached(class: AddressClass) {
    let _ = REACHED.try_with(|reached| reached.set(Some(class)));
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
        Box::pin(async move {
            let addresses = answer.await?;
            let mut classes = addresses.iter().copied().map(classify);
            // One bad address taints the whole answer: whoever wrote it meant harm, or knows no better.
            if let Some(refused) = classes.clone().find(|class| !reach.covers(*class)) {
                reached(refused);
                return Err(RefusedAddress.into());
            }
            if let Some(class) = classes.next() {
                reached(class);
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
