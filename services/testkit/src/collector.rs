//! A collector of traces, which keeps what it is sent over OTLP as it came: for a test that searches it.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};

/// A gRPC message of no bytes.
const EMPTY_REPLY: &[u8] = &[0; 5];

/// Listens on loopback until it is dropped.
pub struct Collector {
    address: SocketAddr,
    received: Received,
    _running: DropGuard,
}

type Received = Arc<Mutex<Vec<u8>>>;

impl Collector {
    /// Starts one.
    pub async fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .expect("bind a loopback port");
        let address = listener.local_addr().expect("a bound listener has an address");
        let (received, stop) = (Received::default(), CancellationToken::new());
        let (kept, stopped) = (Arc::clone(&received), stop.clone());
        tokio::spawn(async move {
            stopped.run_until_cancelled(serve(listener, kept)).await;
        });
        Self {
            address,
            received,
            _running: stop.drop_guard(),
        }
    }

    /// What a hub is told as its endpoint.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every byte that came in so far.
    pub fn received(&self) -> Vec<u8> {
        self.received
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

async fn serve(listener: TcpListener, received: Received) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            continue;
        };
        let received = Arc::clone(&received);
        let service = service_fn(move |request| take(request, Arc::clone(&received)));
        tokio::spawn(async move {
            // A hub that is killed breaks off.
            let _ = http2::Builder::new(TokioExecutor::new())
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

async fn take(
    request: Request<Incoming>,
    received: Received,
) -> Result<Response<impl hyper::body::Body<Data = Bytes, Error = Infallible>>, Infallible> {
    if let Ok(body) = request.into_body().collect().await {
        received
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend_from_slice(&body.to_bytes());
    }
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from_static("0"));
    let body = Full::new(Bytes::from_static(EMPTY_REPLY)).with_trailers(async { Some(Ok(trailers)) });
    let mut response = Response::new(body);
    response
        .headers_mut()
        .insert("content-type", HeaderValue::from_static("application/grpc"));
    Ok(response)
}
