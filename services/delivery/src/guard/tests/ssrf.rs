//! The addresses that are refused at delivery time, whatever the spelling or the trick of the name system (§9.4), with
//! a listener on loopback that must never be touched.

use std::sync::atomic::Ordering;

use super::*;

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

/// Each kind of place, and addresses of it. Each is tried as a name's answer, beside good ones, and in the URL.
const REFUSED: [(&str, &[&str]); 20] = [
    ("loopback", &["127.0.0.1", "127.255.255.254", "::1"]),
    (
        "private",
        &["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1"],
    ),
    ("link-local", &["169.254.0.1", "fe80::1", "febf::1"]),
    (
        "metadata",
        &[
            "169.254.169.254",
            "168.63.129.16",
            "100.100.100.200",
            "192.0.0.192",
            "fd00:ec2::254",
        ],
    ),
    ("shared", &["100.64.0.1", "100.127.255.255"]),
    ("benchmarking", &["198.18.0.1", "198.19.255.255", "2001:2::1"]),
    (
        "reserved, documentation",
        &[
            "192.0.2.1",
            "198.51.100.1",
            "203.0.113.1",
            "240.0.0.1",
            "2001:db8::1",
            "3fff::1",
            "100::1",
            "5f00::1",
        ],
    ),
    ("multicast", &["224.0.0.1", "239.255.255.255", "ff02::1"]),
    ("unspecified", &["0.0.0.0", "0.1.2.3", "::"]),
    ("broadcast", &["255.255.255.255"]),
    (
        "v4-mapped",
        &["::ffff:127.0.0.1", "::ffff:8.8.8.8", "::ffff:a9fe:a9fe"],
    ),
    ("v4-compatible", &["::127.0.0.1", "::8.8.8.8"]),
    ("v4-translated", &["::ffff:0:127.0.0.1"]),
    ("6to4", &["2002:7f00:1::", "2002:a9fe:a9fe::1", "2002:808:808::1"]),
    ("teredo", &["2001:0:7f00:1::", "2001::1"]),
    (
        "nat64, well-known prefix",
        &["64:ff9b::127.0.0.1", "64:ff9b::8.8.8.8"],
    ),
    ("nat64, local prefix", &["64:ff9b:1::7f00:1", "64:ff9b:1:ffff::1"]),
    (
        "isatap",
        &["2606:4700::5efe:127.0.0.1", "2606:4700::200:5efe:127.0.0.1"],
    ),
    ("site-local", &["fec0::1", "feff::1"]),
    ("unique-local", &["fc00::1", "fdff::1"]),
];

/// Spellings of loopback and of the metadata service that a parser of URLs takes for an address.
const SPELLINGS: [(&str, &[&str]); 9] = [
    ("decimal", &["2130706433", "2852039166"]),
    ("octal", &["0177.0.0.1", "017700000001", "0251.0376.0251.0376"]),
    ("hexadecimal", &["0x7f.1", "0x7f000001", "0xA9FEA9FE"]),
    ("short", &["127.1", "127.0.1", "0"]),
    ("trailing dot", &["127.0.0.1.", "2130706433.", "localhost."]),
    (
        "percent-encoded",
        &["%31%32%37.0.0.1", "127%2e0%2e0%2e1", "%6cocalhost"],
    ),
    ("full-width", &["１２７.0.0.1", "127。0。0。1", "①②⑦.0.0.1"]),
    (
        "v6 in full",
        &["[0:0:0:0:0:0:0:1]", "[::FFFF:7F00:1]", "[0000::0001]"],
    ),
    ("name", &["localhost", "LOCALHOST", "agent.example"]),
];

