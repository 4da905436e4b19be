//! The connection, which restores itself.

use std::sync::Arc;
use std::time::Duration;

use async_nats::connection::State;
use async_nats::{ConnectOptions, Event, ServerAddr};
use bytes::Bytes;
use futures_util::StreamExt as _;
use tokio::sync::watch;

use super::jobs::{FAN_OUT, PUSH};
use super::wake::{self, Wake, Wakes};
use super::{Error, Jobs};
use crate::{backoff, config};

/// How often the server is asked whether it still lives; it is left after the second silence.
const PING_INTERVAL: Duration = Duration::from_secs(5);
/// How long a hint may wait for room in the connection's queue.
const HINT_TIMEOUT: Duration = Duration::from_millis(200);
/// The first pause between attempts to reconnect.
const RECONNECT_FIRST_DELAY: Duration = Duration::from_millis(10);

/// A connection that restores itself. Clones share it.
#[derive(Clone, Debug)]
pub struct Nats {
    client: async_nats::Client,
    prefix: Arc<str>,
    signals: Signals,
    jobs: Jobs,
    fan_outs: Jobs,
}

/// What happened to the connection, each as a count that only grows.
#[derive(Clone, Debug, Default)]
pub(super) struct Signals {
    /// It was established.
    pub(super) connects: watch::Sender<u64>,
    /// A subscriber was too slow, and something was dropped.
    pub(super) losses: watch::Sender<u64>,
}

impl Signals {
    fn observe(&self, event: &Event) {
        let raise = |count: &watch::Sender<u64>| count.send_modify(|count| *count += 1);
        match event {
            Event::Connected => {
                tracing::info!("nats connected");
                ::metrics::gauge!("hub_nats_connected").set(1);
                ::metrics::counter!("hub_nats_connects_total").increment(1);
                raise(&self.connects);
            }
            Event::Disconnected => {
                tracing::warn!("nats disconnected");
                ::metrics::gauge!("hub_nats_connected").set(0);
            }
            Event::SlowConsumer(_) => {
                ::metrics::counter!("hub_nats_losses_total").increment(1);
                raise(&self.losses);
            }
            Event::ServerError(error) => tracing::warn!(%error, "nats server error"),
            _ => {}
        }
    }
}

/// Connects, or goes on trying in the background.
pub async fn connect(config: &config::Nats) -> Result<Nats, Error> {
    let servers = servers(&config.url)?;
    let signals = Signals::default();
    let observed = signals.clone();
    let max_delay = Duration::from_millis(config.reconnect_max_delay_ms);
    let client = ConnectOptions::new()
        .name("hub")
        .retry_on_initial_connect()
        .ping_interval(PING_INTERVAL)
        .connection_timeout(Duration::from_millis(config.publish_timeout_ms))
        .request_timeout(Some(Duration::from_millis(config.publish_timeout_ms)))
        .subscription_capacity(config.wake_buffer_max)
        .reconnect_delay_callback(move |attempts| reconnect_delay(attempts, max_delay))
        .event_callback(move |event| {
            observed.observe(&event);
            std::future::ready(())
        })
        .connect(servers)
        .await
        .map_err(|error| Error::Settings(error.to_string()))?;
    ::metrics::gauge!("hub_nats_connected").set(0);
    let jobs = |queue| Jobs::new(client.clone(), config, signals.connects.subscribe(), queue);
    let (jobs, fan_outs) = (jobs(&PUSH), jobs(&FAN_OUT));
    Ok(Nats {
        client,
        prefix: config.prefix.as_str().into(),
        signals,
        jobs,
        fan_outs,
    })
}

/// The addresses in a comma list.
fn servers(url: &config::Secret) -> Result<Vec<ServerAddr>, Error> {
    let addresses = url
        .expose()
        .split(',')
        .map(str::trim)
        .filter(|address| !address.is_empty());
    // The parser's message may quote the address, which may hold a password.
    let parsed = addresses.map(|address| address.parse().map_err(|_| ()));
    match parsed.collect::<Result<Vec<_>, _>>() {
        Ok(servers) if servers.is_empty() => Err(Error::Settings("is not set".to_owned())),
        Ok(servers) => Ok(servers),
        Err(()) => Err(Error::Settings("expected nats://host:port".to_owned())),
    }
}

