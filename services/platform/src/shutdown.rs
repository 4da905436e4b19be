//! How a process ends: one signal that everybody hears, and a list of who is still busy.

use std::future::Future;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// A signal to stop, and the tasks that are waited for. Clones share both.
#[derive(Clone, Debug, Default)]
pub struct Shutdown {
    token: CancellationToken,
    tracker: TaskTracker,
}

impl Shutdown {
    /// One that only `trigger` sets off.
    pub fn new() -> Self {
        Self::default()
    }

    /// One that SIGTERM or SIGINT sets off as well.
    pub fn on_signals() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let shutdown = Self::new();
        let token = shutdown.token.clone();
        tokio::spawn(async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
                () = token.cancelled() => {}
            }
            token.cancel();
        });
        Ok(shutdown)
    }

    /// Asks everybody to stop.
    pub fn trigger(&self) {
        self.token.cancel();
    }

    /// Whether everybody was asked to stop.
    pub fn is_triggered(&self) -> bool {
        self.token.is_cancelled()
    }

    /// Ends when everybody was asked to stop.
    pub async fn requested(&self) {
        self.token.cancelled().await;
    }

    /// The signal itself, for what wants a token.
    pub fn token(&self) -> CancellationToken {
        self.token.clone()
    }

    /// Runs a task that `drained` waits for: what must finish though its client has gone.
    pub fn spawn<F>(&self, task: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.tracker.spawn(task)
    }

    /// Waits until the spawned tasks have ended, and says whether they did in time.
    pub async fn drained(&self, within: Duration) -> bool {
        self.tracker.close();
        tokio::time::timeout(within, self.tracker.wait()).await.is_ok()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Shutdown;

    #[tokio::test]
    async fn who_is_busy_is_waited_for() {
        let shutdown = Shutdown::new();
        let task = shutdown.clone();
        shutdown.spawn(async move { task.requested().await });
        assert!(!shutdown.drained(Duration::from_millis(1)).await);
        shutdown.trigger();
        assert!(shutdown.drained(Duration::from_secs(10)).await);
    }
}
