//! A private NATS server with JetStream.

use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::net::TcpStream;

use super::child::{Child, Signal};
use super::launch::Launch;
use super::program::find_nats;
use super::workdir::{at, log_file, log_tail};
use super::{Error, free_port};
use crate::config::Secret;
use crate::ids;

const PROGRAM: &str = "nats-server";
/// How long it may take to answer.
const READY_TIMEOUT: Duration = Duration::from_secs(20);
const READY_POLL: Duration = Duration::from_millis(10);
/// How long it may take to end.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);
/// Starts before giving up on finding a port that stays free.
const STARTS_MAX: u32 = 10;
/// The longest greeting that is read.
const GREETING_BYTES_MAX: u64 = 8192;

/// Where it runs.
#[derive(Clone, Debug)]
pub struct NatsOptions {
    /// What it holds; made if missing.
    pub dir: PathBuf,
    /// Its port on loopback; 0 picks a free one.
    pub port: u16,
}

/// A running NATS server. Dropped, it is asked to end.
#[derive(Debug)]
pub struct Nats {
    /// Its address.
    pub url: Secret,
    /// Its port.
    pub port: u16,
    /// Its process.
    pub pid: u32,
    child: Child,
}

impl Nats {
    /// Starts it and waits until it answers. It listens on loopback alone.
    pub async fn start(options: NatsOptions) -> Result<Self, Error> {
        let program = find_nats()?;
        let dir = at(&options.dir, std::path::absolute(&options.dir))?;
        at(&dir, std::fs::create_dir_all(&dir))?;
        let mut failure = failed("it was never started");
        for _ in 0..STARTS_MAX {
            let port = match options.port {
                0 => at(&dir, free_port())?,
                port => port,
            };
            match Self::launch(&program, &dir, port).await {
                Err(error @ Error::Failed { .. }) if options.port == 0 => failure = error,
                outcome => return outcome,
            }
        }
        Err(failure)
    }

    async fn launch(program: &Path, dir: &Path, port: u16) -> Result<Self, Error> {
        let (log_path, log) = log_file(dir)?;
        let store = dir.join("jetstream").display().to_string();
        let port_text = port.to_string();
        // Tells it from another server that took the port a moment earlier.
        let name = ids::mint("hub");
        let mut arguments = vec!["--jetstream", "--store_dir", &store, "--name", &name];
        arguments.extend(["--addr", "127.0.0.1", "--port", &port_text]);
        let launch = Launch::new(program).args(arguments).log(log);
        let child = Child::spawn(launch, Signal::Terminate).map_err(|error| failed(error.to_string()))?;
        let url = Secret::new(format!("nats://127.0.0.1:{port}"));
        let nats = Self {
            url,
            port,
            pid: child.pid(),
            child,
        };
        nats.answered(&name, &log_path).await?;
        Ok(nats)
    }

    async fn answered(&self, name: &str, log: &Path) -> Result<(), Error> {
        let answers = async {
            while !greeting(self.port).await.is_ok_and(|text| text.contains(name)) {
                tokio::time::sleep(READY_POLL).await;
            }
        };
        tokio::select! {
            () = answers => Ok(()),
            _ = self.child.wait() => Err(failed(log_tail(log))),
            () = tokio::time::sleep(READY_TIMEOUT) => {
                Err(Error::NotReady { program: PROGRAM, waited_ms: READY_TIMEOUT.as_millis() })
            }
        }
    }

    /// Waits until it has ended.
    pub async fn wait(&self) -> std::io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Asks it to end and waits until it has.
    pub async fn stop(&self) -> std::io::Result<()> {
        self.child.stop(Signal::Terminate, STOP_TIMEOUT).await.map(|_| ())
    }

    /// Kills it as a crash would, and waits until it has ended.
    pub async fn kill(&self) -> std::io::Result<()> {
        self.child.signal(Signal::Kill)?;
        self.wait().await.map(|_| ())
    }
}

/// What it says of itself to a client that connects, its name among it.
#[expect(clippy::disallowed_methods, reason = "a server that was started here")]
async fn greeting(port: u16) -> std::io::Result<String> {
    let stream = TcpStream::connect(("127.0.0.1", port)).await?;
    let mut text = String::new();
    BufReader::new(stream.take(GREETING_BYTES_MAX))
        .read_line(&mut text)
        .await?;
    Ok(text)
}

fn failed(message: impl Into<String>) -> Error {
    Error::Failed {
        program: PROGRAM,
        message: message.into(),
    }
}
