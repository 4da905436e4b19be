//! Keeps children running: whoever dies is started again on its address.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use hub_platform::servers::{Nats, NatsOptions, Postgres, PostgresOptions};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::board::{Board, Slot};
use super::process::TierProcess;

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// Who ran that long did not fail for the reason it failed for before.
const STEADY: Duration = Duration::from_secs(10);

/// A child that can be started again.
pub(crate) trait Child: Send + 'static {
    /// Starts it; returns its process id.
    fn start(&mut self) -> impl Future<Output = anyhow::Result<u32>> + Send;
    /// Ends when it has ended, with how.
    fn ended(&mut self) -> impl Future<Output = String> + Send;
    /// Stops it in an orderly way.
    fn stop(&mut self) -> impl Future<Output = ()> + Send;
}

/// A child under supervision.
pub(crate) struct Kept {
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Kept {
    /// Starts the child, and from then on keeps it running.
    pub(crate) async fn start(mut child: impl Child, slot: Slot, board: Board) -> anyhow::Result<Self> {
        let pid = child.start().await?;
        Ok(Self::started(child, pid, slot, board))
    }

    /// Keeps a child running that was started.
    pub(crate) fn started(child: impl Child, pid: u32, slot: Slot, board: Board) -> Self {
        board.set(slot, pid);
        let stop = CancellationToken::new();
        let task = tokio::spawn(keep(child, slot, board, stop.clone()));
        Self { stop, task }
    }

    /// Tells the child to stop; `stopped` waits for it.
    pub(crate) fn tell(&self) {
        self.stop.cancel();
    }

    /// Stops the child and waits until it has.
    pub(crate) async fn stopped(self) {
        self.stop.cancel();
        // A supervisor that broke down has dropped its child, and so ended it.
        self.task.await.ok();
    }
}

async fn keep(mut child: impl Child, slot: Slot, board: Board, stop: CancellationToken) {
    let mut pause = FIRST_PAUSE;
    loop {
        let began = Instant::now();
        let how = tokio::select! {
            how = child.ended() => how,
            () = stop.cancelled() => return child.stop().await,
        };
        if began.elapsed() >= STEADY {
            pause = FIRST_PAUSE;
        }
        board.report(slot, &format!("ended ({how}); it is started again"));
        loop {
            if stop
                .run_until_cancelled(tokio::time::sleep(pause))
                .await
                .is_none()
            {
                return;
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
            match child.start().await {
                Ok(pid) => break board.set(slot, pid),
                Err(error) => board.report(slot, &format!("could not be started: {error:#}")),
            }
        }
    }
}

impl Child for TierProcess {
    async fn start(&mut self) -> anyhow::Result<u32> {
        TierProcess::start(self)
    }

    async fn ended(&mut self) -> String {
        how(self.wait().await)
    }

    async fn stop(&mut self) {
        TierProcess::stop(self).await.ok();
    }
}

/// A private PostgreSQL and how it was asked to run.
pub(crate) struct KeptPostgres {
    pub options: PostgresOptions,
    pub running: Postgres,
}

impl Child for KeptPostgres {
    async fn start(&mut self) -> anyhow::Result<u32> {
        self.running = Postgres::start(self.options.clone()).await?;
        Ok(self.running.pid)
    }

    async fn ended(&mut self) -> String {
        how(self.running.wait().await)
    }

    async fn stop(&mut self) {
        self.running.stop().await.ok();
    }
}

/// A private NATS and how it was asked to run.
pub(crate) struct KeptNats {
    pub options: NatsOptions,
    pub running: Nats,
}

impl Child for KeptNats {
    async fn start(&mut self) -> anyhow::Result<u32> {
        self.running = Nats::start(self.options.clone()).await?;
        Ok(self.running.pid)
    }

    async fn ended(&mut self) -> String {
        how(self.running.wait().await)
    }

    async fn stop(&mut self) {
        self.running.stop().await.ok();
    }
}

/// How a process ended, for a person.
fn how(ended: io::Result<ExitStatus>) -> String {
    ended.map_or_else(|error| error.to_string(), |status| status.to_string())
}
