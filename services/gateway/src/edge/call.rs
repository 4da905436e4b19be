//! What is known of a call beside its request.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, OnceLock};

use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap};
use hub_platform::config::Network;

use super::budget::Holder;
use super::connection::Connection;
use crate::principal::Principal;

/// Where a call comes from and, once it is known, whose it is. An extension of its request; clones share it.
#[derive(Clone)]
pub(crate) struct Call(Arc<Facts>);

struct Facts {
    address: IpAddr,
    connection: Option<Connection>,
    holder: OnceLock<Holder>,
}

impl Call {
    /// A call on `connection`, which a test may do without.
    pub(super) fn new(connection: Option<Connection>, headers: &HeaderMap, proxies: &[Network]) -> Self {
        let peer = connection.as_ref().map(Connection::peer);
        let peer = peer.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
        Self(Arc::new(Facts {
            address: client_address(peer, headers, proxies),
            connection,
            holder: OnceLock::new(),
        }))
    }

    /// Of the request with these extensions.
    pub(crate) fn of(extensions: &Extensions) -> Self {
        let found = extensions.get::<Self>().cloned();
        // Every route lies behind the layer that adds it.
        found.unwrap_or_else(|| Self::new(None, &HeaderMap::new(), &[]))
    }

    /// Remembers who calls.
    pub(crate) fn note(parts: &Parts, principal: &Principal) {
        if let (Some(call), Some(holder)) = (parts.extensions.get::<Self>(), Holder::of(principal)) {
            // Only the first counts: there is one caller.
            let _ = call.0.holder.set(holder);
        }
    }

    /// The client's address, as far as it can be told.
    pub(crate) fn address(&self) -> IpAddr {
        self.0.address
    }

    /// For whom this call holds what it holds.
    pub(crate) fn holder(&self) -> Holder {
        let known = self.0.holder.get().copied();
        known.unwrap_or(Holder::Address(self.0.address))
    }

    pub(super) fn connection(&self) -> Option<&Connection> {
        self.0.connection.as_ref()
    }
}

/// The nearest address that is not a trusted proxy's: what stands further off, anybody could have written.
fn client_address(peer: IpAddr, headers: &HeaderMap, proxies: &[Network]) -> IpAddr {
    let is_proxy = |address: IpAddr| proxies.iter().any(|network| network.contains(address));
    let forwarded = headers.get_all("x-forwarded-for").iter();
    let forwarded = forwarded.map(|value| value.to_str().unwrap_or_default());
    let hops: Vec<&str> = forwarded.flat_map(|value| value.split(',')).collect();
    let mut nearest = peer.to_canonical();
    for hop in hops.into_iter().rev() {
        if !is_proxy(nearest) {
            break;
        }
        match hop.trim().parse::<IpAddr>() {
            Ok(address) => nearest = address.to_canonical(),
            Err(_) => break,
        }
    }
    nearest
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderMap;
    use hub_platform::config::Network;

    use super::client_address;

    #[test]
    fn only_what_a_trusted_proxy_says_is_believed() {
        let proxies: Vec<Network> = ["10.0.0.0/8", "::1"].map(|text| text.parse().unwrap()).into();
        let cases = [
            ("203.0.113.7", &["198.51.100.1"][..], "203.0.113.7"),
            ("10.1.2.3", &[], "10.1.2.3"),
            ("10.1.2.3", &["198.51.100.1"], "198.51.100.1"),
            ("::ffff:10.1.2.3", &["198.51.100.1"], "198.51.100.1"),
            ("::1", &["1.1.1.1, 198.51.100.1, 10.9.9.9"], "198.51.100.1"),
            ("10.1.2.3", &["1.1.1.1", "198.51.100.1"], "198.51.100.1"),
            ("10.1.2.3", &["1.1.1.1, unknown"], "10.1.2.3"),
            ("10.1.2.3", &["10.4.4.4"], "10.4.4.4"),
        ];
        for (peer, forwarded, expected) in cases {
            let mut headers = HeaderMap::new();
            for value in forwarded {
                headers.append("x-forwarded-for", value.parse().unwrap());
            }
            let found = client_address(peer.parse().unwrap(), &headers, &proxies);
            assert_eq!(found.to_string(), expected, "{peer} {forwarded:?}");
        }
        let mut headers = HeaderMap::new();
        headers.append("x-forwarded-for", "1.1.1.1".parse().unwrap());
        let peer = "10.1.2.3".parse().unwrap();
        assert_eq!(client_address(peer, &headers, &[]), peer);
    }
}
