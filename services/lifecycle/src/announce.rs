//! What is told after a commit: wake-ups, and jobs for pushes that are owed now.
//!
//! Both are hints (design rules 5, 6): whoever waits looks again by itself, and the relay publishes a job that was
//! lost. So a call never waits for NATS: it leaves word here, and one task passes it on in batches.

use std::time::Duration;

use hub_platform::nats::{Jobs, Nats, Wake, WakeKind};
use serde::Serialize;
use tokio::sync::mpsc;

/// What may wait to be passed on. Beyond it word is dropped: NATS is away, or far too slow.
const WAITING_MAX: usize = 8192;
/// What is passed on at a time.
const BATCH_MAX: usize = 256;
/// How long a batch may take; the rest of it is dropped.
const BATCH_TIMEOUT: Duration = Duration::from_secs(5);

/// Names a push that is owed. The row says all else.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub(crate) struct PushJob {
    pub(crate) account: String,
    pub(crate) message_id: String,
}

#[derive(Debug)]
enum Word {
    Wake(Wake),
    Job(PushJob),
}

/// Leaves word. Clones share the queue.
#[derive(Clone, Debug)]
pub(crate) struct Announcer {
    words: mpsc::Sender<Word>,
}

impl Announcer {
    /// The announcer, and the task that passes on what it is given until the last clone is dropped.
    pub(crate) fn new(nats: Nats) -> (Self, impl Future<Output = ()> + Send + 'static) {
        let (words, waiting) = mpsc::channel(WAITING_MAX);
        (Self { words }, pass_on(nats, waiting))
    }

    /// Something happened to a message or a directive.
    pub(crate) fn wake(&self, account: &str, event: WakeKind, id: &str, state: &str) {
        let (account, id) = (account.to_owned(), id.to_owned());
        self.leave(Word::Wake(Wake {
            account,
            event,
            id,
            state: Some(state.to_owned()),
        }));
    }

    /// There is something for a drain in an agent's mailbox.
    pub(crate) fn mailbox_filled(&self, account: &str, agent: &str) {
        self.leave(Word::Wake(Wake {
            account: account.to_owned(),
            event: WakeKind::MailboxFilled,
            id: agent.to_owned(),
            state: None,
        }));
    }

    /// A push is owed now.
    pub(crate) fn push_owed(&self, account: &str, message_id: &str) {
        self.leave(Word::Job(PushJob {
            account: account.to_owned(),
            message_id: message_id.to_owned(),
        }));
    }

    fn leave(&self, word: Word) {
        if self.words.try_send(word).is_err() {
            metrics::counter!("hub_lifecycle_announcements_dropped_total").increment(1);
        }
    }
}

async fn pass_on(nats: Nats, mut waiting: mpsc::Receiver<Word>) {
    let jobs = nats.jobs();
    let mut batch = Vec::with_capacity(BATCH_MAX);
    while waiting.recv_many(&mut batch, BATCH_MAX).await > 0 {
        let passed = tokio::time::timeout(BATCH_TIMEOUT, pass_batch(&nats, &jobs, batch.drain(..)));
        if passed.await.is_err() {
            tracing::warn!(
                timeout_ms = BATCH_TIMEOUT.as_millis(),
                "announcements took too long, the relay makes up"
            );
        }
    }
}

async fn pass_batch(nats: &Nats, jobs: &Jobs, batch: impl Iterator<Item = Word>) {
    let (mut wakes, mut owed) = (Vec::new(), Vec::new());
    for word in batch {
        match word {
            Word::Wake(wake) => wakes.push(wake),
            Word::Job(job) => owed.push(job),
        }
    }
    let wake = async {
        for wake in &wakes {
            nats.wake(wake).await;
        }
    };
    tokio::join!(wake, publish(jobs, &owed));
}

/// Publishes jobs; what the server does not take is published again when due.
pub(crate) async fn publish(jobs: &Jobs, owed: &[PushJob]) {
    if owed.is_empty() {
        return;
    }
    let taken = jobs.publish(owed).await;
    if taken < owed.len() {
        tracing::warn!(
            jobs = owed.len(),
            taken,
            "push jobs were not all published, the relay makes up"
        );
    }
}
