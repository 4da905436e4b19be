//! Against a real server, which may be away, and may lose all it holds.

use std::time::Duration;

use futures_util::StreamExt;
use hub_proto::lifecycle::PushJob as Job;

use super::{Nats, Wake, WakeEvent, WakeKind, connect};
use crate::config::Config;
use crate::servers::{self, Child, Launch, NatsOptions, Signal, find_nats, free_port};

fn jobs(numbers: std::ops::Range<usize>) -> Vec<Job> {
    numbers
        .map(|number| Job {
            account: "acme".to_owned(),
            message_id: format!("msg_{number:03}"),
        })
        .collect()
}

fn wake() -> Wake {
    Wake {
        account: "acme".to_owned(),
        event: WakeKind::MessageResolved,
        id: "msg_1".to_owned(),
        state: Some("answered".to_owned()),
    }
}

async fn client(port: u16) -> Nats {
    client_of(port, "TEST").await
}

async fn client_of(port: u16, prefix: &str) -> Nats {
    let variables = [
        ("HUB_NATS_URL", format!("nats://127.0.0.1:{port}")),
        ("HUB_NATS_PREFIX", prefix.to_owned()),
        ("HUB_NATS_RECONNECT_MAX_DELAY_MS", "50".to_owned()),
        ("HUB_NATS_PUBLISH_IN_FLIGHT_MAX", "16".to_owned()),
        ("HUB_NATS_JOBS_MAX_BYTES", "1048576".to_owned()),
        ("HUB_NATS_PUBLISH_TIMEOUT_MS", "200".to_owned()),
    ];
    let config = Config::load(variables.map(|(name, value)| (name.to_owned(), value))).unwrap();
    connect(&config.nats).await.unwrap()
}

async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), future)
        .await
        .expect("nothing happened in time")
}

/// The next wake, past any number of resyncs.
async fn next_wake(wakes: &mut super::Wakes) -> Wake {
    loop {
        if let WakeEvent::Wake(wake) = wakes.next().await.unwrap() {
            return wake;
        }
    }
}

/// Wakes until one is heard: the subscription may not have arrived yet.
async fn wake_until_heard(nats: &Nats, wakes: &mut super::Wakes) -> Wake {
    loop {
        nats.wake(&wake()).await;
        if let Ok(heard) = tokio::time::timeout(Duration::from_millis(100), next_wake(wakes)).await {
            return heard;
        }
    }
}

async fn take_all(consumer: &mut super::Consumer<Job>, count: usize) -> Vec<Job> {
    let mut taken = Vec::new();
    while taken.len() < count {
        for delivery in consumer.next().await {
            delivery.ack().await;
            taken.push(delivery.job);
        }
    }
    taken.sort_by(|one, other| one.message_id.cmp(&other.message_id));
    taken
}

#[tokio::test]
async fn a_server_that_comes_late_and_loses_everything_is_borne() {
    let dir = tempfile::tempdir().unwrap();
    let port = free_port().unwrap();
    let options = |name: &str| NatsOptions {
        dir: dir.path().join(name),
        port,
    };

    let nats = client(port).await;
    let mut wakes = nats.wakes();
    assert_eq!(soon(wakes.next()).await, Some(WakeEvent::Resync));
    nats.wake(&wake()).await;
    assert_eq!(nats.jobs().publish(&jobs(0..5)).await, 0);
    assert_eq!(nats.jobs().waiting().await, None);
    assert!(!nats.is_connected());

    let server = servers::Nats::start(options("first")).await.unwrap();
    soon(nats.connected()).await;
    assert_eq!(soon(wakes.next()).await, Some(WakeEvent::Resync));
    assert_eq!(soon(wake_until_heard(&nats, &mut wakes)).await, wake());
    assert_eq!(nats.jobs().publish(&jobs(0..100)).await, 100);
    let mut consumer = nats.jobs().consume(8);
    assert_eq!(soon(take_all(&mut consumer, 100)).await, jobs(0..100));

    server.kill().await.unwrap();
    let server = servers::Nats::start(options("second")).await.unwrap();
    soon(async {
        while wakes.next().await != Some(WakeEvent::Resync) {}
        nats.connected().await;
    })
    .await;
    // The word that all is to be looked at comes when nothing more is missed.
    nats.wake(&wake()).await;
    assert_eq!(soon(next_wake(&mut wakes)).await, wake());
    let published = soon(async {
        loop {
            let taken = nats.jobs().publish(&jobs(100..101)).await;
            if taken > 0 {
                break taken;
            }
        }
    })
    .await;
    assert_eq!(published, 1);
    assert_eq!(soon(take_all(&mut consumer, 1)).await, jobs(100..101));
    server.stop().await.unwrap();
}

