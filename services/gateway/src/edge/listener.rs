//! Serves the routes on a port that is bound already, until the hub stops.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum_server::accept::Accept;
use axum_server::tls_rustls::RustlsAcceptor;
use axum_server::{Handle, Server};
use hub_platform::{config::Config, shutdown::Shutdown};
use tokio::net::{TcpListener, TcpStream};

use super::connection::Bounded;
use super::tls;
use crate::Error;

/// Largest head of a request, over HTTP/1.1 and, as a list of headers, over HTTP/2.
const HEADERS_BYTES_MAX: u32 = 32 * 1024;
/// Requests of one HTTP/2 connection at a time.
const STREAMS_PER_CONNECTION_MAX: u32 = 256;
/// What lies ready to be sent on one HTTP/2 stream; the rest of an answer waits until it is asked for.
const SEND_BYTES_PER_STREAM_MAX: usize = 64 * 1024;
/// How often an HTTP/2 peer is asked whether it is still there, and how long it may take to say so.
const KEEPALIVE: Duration = Duration::from_secs(20);

/// How long an HTTP/1.1 connection may be idle between requests: longer than clients keep theirs, so that none meets a
/// connection that is being closed.
const IDLE: Duration = Duration::from_secs(75);

/// Serves until `shutdown`, then lets what is in hand finish within the grace.
pub(crate) async fn serve(
    config: &Config,
    listener: TcpListener,
    routes: Router,
    shutdown: &Shutdown,
) -> Result<(), Error> {
    let stall_max = Duration::from_millis(config.gateway.write_stall_ms);
    let bounded = Bounded::new(config.gateway.connections_max, stall_max);
    let server = axum_server::from_tcp(listener.into_std()?)?;
    if config.gateway.behind_tls_proxy {
        return run(config, server.acceptor(bounded), routes, shutdown).await;
    }
    let (Some(cert_file), Some(key_file)) = (&config.gateway.tls_cert_file, &config.gateway.tls_key_file)
    else {
        return Err(Error::NoCertificate);
    };
    let acceptor = RustlsAcceptor::new(tls::load(cert_file, key_file)?)
        .handshake_timeout(Duration::from_millis(config.gateway.header_timeout_ms))
        .acceptor(bounded);
    run(config, server.acceptor(acceptor), routes, shutdown).await
}

async fn run<A>(
    config: &Config,
    mut server: Server<SocketAddr, A>,
    routes: Router,
    shutdown: &Shutdown,
) -> Result<(), Error>
where
    A: Accept<TcpStream, Router> + Clone + Send + Sync + 'static,
    A::Stream: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send,
    A::Service: axum_server::service::SendService<http::Request<hyper::body::Incoming>> + Send,
    A::Future: Send,
{
    let header_timeout = Duration::from_millis(config.gateway.header_timeout_ms);
    let http = server.http_builder();
    http.http1()
        // It counts idle time as well; the first request has its own timeout below.
        .header_read_timeout(IDLE.max(header_timeout))
        .max_buf_size(HEADERS_BYTES_MAX as usize)
        .keep_alive(true);
    http.http2()
        .max_header_list_size(HEADERS_BYTES_MAX)
        .max_concurrent_streams(STREAMS_PER_CONNECTION_MAX)
        .max_send_buf_size(SEND_BYTES_PER_STREAM_MAX)
        .keep_alive_interval(KEEPALIVE)
        .keep_alive_timeout(KEEPALIVE);
    let handle = Handle::new();
    let grace = Duration::from_secs(config.listen.shutdown_grace_seconds);
    let ending = {
        let handle = handle.clone();
        async move {
            shutdown.requested().await;
            handle.graceful_shutdown(Some(grace));
            std::future::pending::<()>().await;
        }
    };
    let serving = server
        .first_request_timeout(header_timeout)
        .handle(handle)
        .serve(routes.into_make_service());
    tokio::select! {
        outcome = serving => outcome.map_err(Error::from),
        () = ending => Ok(()),
    }
}
