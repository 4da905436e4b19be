//! The sink's HTTP server. It is built on hyper itself, because only there can a request be taken and left without
//! any answer.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum_server::accept::Accept as _;
use axum_server::tls_rustls::{RustlsAcceptor, RustlsConfig};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use time::OffsetDateTime;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use super::{Answer, Received, Shared};
use crate::certificates::Certificates;

/// Serves until told to stop; returns where.
pub(super) async fn start(
    certificates: Option<Certificates>,
    shared: Arc<Shared>,
    stop: CancellationToken,
) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .await
        .expect("bind a loopback port");
    let address = listener.local_addr().expect("a bound listener has an address");
    let tls = match certificates {
        None => None,
        Some(files) => {
            crate::install_tls_provider();
            let config = RustlsConfig::from_pem_file(&files.server, &files.server_key).await;
            let config = config.expect("read the run's certificate");
            // The sink speaks no other, and must not offer it.
            let mut settings = (*config.get_inner()).clone();
            settings.alpn_protocols = vec![b"http/1.1".to_vec()];
            config.reload_from_config(Arc::new(settings));
            Some(RustlsAcceptor::new(config))
        }
    };
    tokio::spawn(async move {
        loop {
            let stream = tokio::select! {
                accepted = listener.accept() => accepted,
                () = stop.cancelled() => return,
            };
            let Ok((stream, _)) = stream else { continue };
            let (tls, shared, stop) = (tls.clone(), Arc::clone(&shared), stop.clone());
            tokio::spawn(async move {
                // A client that breaks off, or is refused on purpose, is what the sink is for.
                let _ = stop.run_until_cancelled(converse(stream, tls, shared)).await;
            });
        }
    });
    address
}

async fn converse(stream: TcpStream, tls: Option<RustlsAcceptor>, shared: Arc<Shared>) -> io::Result<()> {
    match tls {
        None => serve(stream, shared).await,
        Some(tls) => serve(tls.accept(stream, ()).await?.0, shared).await,
    }
}

async fn serve(stream: impl AsyncRead + AsyncWrite + Unpin + Send, shared: Arc<Shared>) -> io::Result<()> {
    let service = service_fn(|request| handle(request, Arc::clone(&shared)));
    let served = http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await;
    served.map_err(io::Error::other)
}

async fn handle(request: Request<Incoming>, shared: Arc<Shared>) -> io::Result<Response<Full<Bytes>>> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    let path = head
        .uri
        .path_and_query()
        .map_or("/", |path| path.as_str())
        .to_owned();
    let answer = shared.next_answer();
    shared.record(Received {
        method: head.method,
        path,
        headers: head.headers,
        body,
        at: OffsetDateTime::now_utc(),
        answer: answer.clone(),
    });
    respond(answer).await
}

async fn respond(mut answer: Answer) -> io::Result<Response<Full<Bytes>>> {
    loop {
        let built = match answer {
            Answer::After(delay, then) => {
                tokio::time::sleep(delay).await;
                answer = *then;
                continue;
            }
            Answer::Status(status) => Response::builder().status(status).body(Full::default()),
            Answer::With { status, header, body } => Response::builder()
                .status(status)
                .header(header.0, header.1)
                .body(Full::new(body)),
            Answer::Hang => std::future::pending().await,
            Answer::Close => return Err(io::Error::other("closed on purpose")),
        };
        return built.map_err(io::Error::other);
    }
}
