//! An agent's callback: it keeps what it gets and answers as it is told.

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use reqwest::header::HeaderMap;
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::fault::Liar;
use super::verdict::{Tried, Verdict};

/// Longest that a check waits for a delivery: beyond the longest usual delay between attempts.
const DELIVERY_WITHIN: Duration = Duration::from_secs(90);

/// What to do with one request.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// A status and no body.
    Status(u16),
    /// 302 to somewhere else.
    Redirect(String),
    /// Closes the connection.
    Close,
}

/// One request, as it came in.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Push {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

/// Listens until it is dropped.
pub(crate) struct Receiver {
    address: SocketAddr,
    shared: Arc<Shared>,
    serving: JoinHandle<()>,
}

struct Shared {
    script: Mutex<VecDeque<Answer>>,
    received: watch::Sender<Vec<Push>>,
    liar: Option<Arc<Liar>>,
}

impl Push {
    pub(crate) fn header(&self, name: &str) -> Tried<&str> {
        let value = self.headers.get(name).and_then(|value| value.to_str().ok());
        value.ok_or_else(|| Verdict::Failed(format!("the push has no {name}")))
    }

    pub(crate) fn json(&self) -> Tried<Value> {
        let parsed = serde_json::from_str(&self.body);
        parsed.map_err(|error| Verdict::Failed(format!("the push is no JSON ({error}): {}", self.body)))
    }
}

impl Receiver {
    /// Listens on a free port of this address.
    pub(crate) async fn start(address: IpAddr, liar: Option<Arc<Liar>>) -> Tried<Self> {
        let shared = Arc::new(Shared {
            script: Mutex::default(),
            received: watch::Sender::new(Vec::new()),
            liar,
        });
        let bound = async {
            let listener = TcpListener::bind((address, 0)).await?;
            Ok::<_, io::Error>((listener.local_addr()?, listener))
        };
        let (address, listener) = bound
            .await
            .map_err(|error| Verdict::Skipped(format!("cannot listen at {address}: {error}")))?;
        let serving = tokio::spawn(serve(listener, Arc::clone(&shared)));
        Ok(Self {
            address,
            shared,
            serving,
        })
    }

    /// A URL here; the path begins with a slash.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Host and port, as a callback host is registered.
    pub(crate) fn host(&self) -> String {
        self.address.to_string()
    }

    /// Answers the coming requests with these, one each; all others with 204.
    pub(crate) fn then(&self, answers: impl IntoIterator<Item = Answer>) {
        self.shared.script().extend(answers);
    }

    /// What came so far.
    pub(crate) fn received(&self) -> Vec<Push> {
        self.shared.received.borrow().clone()
    }

    /// Waits until so many requests have come.
    pub(crate) async fn pushes(&self, count: usize) -> Tried<Vec<Push>> {
        let mut received = self.shared.received.subscribe();
        let waiting = received.wait_for(|all| all.len() >= count);
        match tokio::time::timeout(DELIVERY_WITHIN, waiting).await {
            Ok(Ok(all)) => Ok(all.clone()),
            _ => Err(Verdict::Failed(format!(
                "waited {} s for {count} pushes, {} came",
                DELIVERY_WITHIN.as_secs(),
                self.received().len()
            ))),
        }
    }

    /// Waits for the first.
    pub(crate) async fn push(&self) -> Tried<Push> {
        let all = self.pushes(1).await?;
        all.into_iter()
            .next()
            .ok_or_else(|| Verdict::Failed("no push came".to_owned()))
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Shared {
    fn script(&self) -> MutexGuard<'_, VecDeque<Answer>> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(converse(stream, Arc::clone(&shared)));
    }
}

async fn converse(stream: TcpStream, shared: Arc<Shared>) {
    let service = service_fn(|request| handle(request, Arc::clone(&shared)));
    // A hub that breaks off, or is refused on purpose, is what this is for.
    let _ = http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

async fn handle(request: Request<Incoming>, shared: Arc<Shared>) -> io::Result<Response<Full<Bytes>>> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    let mut push = Push {
        path: head.uri.to_string(),
        headers: head.headers,
        body: String::from_utf8_lossy(&body).into_owned(),
    };
    if let Some(liar) = &shared.liar {
        liar.alter_push(&mut push);
    }
    let answer = shared.script().pop_front().unwrap_or(Answer::Status(204));
    shared.received.send_modify(|all| all.push(push));
    let built = match answer {
        Answer::Status(status) => Response::builder().status(status).body(Full::default()),
        Answer::Redirect(location) => Response::builder()
            .status(302)
            .header("location", location)
            .body(Full::default()),
        Answer::Close => return Err(io::Error::other("closed on purpose")),
    };
    built.map_err(io::Error::other)
}
