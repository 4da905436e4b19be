//! The one client that calls out of the hub (§9.4), the only one that can be built outside tests.
//!
//! It connects to checked addresses only, follows no redirect, uses no proxy of the environment, undoes no
//! compression, and holds one deadline over connecting, headers and body.

mod address;
mod failure;
mod names;
mod reach;
mod retry_after;
mod tls;

use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http::header::RETRY_AFTER;
use reqwest::{Client, RequestBuilder, Response, Url, redirect};
use tokio::time::{Instant, timeout_at};

pub(crate) use address::{AddressClass, classify};
pub(crate) use failure::Failure;
pub(crate) use retry_after::RetryAfter;

use names::{Dns, Names};
use reach::{CheckedResolver, Places, Reach, reached, sent};

/// How much of header an HTTP/2 answer may carry.
const HEADER_BYTES_MAX: u32 = 16 * 1024;
/// How long a connection is kept for the next call to its host.
const IDLE_SECONDS_MAX: u64 = 30;

/// How the client is set up.
#[derive(Clone, Debug)]
pub(crate) struct Options<'a> {
    /// Reach loopback and private addresses, and `http://`.
    pub(crate) development: bool,
    /// The deadline over the whole of a call.
    pub(crate) timeout: Duration,
    /// How much of an answer's body is read, so that its connection can be used again; a longer one is hung up on.
    pub(crate) body_bytes_max: usize,
    /// How many idle connections are kept for each host.
    pub(crate) idle_per_host_max: usize,
    /// A file of certificate authorities to trust beside the machine's, in PEM.
    pub(crate) extra_ca_file: Option<&'a Path>,
    /// Name servers to ask instead of the machine's.
    pub(crate) dns_servers: &'a [SocketAddr],
}

/// Why the client could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file of extra authorities.
    #[error("cannot read the extra certificate authorities: {0}")]
    Authorities(#[from] rustls::pki_types::pem::Error),
    /// A certificate in that file, or the TLS settings.
    #[error("cannot set up tls: {0}")]
    Tls(#[from] rustls::Error),
    /// The client.
    #[error("cannot set up the http client: {0}")]
    Client(#[from] reqwest::Error),
    /// The resolver.
    #[error("cannot set up name resolution: {0}")]
    Names(#[from] hickory_resolver::net::NetError),
}

/// What came back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Reply {
    /// The HTTP status.
    pub(crate) status: u16,
    /// When the other side asked to be tried again, in whole seconds or as a date.
    pub(crate) retry_after: Option<RetryAfter>,
}

/// How a post went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Posted {
    /// What kind of place was connected to, or refused. For the operator: a tenant learns that it was refused, not what was
    /// there (§9.4).
    pub(crate) address: Option<AddressClass>,
    /// What came back, or why nothing did.
    pub(crate) result: Result<Reply, Failure>,
}

/// What was read from a page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Page {
    /// The HTTP status.
    pub(crate) status: u16,
    /// What its body begins with, up to the bound that was asked for.
    pub(crate) body: Vec<u8>,
}

/// The guarded client.
#[derive(Clone)]
pub(crate) struct Guard {
    client: Client,
    names: Arc<dyn Names>,
    reach: Reach,
    places: Arc<Places>,
    https_only: bool,
    timeout: Duration,
    body_bytes_max: usize,
}

