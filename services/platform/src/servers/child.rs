//! A child process that ends with this one, and that a Ctrl-C meant for this one does not reach.

use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use tokio::sync::watch;

use super::launch::Launch;

/// How a child is asked to end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Signal {
    /// SIGINT: PostgreSQL then disconnects its clients.
    Interrupt,
    /// SIGTERM.
    Terminate,
    /// SIGKILL: as a crash.
    Kill,
}

impl Signal {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Interrupt => "INT",
            Self::Terminate => "TERM",
            Self::Kill => "KILL",
        }
    }
}

/// A child process. Dropped, it is asked to end and not waited for.
#[derive(Debug)]
pub struct Child {
    pid: u32,
    ended: watch::Receiver<Option<ExitStatus>>,
    on_drop: Signal,
}

impl Child {
    /// Runs a program in a process group of its own. Where the machine can, the child also gets `on_drop` when
    /// this process dies, however it dies.
    pub fn spawn(launch: Launch, on_drop: Signal) -> std::io::Result<Self> {
        let mut command = launch.into_command(on_drop)?;
        let (pid_sender, pid) = mpsc::channel();
        let (ended_sender, ended) = watch::channel(None);
        // A thread for as long as the child lives: the kernel takes the end of the thread that started a child
        // for the end of its parent, and a runtime's threads may end before the process does.
        std::thread::Builder::new()
            .name("child".to_owned())
            .spawn(move || {
                let mut child = match command.spawn() {
                    Ok(child) => child,
                    Err(error) => {
                        let _ = pid_sender.send(Err(error));
                        return;
                    }
                };
                // Gives up this process's copies of what the child writes to.
                drop(command);
                let _ = pid_sender.send(Ok(child.id()));
                if let Ok(status) = child.wait() {
                    ended_sender.send_replace(Some(status));
                }
            })?;
        let pid = pid
            .recv()
            .map_err(|_| std::io::Error::other("the thread that starts children ended"))??;
        Ok(Self { pid, ended, on_drop })
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// How it ended, once it has.
    pub fn status(&self) -> Option<ExitStatus> {
        *self.ended.borrow()
    }

    /// Waits until it has ended.
    pub async fn wait(&self) -> std::io::Result<ExitStatus> {
        let mut ended = self.ended.clone();
        let status = ended.wait_for(Option::is_some).await.map(|status| *status);
        status
            .ok()
            .flatten()
            .ok_or_else(|| std::io::Error::other("the child cannot be waited for"))
    }

    /// Sends a signal, if it has not ended.
    pub fn signal(&self, signal: Signal) -> std::io::Result<()> {
        if self.status().is_some() {
            return Ok(());
        }
        // The shell has `kill` built in, and a process id needs no quoting.
        let command = format!("kill -s {} {}", signal.name(), self.pid);
        Command::new("/bin/sh")
            .args(["-c", &command])
            .stderr(Stdio::null())
            .status()?;
        Ok(())
    }

    /// Asks it to end, kills it if it has not within this time, and waits until it has.
    pub async fn stop(&self, signal: Signal, within: Duration) -> std::io::Result<ExitStatus> {
        self.signal(signal)?;
        if let Ok(status) = tokio::time::timeout(within, self.wait()).await {
            return status;
        }
        self.signal(Signal::Kill)?;
        self.wait().await
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.signal(self.on_drop);
    }
}
