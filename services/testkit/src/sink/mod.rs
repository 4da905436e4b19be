//! An agent's callback endpoint, which records what it gets and fails on demand.

mod answer;
mod server;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::{HeaderMap, Method};
use time::OffsetDateTime;
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};

pub use answer::Answer;

use crate::certificates::{self, Certificates};
use crate::eventually::DEADLINE;

/// One request, as it came in.
#[derive(Clone, Debug)]
pub struct Received {
    /// Its method.
    pub method: Method,
    /// Path and query.
    pub path: String,
    /// Its headers.
    pub headers: HeaderMap,
    /// The body, byte for byte.
    pub body: Bytes,
    /// When all of it was there.
    pub at: OffsetDateTime,
    /// What it is answered.
    pub answer: Answer,
}

impl Received {
    /// A header's value, if it is there and is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The body as text.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("a callback's body is UTF-8")
    }

    /// The body as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).expect("a callback's body is JSON")
    }
}

/// Listens on loopback until it is dropped.
pub struct CallbackSink {
    address: SocketAddr,
    scheme: &'static str,
    shared: Arc<Shared>,
    _running: DropGuard,
}

struct Shared {
    script: Mutex<Script>,
    received: watch::Sender<Vec<Received>>,
}

/// What to answer: the next in turn, and when none is left always the same.
struct Script {
    next: VecDeque<Answer>,
    otherwise: Answer,
}

impl CallbackSink {
    /// A sink for plain HTTP.
    pub async fn http() -> Self {
        Self::start(None).await
    }

    /// A sink with a certificate of the authority that test hubs trust.
    pub async fn https() -> Self {
        Self::start(Some(certificates::of_this_run())).await
    }

    async fn start(certificates: Option<Certificates>) -> Self {
        let shared = Arc::new(Shared {
            script: Mutex::new(Script {
                next: VecDeque::new(),
                otherwise: Answer::Status(204),
            }),
            received: watch::Sender::new(Vec::new()),
        });
        let scheme = if certificates.is_some() { "https" } else { "http" };
        let stop = CancellationToken::new();
        let address = server::start(certificates, Arc::clone(&shared), stop.clone()).await;
        Self {
            address,
            scheme,
            shared,
            _running: stop.drop_guard(),
        }
    }

    /// A URL of this sink; `path` begins with a slash.
    pub fn url(&self, path: &str) -> String {
        format!("{}://{}{path}", self.scheme, self.address)
    }

    /// Host and port, as a callback host is registered.
    pub fn host(&self) -> String {
        self.address.to_string()
    }

    /// Answers the coming requests with these, one each and in this order.
    pub fn then(&self, answers: impl IntoIterator<Item = Answer>) {
        self.shared.script().next.extend(answers);
    }

    /// Answers every request from now on with this, once the ones in turn are used up.
    pub fn always(&self, answer: Answer) {
        self.shared.script().otherwise = answer;
    }

    /// Answers every request from now on well, also if others were in turn.
    pub fn recover(&self) {
        let mut script = self.shared.script();
        script.next.clear();
        script.otherwise = Answer::Status(204);
    }

    /// Everything that came in so far.
    pub fn received(&self) -> Vec<Received> {
        self.shared.received.borrow().clone()
    }

    /// What came in after so many requests, as soon as something has.
    pub async fn beyond(&self, count: usize) -> Vec<Received> {
        let mut received = self.shared.received.subscribe();
        // The sink holds the other end.
        let more = received.wait_for(|all| all.len() > count).await;
        more.map(|all| all[count..].to_vec()).unwrap_or_default()
    }

    /// Waits until at least `count` requests have come in, and returns all.
    pub async fn await_received(&self, count: usize) -> Vec<Received> {
        self.awaiting(&format!("{count} callbacks"), |all| {
            (all.len() >= count).then(|| all.to_vec())
        })
        .await
    }

    /// Waits for the first request that fits.
    pub async fn await_request(&self, what: &str, fits: impl Fn(&Received) -> bool) -> Received {
        self.awaiting(what, |all| all.iter().find(|request| fits(request)).cloned())
            .await
    }

    async fn awaiting<T>(&self, what: &str, find: impl Fn(&[Received]) -> Option<T>) -> T {
        let mut received = self.shared.received.subscribe();
        let waiting = async {
            loop {
                if let Some(found) = find(&received.borrow_and_update()) {
                    return found;
                }
                received.changed().await.expect("the sink outlives its waiters");
            }
        };
        tokio::time::timeout(DEADLINE, waiting).await.unwrap_or_else(|_| {
            panic!(
                "waited in vain for {what}; {} callbacks came",
                self.received().len()
            )
        })
    }
}

impl Shared {
    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn record(&self, request: Received) {
        self.received.send_modify(|all| all.push(request));
    }

    fn next_answer(&self) -> Answer {
        let mut script = self.script();
        script
            .next
            .pop_front()
            .unwrap_or_else(|| script.otherwise.clone())
    }
}
