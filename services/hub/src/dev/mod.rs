//! `ma2h-hub dev`: a whole hub on one machine, for people who try it and programs that test against it.
//!
//! Everything it keeps is in one folder, `.hub`. PostgreSQL, NATS and every replica of every tier are children of this
//! process; whoever dies is started again on its address.

mod board;
pub mod certificates;
mod description;
mod files;
mod guide;
mod hub;
mod layout;
mod leftovers;
mod lock;
pub mod ports;
mod process;
mod seed;
mod services;
mod settings;
mod state;
mod supervise;
mod voice;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

pub use description::{AgentDescription, Description, EntryKey, HumanDescription, Pids};
pub use process::TierProcess;

use hub::Hub;
use lock::Lock;
use settings::Settings;

/// What the command line says of it.
#[derive(Args)]
pub struct Options {
    /// Throw away what an earlier hub left in the folder.
    #[arg(long)]
    reset: bool,
    /// Run this command once the hub is ready, and stop when it has ended, with its exit code.
    #[arg(last = true)]
    command: Vec<OsString>,
}

/// Starts a hub, says so, keeps it running, and stops it in order.
pub async fn run(options: Options) -> anyhow::Result<ExitCode> {
    let variables = std::env::vars_os().map(|(name, value)| {
        (
            name.to_string_lossy().into_owned(),
            value.to_string_lossy().into_owned(),
        )
    });
    let settings = Settings::read(variables)?;
    let folder = settings.folder.clone();
    std::fs::create_dir_all(&folder).with_context(|| format!("create {}", folder.display()))?;
    let folder = folder
        .canonicalize()
        .with_context(|| format!("find {}", folder.display()))?;
    let lock = Lock::take(&folder)?;
    let stop = on_signals()?;

    leftovers::end(&folder).await?;
    if options.reset {
        wipe(&folder)?;
    }
    let mut hub = Hub::new(settings, folder)?;
    let outcome = hub.run(&options.command, &stop).await;
    hub.stop().await;
    drop(lock);
    outcome
}

/// Cancelled by Ctrl-C, by SIGTERM, and when the terminal goes away.
fn on_signals() -> anyhow::Result<CancellationToken> {
    let token = CancellationToken::new();
    for kind in [
        SignalKind::interrupt(),
        SignalKind::terminate(),
        SignalKind::hangup(),
    ] {
        let mut signals = signal(kind).context("listen for signals")?;
        let token = token.clone();
        tokio::spawn(async move {
            signals.recv().await;
            token.cancel();
        });
    }
    Ok(token)
}

/// Removes all but the lock, which is held.
fn wipe(folder: &Path) -> anyhow::Result<()> {
    let removed = (|| {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_name() == lock::NAME {
                continue;
            }
            let kind = entry.file_type()?;
            // A server's data may be elsewhere, behind a link.
            if kind.is_symlink() && entry.path().is_dir() {
                std::fs::remove_dir_all(entry.path().canonicalize()?)?;
            }
            if kind.is_dir() {
                std::fs::remove_dir_all(entry.path())?;
            } else {
                std::fs::remove_file(entry.path())?;
            }
        }
        Ok::<_, std::io::Error>(())
    })();
    removed.with_context(|| format!("empty {}", folder.display()))
}