impl Guard {
    /// A client by `options`.
    pub(crate) fn new(options: &Options<'_>) -> Result<Self, Error> {
        let names = Dns::new(options.dns_servers)?;
        Self::with_names(options, Arc::new(names))
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one client that may be built"
    )]
    fn with_names(options: &Options<'_>, names: Arc<dyn Names>) -> Result<Self, Error> {
        let reach = if options.development {
            Reach::Private
        } else {
            Reach::Public
        };
        let resolver = CheckedResolver {
            names: names.clone(),
            reach,
        };
        let client = Client::builder()
            .tls_backend_preconfigured(tls::client_config(options.extra_ca_file)?)
            .https_only(!options.development)
            .dns_resolver(resolver)
            .redirect(redirect::Policy::none())
            .referer(false)
            .no_proxy()
            .user_agent(concat!("ma2h-hub/", env!("CARGO_PKG_VERSION")))
            .http2_max_header_list_size(HEADER_BYTES_MAX)
            .pool_idle_timeout(Duration::from_secs(IDLE_SECONDS_MAX))
            .pool_max_idle_per_host(options.idle_per_host_max)
            .build()?;
        Ok(Self {
            client,
            names,
            reach,
            places: Arc::default(),
            https_only: !options.development,
            timeout: options.timeout,
            body_bytes_max: options.body_bytes_max,
        })
    }

    /// Posts `body` to `url`. A status is an answer, whatever it is and however the rest of the answer goes.
    pub(crate) async fn post(&self, url: &str, headers: HeaderMap, body: Bytes) -> Posted {
        let parsed = Url::parse(url).ok();
        let host = parsed.as_ref().and_then(Url::host_str).unwrap_or_default();
        let (result, address) = self.places.watch(host, self.answer(url, headers, body)).await;
        Posted { address, result }
    }

    async fn answer(&self, url: &str, headers: HeaderMap, body: Bytes) -> Result<Reply, Failure> {
        let url = self.checked_url(url)?;
        let deadline = Instant::now() + self.timeout;
        let request = self.client.post(url).headers(headers).body(body);
        let mut response = send(request, deadline).await?;
        let reply = Reply {
            status: response.status().as_u16(),
            retry_after: retry_after::parse(response.headers().get(RETRY_AFTER)),
        };
        // The receiver has spoken; a body that does not end in time costs its connection, not the outcome. Where it
        // is longer than the bound, dropping the answer closes its connection.
        let mut left = self.body_bytes_max;
        let discard = async {
            while let Ok(Some(chunk)) = response.chunk().await {
                match left.checked_sub(chunk.len()) {
                    Some(rest) => left = rest,
                    None => return,
                }
            }
        };
        let _ = timeout_at(deadline, discard).await;
        Ok(reply)
    }

    /// Gets the page at `url`, of its body no more than `bytes_max`, all within `timeout`.
    pub(crate) async fn get(&self, url: &str, bytes_max: usize, timeout: Duration) -> Result<Page, Failure> {
        let url = self.checked_url(url)?;
        let deadline = Instant::now() + timeout;
        let host = url.host_str().unwrap_or_default().to_owned();
        let (response, _) = self
            .places
            .watch(&host, send(self.client.get(url), deadline))
            .await;
        let mut response = response?;
        let status = response.status().as_u16();
        let mut body = Vec::new();
        while body.len() < bytes_max {
            match timeout_at(deadline, response.chunk()).await {
                Ok(Ok(Some(chunk))) => body.extend_from_slice(&chunk),
                Ok(Ok(None)) => break,
                Ok(Err(error)) => return Err(Failure::from(&error)),
                Err(_) => return Err(Failure::Timeout),
            }
        }
        body.truncate(bytes_max);
        Ok(Page { status, body })
    }

    /// The texts that the domain name system holds at `name`, within `timeout`.
    pub(crate) async fn texts(&self, name: &str, timeout: Duration) -> Result<Vec<Vec<u8>>, Failure> {
        match tokio::time::timeout(timeout, self.names.texts(name)).await {
            Ok(Ok(texts)) => Ok(texts),
            Ok(Err(_)) => Err(Failure::Dns),
            Err(_) => Err(Failure::Timeout),
        }
    }

    /// Whether a host, with or without a port, may be called as far as its spelling tells: a name may always.
    pub(crate) fn may_call(&self, host: &str) -> bool {
        self.checked_url(&format!("https://{host}/")).is_ok()
    }

    /// An address written into the URL never reaches the resolver, so it is looked at here. The parser has
    /// already brought decimal, octal, hexadecimal, short and full-width spellings into the usual one.
    fn checked_url(&self, text: &str) -> Result<Url, Failure> {
        let url = Url::parse(text).map_err(|_| Failure::InvalidUrl)?;
        let scheme_allowed = url.scheme() == "https" || (url.scheme() == "http" && !self.https_only);
        let host = url.host_str().unwrap_or_default();
        if !scheme_allowed || host.is_empty() || !url.username().is_empty() || url.password().is_some() {
            return Err(Failure::InvalidUrl);
        }
        if let Some(address) = literal_address(host) {
            let class = classify(address);
            reached(class);
            if !self.reach.covers(class) {
                return Err(Failure::RefusedAddress);
            }
        }
        Ok(url)
    }
}

async fn send(request: RequestBuilder, deadline: Instant) -> Result<Response, Failure> {
    sent();
    match timeout_at(deadline, request.send()).await {
        Ok(Ok(response)) => {
            if let Some(peer) = response.remote_addr() {
                reached(classify(peer.ip()));
            }
            Ok(response)
        }
        Ok(Err(error)) => Err(Failure::from(&error)),
        Err(_) => Err(Failure::Timeout),
    }
}

fn literal_address(host: &str) -> Option<IpAddr> {
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    bare.unwrap_or(host).parse().ok()
}

#[cfg(test)]
mod tests;