#[tokio::test]
async fn a_job_goes_to_one_worker_and_comes_back_if_it_is_not_acked() {
    let dir = tempfile::tempdir().unwrap();
    let options = NatsOptions {
        dir: dir.path().join("nats"),
        port: 0,
    };
    let server = servers::Nats::start(options).await.unwrap();
    let variables = [
        ("HUB_NATS_URL", server.url.expose()),
        ("HUB_NATS_JOB_ACK_WAIT_MS", "200"),
    ];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let config = Config::load(variables).unwrap();
    let nats = connect(&config.nats).await.unwrap();
    soon(nats.connected()).await;

    assert_eq!(nats.jobs().waiting().await, Some(0), "there is no stream yet");
    assert_eq!(nats.jobs().publish(&jobs(0..50)).await, 50);
    assert_eq!(nats.jobs().waiting().await, Some(50));
    let (mut one, mut other) = (nats.jobs().consume::<Job>(10), nats.jobs().consume::<Job>(10));
    let held = soon(one.next()).await;
    assert!((1..=10).contains(&held.len()));
    let mut taken = Vec::new();
    soon(async {
        while taken.len() < 50 {
            for delivery in other.next().await {
                delivery.ack().await;
                taken.push(delivery.job);
            }
        }
    })
    .await;
    taken.sort_by(|one, other| one.message_id.cmp(&other.message_id));
    assert_eq!(taken, jobs(0..50));
    server.stop().await.unwrap();
}

/// Of two who open a queue at once one may come before a server older than 2.9.15 has set it up: the consumer of both would be
/// mute then.
#[tokio::test]
async fn a_queue_that_two_open_at_once_gives_its_jobs() {
    const QUEUES: usize = 100;
    /// A mute consumer is found out after ten seconds.
    const SOONER_THAN_MADE_ANEW: Duration = Duration::from_secs(9);
    let dir = tempfile::tempdir().unwrap();
    let options = NatsOptions {
        dir: dir.path().join("nats"),
        port: 0,
    };
    let server = servers::Nats::start(options).await.unwrap();
    for number in 0..QUEUES {
        let prefix = format!("TEST{number}");
        let (one, other) = (
            client_of(server.port, &prefix).await,
            client_of(server.port, &prefix).await,
        );
        let (mut first, mut second) = (one.jobs().consume::<Job>(1), other.jobs().consume::<Job>(1));
        soon(async { tokio::join!(one.connected(), other.connected()) }).await;
        let publish = async {
            while one.jobs().publish(&jobs(0..1)).await == 0 {}
            // The other has nothing to wait for.
            std::future::pending::<()>().await;
        };
        let taken = async {
            tokio::select! {
                taken = first.next() => taken,
                taken = second.next() => taken,
                () = publish => Vec::new(),
            }
        };
        let taken = tokio::time::timeout(SOONER_THAN_MADE_ANEW, taken).await;
        assert_eq!(taken.expect("a mute consumer")[0].job, jobs(0..1)[0]);
    }
    server.stop().await.unwrap();
}

/// A server counts the room of a stream once more when one of its name is to be made.
#[tokio::test]
async fn a_queue_is_opened_again_where_there_is_room_for_it_once() {
    let dir = tempfile::tempdir().unwrap();
    let port = free_port().unwrap();
    let settings = dir.path().join("nats.conf");
    let store = dir.path().join("jetstream");
    let text = format!(
        "listen: 127.0.0.1:{port}
         log_file: '{}'
         jetstream {{ store_dir: '{}', max_file_store: 1500000 }}",
        dir.path().join("nats.log").display(),
        store.display()
    );
    std::fs::write(&settings, text).unwrap();
    let launch = Launch::new(find_nats().unwrap()).args(["--config", settings.to_str().unwrap()]);
    let server = Child::spawn(launch, Signal::Terminate).unwrap();
    for _ in 0..2 {
        let nats = client(port).await;
        soon(nats.connected()).await;
        let mut consumer = nats.jobs().consume(1);
        soon(async { while nats.jobs().publish(&jobs(0..1)).await == 0 {} }).await;
        assert_eq!(soon(take_all(&mut consumer, 1)).await, jobs(0..1));
    }
    server.signal(Signal::Kill).unwrap();
    server.wait().await.unwrap();
}
