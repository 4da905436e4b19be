//! Asks for what names stand for. One resolver for all: what was verified and what is called are seen alike.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolverConfig};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::rr::{Name, RData};

/// Questions that may be under way to one server.
const IN_FLIGHT_MAX: usize = 4096;
/// Records of one answer that are looked at.
const RECORDS_MAX: usize = 64;

/// What a question comes to.
pub(super) type Answer<T> = Pin<Box<dyn Future<Output = io::Result<Vec<T>>> + Send>>;

/// Knows names. A test has its own.
pub(super) trait Names: Send + Sync {
    /// The addresses of a name, all of them.
    fn addresses(&self, name: &str) -> Answer<IpAddr>;

    /// The texts at a name.
    fn texts(&self, name: &str) -> Answer<Vec<u8>>;
}

/// The domain name system, and the machine's own file of hosts before it. Nothing is kept: the servers asked do.
pub(super) struct Dns {
    resolver: TokioResolver,
}

impl Dns {
    /// Asks `servers`, or those that the machine asks where none is given.
    pub(super) fn new(servers: &[SocketAddr]) -> Result<Self, NetError> {
        let runtime = TokioRuntimeProvider::default();
        let mut builder = if servers.is_empty() {
            TokioResolver::builder_tokio().unwrap_or_else(|error| {
                tracing::warn!(%error, "no name server is known, only hosts of this machine's own file can be called");
                TokioResolver::builder_with_config(ResolverConfig::default(), runtime)
            })
        } else {
            let servers = servers.iter().map(server).collect();
            TokioResolver::builder_with_config(ResolverConfig::from_name_servers(servers), runtime)
        };
        let options = builder.options_mut();
        options.cache_size = 0;
        options.max_active_requests = IN_FLIGHT_MAX;
        // An answer too long for a datagram, or one that was lost.
        options.try_tcp_on_error = true;
        Ok(Self {
            resolver: builder.build()?,
        })
    }
}

impl Names for Dns {
    fn addresses(&self, name: &str) -> Answer<IpAddr> {
        let (resolver, name) = (self.resolver.clone(), absolute(name));
        Box::pin(async move {
            let answer = resolver.lookup_ip(name?).await.map_err(io::Error::other)?;
            Ok(answer.iter().collect())
        })
    }

    fn texts(&self, name: &str) -> Answer<Vec<u8>> {
        let (resolver, name) = (self.resolver.clone(), absolute(name));
        Box::pin(async move {
            let answer = resolver.txt_lookup(name?).await.map_err(io::Error::other)?;
            let records = answer.answers().iter().take(RECORDS_MAX);
            let texts = records.filter_map(|record| match &record.data {
                // Longer ones come in parts.
                RData::TXT(text) => Some(text.txt_data.concat()),
                _ => None,
            });
            Ok(texts.collect())
        })
    }
}

fn server(address: &SocketAddr) -> NameServerConfig {
    let at_port = |mut connection: ConnectionConfig| {
        connection.port = address.port();
        connection
    };
    let connections = [ConnectionConfig::udp(), ConnectionConfig::tcp()].map(at_port);
    NameServerConfig::new(address.ip(), true, connections.into())
}

/// Never below a domain that the machine searches: that would be another host than the one that was named.
fn absolute(name: &str) -> io::Result<Name> {
    let mut name = Name::from_utf8(name).map_err(io::Error::other)?;
    name.set_fqdn(true);
    Ok(name)
}
