//! Real servers: a replica that dies is left, and a call is made on another.

use std::net::SocketAddr;
use std::time::Duration;

use hub_proto::presence::presence_client::PresenceClient;
use hub_proto::presence::presence_server::{Presence, PresenceServer};
use hub_proto::presence::{GetPresenceReply, GetPresenceRequest, TouchReply, TouchRequest};
use ma2h::error::Problem;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tonic::service::Routes;
use tonic::{Request, Response, Status};

use super::{TraceContext, TracedChannel, call, channel, problem_to_status, serve, status_to_problem};
use crate::config::{Config, Peers};
use crate::health::{Readiness, is_serving};
use crate::shutdown::Shutdown;

/// Answers `Touch`, unless it hangs, and refuses the rest.
struct Replica {
    hangs: bool,
}

#[tonic::async_trait]
impl Presence for Replica {
    async fn touch(&self, _request: Request<TouchRequest>) -> Result<Response<TouchReply>, Status> {
        if self.hangs {
            std::future::pending::<()>().await;
        }
        Ok(Response::new(TouchReply {}))
    }

    async fn get_presence(
        &self,
        _request: Request<GetPresenceRequest>,
    ) -> Result<Response<GetPresenceReply>, Status> {
        Err(problem_to_status(&Problem::invalid_field(
            "agents: expected at most 200",
        )))
    }
}

struct Running {
    addr: SocketAddr,
    readiness: Readiness,
    shutdown: Shutdown,
    task: JoinHandle<()>,
}

async fn start(hangs: bool) -> Running {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let (readiness, shutdown) = (Readiness::new(), Shutdown::new());
    let routes = Routes::new(PresenceServer::new(Replica { hangs }));
    let serving = serve(listener, routes, readiness.clone(), shutdown.clone());
    let task = tokio::spawn(async move { serving.await.unwrap() });
    Running {
        addr,
        readiness,
        shutdown,
        task,
    }
}

fn peers(replicas: &[&Running]) -> Peers {
    let urls: Vec<_> = replicas
        .iter()
        .map(|replica| format!("http://{}", replica.addr))
        .collect();
    let variables = [
        ("HUB_PRESENCE_URLS", urls.join(",")),
        ("HUB_PEERS_ATTEMPT_TIMEOUT_MS", "200".to_owned()),
        ("HUB_PEERS_CALL_TIMEOUT_MS", "20000".to_owned()),
    ];
    Config::load(variables.map(|(name, value)| (name.to_owned(), value)))
        .unwrap()
        .peers
}

fn client(peers: &Peers) -> PresenceClient<TracedChannel> {
    PresenceClient::with_interceptor(channel(peers, &peers.presence_urls).unwrap(), TraceContext)
}

async fn touch(peers: &Peers, client: &PresenceClient<TracedChannel>) -> Result<TouchReply, Status> {
    let request = TouchRequest::default();
    call(peers, || {
        let (mut client, request) = (client.clone(), request.clone());
        async move { client.touch(request).await }
    })
    .await
}

#[tokio::test]
async fn calls_outlive_a_replica() {
    let (one, other) = (start(false).await, start(false).await);
    let peers = peers(&[&one, &other]);
    let client = client(&peers);
    for _ in 0..10 {
        touch(&peers, &client).await.unwrap();
    }
    one.shutdown.trigger();
    one.task.await.unwrap();
    for _ in 0..50 {
        touch(&peers, &client).await.unwrap();
    }
    other.task.abort();
}

#[tokio::test]
async fn calls_are_made_again_where_a_replica_hangs() {
    let (hanging, other) = (start(true).await, start(false).await);
    let peers = peers(&[&hanging, &other]);
    let client = client(&peers);
    for _ in 0..5 {
        touch(&peers, &client).await.unwrap();
    }
}

/// As a process that is stopped: its kernel still takes connections, and nobody ever answers.
#[tokio::test]
async fn a_replica_that_is_frozen_is_no_longer_asked() {
    let frozen = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let other = start(false).await;
    let urls = format!("http://{},http://{}", frozen.local_addr().unwrap(), other.addr);
    let variables = [
        ("HUB_PRESENCE_URLS", urls.as_str()),
        ("HUB_PEERS_KEEPALIVE_MS", "100"),
        ("HUB_PEERS_CALL_TIMEOUT_MS", "200"),
    ];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let peers = Config::load(variables).unwrap().peers;
    let client = client(&peers);
    let left = async {
        // By luck alone the frozen one is missed this often once in 2^40 times.
        let mut in_a_row = 0;
        while in_a_row < 40 {
            in_a_row = if touch(&peers, &client).await.is_ok() {
                in_a_row + 1
            } else {
                0
            };
        }
    };
    tokio::time::timeout(Duration::from_secs(30), left).await.unwrap();
}

#[tokio::test]
async fn a_refusal_comes_through_and_health_follows_readiness() {
    let replica = start(false).await;
    let peers = peers(&[&replica]);
    let mut client = client(&peers);
    let refusal = client
        .get_presence(GetPresenceRequest::default())
        .await
        .unwrap_err();
    assert_eq!(
        status_to_problem(&refusal),
        Problem::invalid_field("agents: expected at most 200")
    );

    let channel = channel(&peers, &peers.presence_urls).unwrap();
    let is_serving = || is_serving(channel.clone(), Duration::from_secs(5));
    assert!(!is_serving().await);
    replica.readiness.set(true);
    while !is_serving().await {}
    replica.readiness.set(false);
    while is_serving().await {}
}
