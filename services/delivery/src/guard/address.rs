//! Which addresses the hub may connect to (§9.4). A pure decision, with its table of cases below.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What kind of place an address is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AddressClass {
    /// Reachable by anyone: the only kind that is called in production.
    Public,
    /// The host itself.
    Loopback,
    /// A private network (RFC 1918), or a unique-local one (RFC 4193).
    Private,
    /// Link-local, where cloud metadata services listen, and metadata addresses that lie elsewhere.
    LinkLocal,
    /// Shared between a carrier and its customers (RFC 6598).
    Shared,
    /// For benchmarks between network devices (RFC 2544, RFC 5180).
    Benchmarking,
    /// Reserved, for documentation, or handed to a protocol of its own.
    Reserved,
    /// A group of hosts.
    Multicast,
    /// No host in particular.
    Unspecified,
    /// Every host of the link.
    Broadcast,
    /// An IPv6 form that carries an IPv4 address, whichever it is.
    EmbeddedV4,
    /// Site-local (RFC 3879, withdrawn).
    SiteLocal,
}

impl AddressClass {
    /// As it is kept with an attempt, and counted.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Loopback => "loopback",
            Self::Private => "private",
            Self::LinkLocal => "link_local",
            Self::Shared => "shared",
            Self::Benchmarking => "benchmarking",
            Self::Reserved => "reserved",
            Self::Multicast => "multicast",
            Self::Unspecified => "unspecified",
            Self::Broadcast => "broadcast",
            Self::EmbeddedV4 => "embedded_v4",
            Self::SiteLocal => "site_local",
        }
    }
}

/// The kind of place `address` is.
pub(crate) fn classify(address: IpAddr) -> AddressClass {
    match address {
        IpAddr::V4(address) => classify_v4(address),
        IpAddr::V6(address) => classify_v6(address),
    }
}

/// Serves the host of a virtual machine on one large cloud, from an address that is otherwise public.
const WIRE_SERVER: Ipv4Addr = Ipv4Addr::new(168, 63, 129, 16);

fn classify_v4(address: Ipv4Addr) -> AddressClass {
    match address.octets() {
        _ if address == WIRE_SERVER => AddressClass::LinkLocal,
        [0, ..] => AddressClass::Unspecified,
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => AddressClass::Private,
        [100, 64..=127, ..] => AddressClass::Shared,
        [127, ..] => AddressClass::Loopback,
        [169, 254, ..] => AddressClass::LinkLocal,
        [198, 18..=19, ..] => AddressClass::Benchmarking,
        // Protocol assignments, the relays of 6to4, and the three nets of documentation.
        [192, 0, 0 | 2, _] | [192, 88, 99, _] | [198, 51, 100, _] | [203, 0, 113, _] => {
            AddressClass::Reserved
        }
        [224..=239, ..] => AddressClass::Multicast,
        [255, 255, 255, 255] => AddressClass::Broadcast,
        [240..=255, ..] => AddressClass::Reserved,
        _ => AddressClass::Public,
    }
}

fn classify_v6(address: Ipv6Addr) -> AddressClass {
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => AddressClass::Unspecified,
        [0, 0, 0, 0, 0, 0, 0, 1] => AddressClass::Loopback,
        segments if carries_v4(segments) => AddressClass::EmbeddedV4,
        [0x2001, 2, 0, ..] => AddressClass::Benchmarking,
        // Handed to protocols, and documentation.
        [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => AddressClass::Reserved,
        [0xfc00..=0xfdff, ..] => AddressClass::Private,
        [0xfe80..=0xfebf, ..] => AddressClass::LinkLocal,
        [0xfec0..=0xfeff, ..] => AddressClass::SiteLocal,
        [0xff00..=0xffff, ..] => AddressClass::Multicast,
        // All that is routed between networks lies in here; the rest is not given out.
        [0x2000..=0x3fff, ..] => AddressClass::Public,
        _ => AddressClass::Reserved,
    }
}

