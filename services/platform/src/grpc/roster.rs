//! Which replicas of a tier are asked. The transport leaves a replica whose connections break, but to one that is
//! frozen it connects again and again: so each is asked for its health, and is left out while it does not answer.

use std::collections::HashSet;
use std::time::Duration;

use tokio::sync::mpsc::Sender;
use tokio::task::JoinSet;
use tonic::transport::channel::Change;
use tonic::transport::{Channel, Endpoint};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

/// A replica: its place in the list, and how to reach it.
type Replica = (usize, Endpoint);
type Changes = Sender<Change<usize, Endpoint>>;

/// A channel over these replicas; where there are several, over those of them that answer.
pub(super) fn channel(endpoints: Vec<Endpoint>, interval: Duration) -> Channel {
    let replicas: Vec<Replica> = endpoints.into_iter().enumerate().collect();
    let (channel, changes) = Channel::balance_channel(replicas.len());
    for (at, endpoint) in &replicas {
        // There is room for every one, and the channel is there to take it.
        let _ = changes.try_send(Change::Insert(*at, endpoint.clone()));
    }
    if replicas.len() > 1 {
        tokio::spawn(follow(replicas, changes, interval));
    }
    channel
}

/// Asks for health until the channel is dropped. Where no replica answers all are asked again, so that a mistake here
/// can never be what keeps a tier away.
async fn follow(replicas: Vec<Replica>, changes: Changes, interval: Duration) {
    let probes: Vec<(usize, HealthClient<Channel>)> = replicas
        .iter()
        .map(|(at, endpoint)| (*at, HealthClient::new(endpoint.connect_lazy())))
        .collect();
    let mut listed: HashSet<usize> = replicas.iter().map(|(at, _)| *at).collect();
    loop {
        tokio::select! {
            () = changes.closed() => return,
            () = tokio::time::sleep(interval) => {}
        }
        let answering = answering(&probes, interval).await;
        let wanted = if answering.is_empty() {
            probes.iter().map(|(at, _)| *at).collect()
        } else {
            answering
        };
        for (at, endpoint) in &replicas {
            let change = match (listed.contains(at), wanted.contains(at)) {
                (false, true) => Change::Insert(*at, endpoint.clone()),
                (true, false) => Change::Remove(*at),
                _ => continue,
            };
            tracing::info!(
                replica = at,
                asked = wanted.contains(at),
                "replicas of a tier changed"
            );
            if changes.send(change).await.is_err() {
                return;
            }
        }
        listed = wanted;
    }
}

/// Those that say anything of their health in time.
async fn answering(probes: &[(usize, HealthClient<Channel>)], timeout: Duration) -> HashSet<usize> {
    let mut asked = JoinSet::new();
    for (at, probe) in probes {
        let (at, mut probe) = (*at, probe.clone());
        asked.spawn(async move {
            let answer = tokio::time::timeout(timeout, probe.check(HealthCheckRequest::default())).await;
            matches!(answer, Ok(Ok(_))).then_some(at)
        });
    }
    asked.join_all().await.into_iter().flatten().collect()
}
