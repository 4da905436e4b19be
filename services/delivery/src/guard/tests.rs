//! The client against listeners of the test's own, and against addresses that must never be touched.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::*;

/// Long enough for an answer on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(3);

fn guard(development: bool, answer: &'static [&'static str]) -> Guard {
    guard_within(TIMEOUT, development, answer)
}

fn guard_within(timeout: Duration, development: bool, answer: &'static [&'static str]) -> Guard {
    let lookup: Lookup = Arc::new(move |name| {
        Box::pin(async move {
            if name.starts_with("unknown") {
                return Err(std::io::Error::other("no such name"));
            }
            Ok(answer
                .iter()
                .map(|text| text.parse::<IpAddr>().unwrap())
                .collect())
        })
    });
    let options = Options {
        development,
        timeout,
        body_bytes_max: 64,
        idle_per_host_max: 2,
        extra_ca_file: None,
    };
    Guard::with_lookup(&options, lookup).unwrap()
}

/// A listener that says `answer` to each connection and counts them; an empty answer leaves them hanging.
async fn listener(answer: &'static str) -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let connections = Arc::new(AtomicUsize::new(0));
    let counter = connections.clone();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            counter.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(async move {
                let mut request = [0; 4096];
                let _ = stream.read(&mut request).await;
                let _ = stream.write_all(answer.as_bytes()).await;
                // Hold the connection open: nothing here may depend on the other side hanging up.
                tokio::time::sleep(Duration::from_mins(1)).await;
            });
        }
    });
    (port, connections)
}

async fn post(guard: &Guard, url: &str) -> Result<Reply, Failure> {
    guard.post(url, HeaderMap::new(), Bytes::from_static(b"{}")).await
}

#[tokio::test]
async fn a_status_is_an_answer_whatever_it_is() {
    let cases = [
        ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok", 200),
        ("HTTP/1.1 204 No Content\r\n\r\n", 204),
        (
            "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n",
            302,
        ),
        ("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n", 404),
        // The body never comes, or is nonsense.
        ("HTTP/1.1 503 Busy\r\ncontent-length: 10\r\n\r\n", 503),
        (
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nnonsense",
            200,
        ),
    ];
    let guard = guard(true, &["127.0.0.1"]);
    let checks = cases.map(async |(answer, status)| {
        let (port, _) = listener(answer).await;
        let reply = post(&guard, &format!("http://agent.example:{port}/")).await;
        assert_eq!(reply.map(|reply| reply.status), Ok(status), "{answer}");
    });
    futures_util::future::join_all(checks).await;
}

#[tokio::test]
async fn the_deadline_covers_an_answer_that_does_not_come() {
    let (port, connections) = listener("").await;
    let guard = guard_within(Duration::from_millis(300), true, &["127.0.0.1"]);
    let failure = post(&guard, &format!("http://agent.example:{port}/")).await;
    assert_eq!(failure, Err(Failure::Timeout));
    assert_eq!(connections.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn failures_are_told_apart() {
    let (port, _) = listener("this is not http\r\n\r\n").await;
    let development = guard(true, &["127.0.0.1"]);
    assert_eq!(
        post(&development, &format!("http://agent.example:{port}/")).await,
        Err(Failure::Protocol)
    );
    assert_eq!(
        post(&development, &format!("https://agent.example:{port}/")).await,
        Err(Failure::Tls)
    );
    assert_eq!(
        post(&development, "http://unknown.example/").await,
        Err(Failure::Dns)
    );
    let closed = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .await
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    assert_eq!(
        post(&development, &format!("http://127.0.0.1:{closed}/")).await,
        Err(Failure::Connect)
    );
}

#[tokio::test]
async fn what_may_not_be_called_is_never_touched() {
    let (port, connections) = listener("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    for host in [
        "127.0.0.1",
        "2130706433",
        "0177.0.0.1",
        "0x7f.1",
        "127.1",
        "127.0.0.1.",
        "１２７.0.0.1",
        "127。0。0。1",
        "0",
        "localhost",
        "agent.example",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "169.254.169.254",
        "%31%32%37.0.0.1",
    ] {
        let url = format!("https://{host}:{port}/");
        let failure = post(&guard(false, &["127.0.0.1"]), &url).await;
        assert_eq!(failure, Err(Failure::RefusedAddress), "{host}");
    }
    for url in [
        "http://agent.example/",
        "ftp://agent.example/",
        "https://user@agent.example/",
        "https://",
        "x",
    ] {
        assert_eq!(
            post(&guard(false, &["1.1.1.1"]), url).await,
            Err(Failure::InvalidUrl),
            "{url}"
        );
    }
    // Also a development hub calls no metadata service.
    let metadata = post(&guard(true, &["169.254.169.254"]), "http://agent.example/").await;
    assert_eq!(metadata, Err(Failure::RefusedAddress));
    assert_eq!(
        post(&guard(true, &[]), "http://169.254.169.254/").await,
        Err(Failure::RefusedAddress)
    );
    assert_eq!(connections.load(Ordering::SeqCst), 0);
}
