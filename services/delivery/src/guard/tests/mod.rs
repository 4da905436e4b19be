//! The client against listeners of the test's own, and against addresses that must never be touched.

mod names;
mod ssrf;

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::*;
use names::Scripted;

/// Long enough for an answer on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The same, where a call does wait that long.
const WAITED: Duration = Duration::from_secs(1);

fn guard(development: bool, answer: &[&str]) -> Guard {
    guard_with(TIMEOUT, development, Scripted::always(answer))
}

fn guard_with(timeout: Duration, development: bool, names: Scripted) -> Guard {
    let options = Options {
        development,
        timeout,
        body_bytes_max: 64,
        idle_per_host_max: 2,
        extra_ca_file: None,
        dns_servers: &[],
    };
    Guard::with_names(&options, Arc::new(names)).unwrap()
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
    posted(guard, url).await.result
}

async fn posted(guard: &Guard, url: &str) -> Posted {
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
    let guard = guard_with(WAITED, true, Scripted::always(&["127.0.0.1"]));
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
    let guard = guard_with(Duration::from_millis(300), true, Scripted::always(&["127.0.0.1"]));
    let failure = post(&guard, &format!("http://agent.example:{port}/")).await;
    assert_eq!(failure, Err(Failure::Timeout));
    assert_eq!(connections.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn the_deadline_covers_the_lookup_of_a_name() {
    let guard = guard_with(Duration::from_millis(300), true, Scripted::always(&["127.0.0.1"]));
    let failure = post(&guard, "http://silent.example/").await;
    assert_eq!(failure, Err(Failure::Timeout));
}

/// What is too long is hung up on, so that nobody feeds the hub for as long as its deadline lasts.
#[tokio::test]
async fn an_answer_beyond_the_bound_is_not_read_on() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let fed = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = [0; 4096];
        assert!(stream.read(&mut request).await.unwrap() > 0);
        let head = b"HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\n";
        stream.write_all(head).await.unwrap();
        // Ends when the other side hangs up, as it must.
        while stream.write_all(&[b'x'; 1024]).await.is_ok() {}
    });
    let reply = post(
        &guard(true, &["127.0.0.1"]),
        &format!("http://agent.example:{port}/"),
    )
    .await;
    assert_eq!(reply.map(|reply| reply.status), Ok(200));
    fed.await.unwrap();
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

/// Of every attempt that came to an address, for the operator.
#[tokio::test]
async fn it_is_known_what_kind_of_place_a_call_came_to() {
    const OK: &str = "HTTP/1.1 204 No Content\r\n\r\n";
    let (port, _) = listener(OK).await;
    let (silent, _) = listener("").await;
    let hasty = |development, answer: &[&str]| {
        let timeout = Duration::from_millis(300);
        guard_with(timeout, development, Scripted::always(answer))
    };
    let near = hasty(true, &["127.0.0.1"]);
    let loopback = Some(AddressClass::Loopback);
    let cases = [
        (&near, format!("http://agent.example:{port}/"), loopback),
        (&near, format!("http://agent.example:{port}/"), loopback),
        (&near, format!("http://127.0.0.1:{port}/"), loopback),
        (&near, format!("http://agent.example:{silent}/"), loopback),
        (&near, format!("https://agent.example:{port}/"), loopback),
        (
            &near,
            "http://[fe80::1]/".to_owned(),
            Some(AddressClass::LinkLocal),
        ),
        (&near, "http://unknown.example/".to_owned(), None),
        (&near, "http://silent.example/".to_owned(), None),
        (&near, "ftp://127.0.0.1/".to_owned(), None),
        (
            &hasty(false, &["1.1.1.1", "169.254.169.254"]),
            "https://agent.example/".to_owned(),
            Some(AddressClass::LinkLocal),
        ),
    ];
    for (guard, url, class) in cases {
        assert_eq!(posted(guard, &url).await.address, class, "{url}");
    }
}

#[tokio::test]
async fn what_is_no_url_to_call_is_not_called() {
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
}

#[tokio::test]
async fn a_page_is_read_up_to_its_bound_and_no_further() {
    const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\n12345678";
    // The page goes on, and never ends.
    const ENDLESS: &str = "HTTP/1.1 200 OK\r\ncontent-length: 999999\r\n\r\n12345678";
    const ZIPPED: &str = "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\nabcd";
    let guard = guard(true, &["127.0.0.1"]);
    for (answer, bytes_max, body) in [
        (OK, 64, "12345678"),
        (OK, 3, "123"),
        (ENDLESS, 8, "12345678"),
        (ZIPPED, 64, "abcd"),
    ] {
        let (port, _) = listener(answer).await;
        let page = guard
            .get(&format!("http://agent.example:{port}/"), bytes_max, TIMEOUT)
            .await
            .unwrap();
        assert_eq!((page.status, page.body.as_slice()), (200, body.as_bytes()));
    }
    let (port, _) = listener(ENDLESS).await;
    let url = format!("http://agent.example:{port}/");
    let page = guard.get(&url, 64, Duration::from_millis(300)).await;
    assert_eq!(page, Err(Failure::Timeout));
}

/// What is asked for in a request is nothing but what the call needs: no encoding that would have to be undone.
#[tokio::test]
async fn a_request_carries_no_more_than_it_must() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let request = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = vec![0; 4096];
        let length = stream.read(&mut request).await.unwrap();
        stream
            .write_all(b"HTTP/1.1 204 No Content\r\n\r\n")
            .await
            .unwrap();
        String::from_utf8(request[..length].to_vec()).unwrap()
    });
    let guard = guard(true, &["127.0.0.1"]);
    let page = guard
        .get(&format!("http://agent.example:{port}/x"), 64, TIMEOUT)
        .await;
    assert_eq!(page.unwrap().status, 204);
    let request = request.await.unwrap().to_lowercase();
    let mut names: Vec<_> = request
        .lines()
        .skip(1)
        .filter_map(|line| Some(line.split_once(':')?.0))
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["accept", "host", "user-agent"], "{request}");
}