fn reconnect_delay(attempts: usize, max: Duration) -> Duration {
    match attempts {
        // The first attempt after a loss is made at once.
        0 | 1 => Duration::ZERO,
        _ => {
            let failures = u32::try_from(attempts - 2).unwrap_or(u32::MAX);
            backoff::delay(RECONNECT_FIRST_DELAY, max, failures, rand::random())
        }
    }
}

impl Nats {
    /// Whether the server is connected now.
    pub fn is_connected(&self) -> bool {
        is_connected(&self.client)
    }

    /// Ends when the server is connected.
    pub async fn connected(&self) {
        let mut connects = self.signals.connects.subscribe();
        while !self.is_connected() {
            // The sender lives as long as `self`.
            let _ = tokio::time::timeout(PING_INTERVAL, connects.changed()).await;
        }
    }

    /// Tells every process that something happened. A hint: what is lost is found by looking.
    pub async fn wake(&self, wake: &Wake) {
        let outcome = if self.publish_wake(wake).await {
            "sent"
        } else {
            "dropped"
        };
        ::metrics::counter!("hub_nats_wakes_total", "outcome" => outcome).increment(1);
    }

    async fn publish_wake(&self, wake: &Wake) -> bool {
        // Kept for a server that is away it would only wake those who look anyway, once they reconnect.
        if !self.is_connected() {
            return false;
        }
        let Ok(payload) = serde_json::to_vec(wake) else {
            return false;
        };
        let subject = wake::subject(&self.prefix, &wake.account);
        let publish = self.client.publish(subject, Bytes::from(payload));
        matches!(tokio::time::timeout(HINT_TIMEOUT, publish).await, Ok(Ok(())))
    }

    /// What happens in every account, from the first poll on. Begins with a `Resync`.
    pub fn wakes(&self) -> Wakes {
        Wakes::new(self.client.clone(), &self.prefix, &self.signals)
    }

    /// The push jobs.
    pub fn jobs(&self) -> Jobs {
        self.jobs.clone()
    }

    /// The jobs of broadcasts.
    pub fn fan_outs(&self) -> Jobs {
        self.fan_outs.clone()
    }
}

/// Waits until the server has taken all that was sent before, subscriptions among it: what comes back to ourselves went
/// behind them. Gives up where the connection is lost again: then this is called again.
pub(super) async fn settled(client: &async_nats::Client) {
    let around = async {
        let inbox = client.new_inbox();
        let mut echo = client.subscribe(inbox.clone()).await.ok()?;
        client.publish(inbox, Bytes::new()).await.ok()?;
        echo.next().await
    };
    if tokio::time::timeout(PING_INTERVAL, around).await.is_err() {
        tracing::debug!("nats does not answer");
    }
}

pub(super) fn is_connected(client: &async_nats::Client) -> bool {
    client.connection_state() == State::Connected
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{reconnect_delay, servers};
    use crate::config::Secret;

    #[test]
    fn servers_are_a_comma_list() {
        let read = |text: &str| {
            servers(&Secret::new(text))
                .map(|list| list.len())
                .map_err(|e| e.to_string())
        };
        assert_eq!(read("nats://a:4222, nats://user:secret@b"), Ok(2));
        assert_eq!(read(""), Err("HUB_NATS_URL: is not set".to_owned()));
        assert_eq!(
            read("nats://:secret@"),
            Err("HUB_NATS_URL: expected nats://host:port".to_owned())
        );
    }

    #[test]
    fn a_lost_server_is_tried_at_once_and_then_with_pauses() {
        let max = Duration::from_millis(100);
        assert_eq!(reconnect_delay(1, max), Duration::ZERO);
        assert!(reconnect_delay(2, max) >= Duration::from_millis(5));
        assert!(reconnect_delay(usize::MAX, max) <= max);
    }
}
