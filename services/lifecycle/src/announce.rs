//! What is told after a commit: wake-ups, and jobs for pushes and broadcasts that are owed now.
//!
//! Both are hints (design rules 5, 6): whoever waits looks again by itself, and the relay publishes a job that was
//! lost. So a call never waits for NATS: it leaves word here, and a task passes it on in batches. Each kind has a queue
//! and a task of its own: a flood of wake-ups neither delays a job nor takes its room.

use std::time::Duration;

use hub_platform::nats::{Job, Jobs, Nats, Wake, WakeKind};
use hub_proto::lifecycle::{FanOutJob, PushJob};
use tokio::sync::mpsc;

/// What of each kind may wait to be passed on. Beyond it word is dropped: NATS is away, or far too slow.
const WAITING_MAX: usize = 8192;
/// What is passed on at a time.
const BATCH_MAX: usize = 256;
/// How long a batch may take; the rest of it is dropped.
const BATCH_TIMEOUT: Duration = Duration::from_secs(5);

/// Leaves word. Clones share the queues.
#[derive(Clone, Debug)]
pub(crate) struct Announcer {
    wakes: mpsc::Sender<Wake>,
    jobs: mpsc::Sender<PushJob>,
    fan_outs: mpsc::Sender<FanOutJob>,
}

impl Announcer {
    /// The announcer, and the task that passes on what it is given until the last clone is dropped.
    pub(crate) fn new(nats: Nats) -> (Self, impl Future<Output = ()> + Send + 'static) {
        let (wakes, waiting_wakes) = mpsc::channel(WAITING_MAX);
        let (jobs, waiting_jobs) = mpsc::channel(WAITING_MAX);
        let (fan_outs, waiting_fan_outs) = mpsc::channel(WAITING_MAX);
        let passing = async move {
            tokio::join!(
                pass_wakes(nats.clone(), waiting_wakes),
                pass_jobs(nats.jobs(), waiting_jobs),
                pass_jobs(nats.fan_outs(), waiting_fan_outs)
            );
        };
        let announcer = Self {
            wakes,
            jobs,
            fan_outs,
        };
        (announcer, passing)
    }

    /// Something happened to a message or a directive.
    pub(crate) fn wake(&self, account: &str, event: WakeKind, id: &str, state: &str) {
        let (account, id) = (account.to_owned(), id.to_owned());
        self.leave_wake(Wake {
            account,
            event,
            id,
            state: Some(state.to_owned()),
        });
    }

    /// There is something for a drain in an agent's mailbox.
    pub(crate) fn mailbox_filled(&self, account: &str, agent: &str) {
        self.leave_wake(Wake {
            account: account.to_owned(),
            event: WakeKind::MailboxFilled,
            id: agent.to_owned(),
            state: None,
        });
    }

    /// A push is owed now.
    pub(crate) fn push_owed(&self, account: &str, message_id: &str) {
        let job = PushJob {
            account: account.to_owned(),
            message_id: message_id.to_owned(),
        };
        count_dropped("job", self.jobs.try_send(job).is_err());
    }

    /// A broadcast has agents to reach.
    pub(crate) fn broadcast_owed(&self, account: &str, broadcast_id: &str) {
        let job = FanOutJob {
            account: account.to_owned(),
            broadcast_id: broadcast_id.to_owned(),
        };
        count_dropped("job", self.fan_outs.try_send(job).is_err());
    }

    fn leave_wake(&self, wake: Wake) {
        count_dropped("wake", self.wakes.try_send(wake).is_err());
    }
}

fn count_dropped(kind: &'static str, is_dropped: bool) {
    if is_dropped {
        metrics::counter!("hub_lifecycle_announcements_dropped_total", "kind" => kind).increment(1);
    }
}

async fn pass_wakes(nats: Nats, mut waiting: mpsc::Receiver<Wake>) {
    let mut batch = Vec::with_capacity(BATCH_MAX);
    while waiting.recv_many(&mut batch, BATCH_MAX).await > 0 {
        in_time("wake", async {
            for wake in batch.drain(..) {
                nats.wake(&wake).await;
            }
        })
        .await;
    }
}

async fn pass_jobs<T: Job>(jobs: Jobs, mut waiting: mpsc::Receiver<T>) {
    let mut batch = Vec::with_capacity(BATCH_MAX);
    while waiting.recv_many(&mut batch, BATCH_MAX).await > 0 {
        in_time("job", publish(&jobs, &batch)).await;
        batch.clear();
    }
}

async fn in_time<T>(kind: &'static str, passing: impl Future<Output = T>) {
    if tokio::time::timeout(BATCH_TIMEOUT, passing).await.is_err() {
        let timeout_ms = BATCH_TIMEOUT.as_millis();
        tracing::warn!(
            kind,
            timeout_ms,
            "announcements took too long, whoever waits looks again"
        );
    }
}

/// Publishes jobs and says whether the server took all; what it did not take is published again when due.
pub(crate) async fn publish<T: Job>(jobs: &Jobs, owed: &[T]) -> bool {
    if owed.is_empty() {
        return true;
    }
    let taken = jobs.publish(owed).await;
    if taken < owed.len() {
        tracing::warn!(
            jobs = owed.len(),
            taken,
            "jobs were not all published, the relay makes up"
        );
    }
    taken == owed.len()
}
