//! Channels to other tiers.

use std::time::Duration;

use tonic::metadata::MetadataValue;
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status};

use super::{Error, roster};
use crate::config;
use crate::telemetry::{self, HEADER};

/// Replicas of one tier.
const PEERS_MAX: usize = 256;

/// A channel whose calls carry the caller's trace context.
pub type TracedChannel = InterceptedService<Channel, TraceContext>;

/// Adds the current span's `traceparent` to each call.
#[derive(Clone, Copy, Debug, Default)]
pub struct TraceContext;

impl Interceptor for TraceContext {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        let traceparent = telemetry::traceparent().and_then(|text| MetadataValue::try_from(text).ok());
        if let Some(value) = traceparent {
            request.metadata_mut().insert(HEADER, value);
        }
        Ok(request)
    }
}

/// A channel balanced over the replicas at these URLs. It connects when used, and again when a replica comes
/// back; to be made inside the runtime.
pub fn channel(peers: &config::Peers, urls: &[String]) -> Result<Channel, Error> {
    if urls.is_empty() {
        return Err(Error::NoPeer);
    }
    if urls.len() > PEERS_MAX {
        return Err(Error::TooManyPeers { max: PEERS_MAX });
    }
    let endpoints: Result<Vec<_>, _> = urls.iter().map(|url| endpoint(peers, url)).collect();
    Ok(roster::channel(
        endpoints?,
        Duration::from_millis(peers.keepalive_ms),
    ))
}

fn endpoint(peers: &config::Peers, url: &str) -> Result<Endpoint, Error> {
    let endpoint = Endpoint::from_shared(url.to_owned());
    let endpoint = endpoint
        .ok()
        .filter(|endpoint| endpoint.uri().authority().is_some());
    let endpoint = endpoint.ok_or_else(|| Error::PeerUrl { url: url.to_owned() })?;
    // A replica that vanished without a word is left after two of these: its calls fail, and are made again
    // elsewhere.
    let keepalive = Duration::from_millis(peers.keepalive_ms);
    Ok(endpoint
        .connect_timeout(Duration::from_millis(peers.connect_timeout_ms))
        .tcp_nodelay(true)
        .http2_keep_alive_interval(keepalive)
        .keep_alive_timeout(keepalive)
        .keep_alive_while_idle(true))
}

#[cfg(test)]
mod tests {
    use super::channel;
    use crate::config::Config;

    #[tokio::test]
    async fn peers_are_a_list_of_urls() {
        let peers = Config::load([]).unwrap().peers;
        let outcome = |urls: &[&str]| {
            let urls: Vec<_> = urls.iter().map(|url| (*url).to_owned()).collect();
            channel(&peers, &urls)
                .map(|_| ())
                .map_err(|error| error.to_string())
        };
        assert_eq!(outcome(&["http://127.0.0.1:1", "http://lifecycle:7101"]), Ok(()));
        assert_eq!(
            outcome(&[]),
            Err("no peer is configured: expected a comma list of URLs".to_owned())
        );
        assert_eq!(
            outcome(&["/nowhere"]),
            Err("/nowhere is not the URL of a peer".to_owned())
        );
        let many = vec!["http://a"; 257];
        assert_eq!(
            outcome(&many),
            Err("more than 256 peers are configured".to_owned())
        );
    }
}
