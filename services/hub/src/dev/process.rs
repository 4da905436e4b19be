//! A tier as a process of this same program.

use std::fs::OpenOptions;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use anyhow::Context as _;
use hub_platform::config::Config;
use hub_platform::db::Tier;
use hub_platform::servers::{Child, Launch, Signal};

/// What a tier may take beyond its own grace before it is killed.
const STOP_SLACK: Duration = Duration::from_secs(2);

/// One replica of a tier. It ends with this process, and when this is dropped.
pub struct TierProcess {
    tier: Tier,
    program: PathBuf,
    config: Config,
    log: PathBuf,
    env: Vec<(String, String)>,
    child: Option<Child>,
}

impl TierProcess {
    /// Of a tier, what it is told, and the file its log is appended to. It is not running yet.
    pub fn new(program: PathBuf, tier: Tier, config: Config, log: PathBuf) -> Self {
        Self {
            tier,
            program,
            config,
            log,
            env: Vec::new(),
            child: None,
        }
    }

    /// Adds to the environment of its next start, beside its configuration.
    pub fn set_env(&mut self, env: Vec<(String, String)>) {
        self.env = env;
    }

    /// Starts it and returns its process id.
    pub fn start(&mut self) -> anyhow::Result<u32> {
        let log = OpenOptions::new().create(true).append(true).open(&self.log);
        let log = log.with_context(|| format!("open {}", self.log.display()))?;
        let launch = Launch::new(&self.program)
            .args([self.tier.as_str()])
            .env(self.config.to_env())
            .env(self.env.iter().cloned())
            .log(log);
        let child = Child::spawn(launch, Signal::Terminate)
            .with_context(|| format!("start {}", self.program.display()))?;
        let pid = child.pid();
        self.child = Some(child);
        Ok(pid)
    }

    /// Waits until it has ended; at once where it does not run.
    pub async fn wait(&self) -> std::io::Result<ExitStatus> {
        match &self.child {
            Some(child) => child.wait().await,
            None => Ok(ExitStatus::default()),
        }
    }

    /// Asks it to finish what is in hand and end; kills it when that takes too long.
    pub async fn stop(&mut self) -> std::io::Result<()> {
        let grace = Duration::from_secs(self.config.listen.shutdown_grace_seconds) + STOP_SLACK;
        match self.child.take() {
            Some(child) => child.stop(Signal::Terminate, grace).await.map(drop),
            None => Ok(()),
        }
    }

    /// Ends it as a crash would.
    pub async fn kill(&mut self) -> std::io::Result<()> {
        match self.child.take() {
            Some(child) => child.stop(Signal::Kill, STOP_SLACK).await.map(drop),
            None => Ok(()),
        }
    }

    /// Its process id while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(Child::pid)
    }

    /// Sends it a signal, if it runs.
    pub fn signal(&self, signal: Signal) -> std::io::Result<()> {
        match &self.child {
            Some(child) => child.signal(signal),
            None => Ok(()),
        }
    }
}
