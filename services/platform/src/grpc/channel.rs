//! Channels to other tiers.

use tonic::service::interceptor::InterceptedService;
use tonic::service::Interceptor;
use tonic::transport::Channel;
use tonic::{Request, Status};

use super::Error;
use crate::config;

/// A channel whose calls carry the caller's trace context.
pub type TracedChannel = InterceptedService<Channel, TraceContext>;

/// Adds `traceparent` to each call.
#[derive(Clone, Copy, Debug, Default)]
pub struct TraceContext;

impl Interceptor for TraceContext {
    fn call(&mut self, request: Request<()>) -> Result<Request<()>, Status> {
        Ok(request)
    }
}

/// A channel balanced over the replicas at these URLs. It connects when used.
pub fn channel(peers: &config::Peers, urls: &[String]) -> Result<Channel, Error> {
    let _ = (peers, urls);
    todo!()
}