/// A gateway on the way may turn any of these into the IPv4 address they carry.
fn carries_v4(segments: [u16; 8]) -> bool {
    let compatible_or_mapped = matches!(segments, [0, 0, 0, 0, 0, 0 | 0xffff, ..]);
    let translated = matches!(segments, [0, 0, 0, 0, 0xffff, 0, ..]);
    let nat64 = matches!(segments, [0x64, 0xff9b, 0, 0, 0, 0, ..] | [0x64, 0xff9b, 1, ..]);
    let teredo = matches!(segments, [0x2001, 0, ..]);
    let six_to_four = matches!(segments, [0x2002, ..]);
    // Below any prefix, with both settings of the universal bit.
    let isatap = matches!(segments, [_, _, _, _, 0 | 0x200, 0x5efe, ..]);
    compatible_or_mapped || translated || nat64 || teredo || six_to_four || isatap
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(class: AddressClass, addresses: &[&str]) {
        for text in addresses {
            let address: IpAddr = text.parse().unwrap();
            assert_eq!(classify(address), class, "{text}");
        }
    }

    #[test]
    fn v4_is_classified_up_to_the_edges_of_each_range() {
        check(
            AddressClass::Public,
            &[
                "1.1.1.1",
                "9.255.255.255",
                "11.0.0.0",
                "100.63.255.255",
                "100.128.0.0",
                "126.255.255.255",
                "128.0.0.0",
                "168.63.129.15",
                "169.253.255.255",
                "169.255.0.0",
                "172.15.255.255",
                "172.32.0.0",
                "192.0.1.0",
                "192.0.3.0",
                "192.88.98.255",
                "192.167.255.255",
                "192.169.0.0",
                "198.17.255.255",
                "198.20.0.0",
                "203.0.112.255",
                "223.255.255.255",
            ],
        );
        check(
            AddressClass::Unspecified,
            &["0.0.0.0", "0.1.2.3", "0.255.255.255"],
        );
        check(
            AddressClass::Loopback,
            &["127.0.0.1", "127.0.0.0", "127.255.255.255"],
        );
        check(
            AddressClass::Private,
            &[
                "10.0.0.0",
                "10.255.255.255",
                "172.16.0.0",
                "172.31.255.255",
                "192.168.0.0",
                "192.168.255.255",
            ],
        );
        check(
            AddressClass::LinkLocal,
            &[
                "169.254.0.0",
                "169.254.169.254",
                "169.254.255.255",
                "168.63.129.16",
            ],
        );
        check(
            AddressClass::Shared,
            &["100.64.0.0", "100.100.100.200", "100.127.255.255"],
        );
        check(AddressClass::Benchmarking, &["198.18.0.0", "198.19.255.255"]);
        check(
            AddressClass::Reserved,
            &[
                "192.0.0.0",
                "192.0.0.192",
                "192.0.2.1",
                "192.88.99.1",
                "198.51.100.7",
                "203.0.113.9",
                "240.0.0.0",
                "255.255.255.254",
            ],
        );
        check(AddressClass::Multicast, &["224.0.0.0", "239.255.255.255"]);
        check(AddressClass::Broadcast, &["255.255.255.255"]);
    }

    #[test]
    fn v6_is_classified_up_to_the_edges_of_each_range() {
        check(
            AddressClass::Public,
            &[
                "2000::1",
                "2001:200::1",
                "2001:4860:4860::8888",
                "2001:db7::1",
                "2001:db9::1",
                "2003::1",
                "2606:4700::1111",
                "3ffe::1",
                "3fff:1000::1",
            ],
        );
        check(AddressClass::Unspecified, &["::"]);
        check(AddressClass::Loopback, &["::1"]);
        check(
            AddressClass::EmbeddedV4,
            &[
                "::2",
                "::127.0.0.1",
                "::8.8.8.8",
                "::ffff:127.0.0.1",
                "::ffff:8.8.8.8",
                "::ffff:0:10.0.0.1",
                "64:ff9b::10.0.0.1",
                "64:ff9b::8.8.8.8",
                "64:ff9b:1::a00:1",
                "64:ff9b:1:ffff::1",
                "2001::1",
                "2001:0:7f00:1::",
                "2002:7f00:1::",
                "2002:808:808::1",
                "2606:4700::5efe:10.0.0.1",
                "2606:4700::200:5efe:10.0.0.1",
                "fe80::5efe:10.0.0.1",
            ],
        );
        check(AddressClass::Benchmarking, &["2001:2::1"]);
        check(
            AddressClass::Reserved,
            &[
                "100::1",
                "2001:1::1",
                "2001:10::1",
                "2001:20::1",
                "2001:1ff::1",
                "2001:db8::1",
                "3fff::1",
                "3fff:fff::1",
                "4000::1",
                "5f00::1",
                "64:ff9b:2::1",
                "1fff::1",
                "fbff::1",
                "fe00::1",
            ],
        );
        check(AddressClass::Private, &["fc00::1", "fd00:ec2::254", "fdff::1"]);
        check(AddressClass::LinkLocal, &["fe80::1", "febf::1"]);
        check(AddressClass::SiteLocal, &["fec0::1", "feff::1"]);
        check(AddressClass::Multicast, &["ff02::1", "ffff::1"]);
    }
}