#[tokio::test]
async fn no_kind_of_inner_address_is_ever_touched() {
    let (port, connections) = listener(OK).await;
    let names = Scripted::always(&["1.1.1.1"]);
    let guard = guard_with(TIMEOUT, false, names.clone());
    for (kind, addresses) in REFUSED {
        for address in addresses {
            let literal = if address.contains(':') {
                format!("[{address}]")
            } else {
                (*address).to_owned()
            };
            let outcome = post(&guard, &format!("https://{literal}:{port}/")).await;
            assert_eq!(
                outcome,
                Err(Failure::RefusedAddress),
                "{kind}: {address} in the url"
            );
            // One bad address spoils the good ones, wherever it stands.
            for answer in [
                vec![*address],
                vec!["1.1.1.1", address],
                vec![address, "2606:4700::1111"],
            ] {
                names.answer(&answer);
                let outcome = post(&guard, &format!("https://agent.example:{port}/")).await;
                assert_eq!(
                    outcome,
                    Err(Failure::RefusedAddress),
                    "{kind}: a name with {answer:?}"
                );
            }
        }
    }
    assert_eq!(connections.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn no_spelling_gets_around_the_refusal() {
    let (port, connections) = listener(OK).await;
    let guard = guard(false, &["127.0.0.1"]);
    for (kind, hosts) in SPELLINGS {
        for host in hosts {
            let url = format!("https://{host}:{port}/");
            let outcome = post(&guard, &url).await;
            assert_eq!(outcome, Err(Failure::RefusedAddress), "{kind}: {host}");
        }
    }
    // A zone has no place in a URL.
    for host in ["[fe80::1%25eth0]", "[fe80::1%eth0]", "[::1%25lo]"] {
        let outcome = post(&guard, &format!("https://{host}:{port}/")).await;
        assert_eq!(outcome, Err(Failure::InvalidUrl), "{host}");
    }
    assert_eq!(connections.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn development_opens_loopback_and_private_only() {
    let (port, connections) = listener(OK).await;
    let metadata = [
        "169.254.169.254",
        "::ffff:127.0.0.1",
        "64:ff9b::7f00:1",
        "0.0.0.0",
    ];
    for address in metadata {
        let outcome = post(
            &guard(true, &["127.0.0.1", address]),
            &format!("http://agent.example:{port}/"),
        )
        .await;
        assert_eq!(outcome, Err(Failure::RefusedAddress), "{address}");
    }
    assert_eq!(connections.load(Ordering::SeqCst), 0);
}

/// The name is asked once for each connection, and what was checked is connected to: there is no second answer to
/// change one's mind with. The next connection is checked anew.
#[tokio::test]
async fn a_name_that_changes_its_answer_gains_nothing() {
    // Hangs up after each answer, so that each call needs a connection of its own.
    let (port, connections) =
        listener("HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").await;
    let names = Scripted::in_turn(&[&["127.0.0.1"], &["169.254.169.254"], &["127.0.0.1"]]);
    let guard = guard_with(TIMEOUT, true, names.clone());
    let url = format!("http://agent.example:{port}/");

    assert_eq!(post(&guard, &url).await.map(|reply| reply.status), Ok(200));
    assert_eq!(names.asked(), 1);
    assert_eq!(post(&guard, &url).await, Err(Failure::RefusedAddress));
    assert_eq!(names.asked(), 2);
    assert_eq!(connections.load(Ordering::SeqCst), 1);
    assert_eq!(post(&guard, &url).await.map(|reply| reply.status), Ok(200));
    assert_eq!(connections.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_redirect_to_an_inner_address_is_not_followed() {
    let (inner, touched) = listener(OK).await;
    let location = format!(
        "HTTP/1.1 307 Temporary Redirect\r\nlocation: http://127.0.0.1:{inner}/\r\n\
         content-length: 0\r\nconnection: close\r\n\r\n"
    );
    let (port, _) = listener(location.leak()).await;
    let guard = guard(true, &["127.0.0.1"]);
    let url = format!("http://agent.example:{port}/");
    assert_eq!(post(&guard, &url).await.map(|reply| reply.status), Ok(307));
    let page = guard.get(&url, 64, TIMEOUT).await.unwrap();
    assert_eq!(page.status, 307);
    assert_eq!(touched.load(Ordering::SeqCst), 0);
}

/// The environment of a process cannot be changed from within a test, so the one of another is.
#[tokio::test]
async fn proxies_of_the_environment_are_passed_by() {
    const INNER: &str = "HUB_TEST_GUARD_URL";
    if let Ok(url) = std::env::var(INNER) {
        assert_eq!(
            post(&guard(true, &["127.0.0.1"]), &url)
                .await
                .map(|reply| reply.status),
            Ok(200)
        );
        return;
    }
    let (port, direct) = listener(OK).await;
    let (proxy, proxied) = listener(OK).await;
    let proxy = format!("http://127.0.0.1:{proxy}");
    let test = "guard::tests::ssrf::proxies_of_the_environment_are_passed_by";
    let mut again = tokio::process::Command::new(std::env::current_exe().unwrap());
    again
        .args([test, "--exact"])
        .env(INNER, format!("http://agent.example:{port}/"));
    for variable in [
        "http_proxy",
        "HTTP_PROXY",
        "https_proxy",
        "ALL_PROXY",
        "all_proxy",
    ] {
        again.env(variable, &proxy);
    }
    let ended = again.output().await.unwrap();
    assert!(
        ended.status.success(),
        "{}",
        String::from_utf8_lossy(&ended.stdout)
    );
    assert_eq!(
        (direct.load(Ordering::SeqCst), proxied.load(Ordering::SeqCst)),
        (1, 0)
    );
}
