//! Runs a command, usually `cargo test`, with one private PostgreSQL and NATS for all that it starts; ends them with it
//! and passes its exit code on.

use std::ffi::OsString;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{ExitCode, ExitStatus};

use anyhow::Context as _;
use hub_platform::servers::{Nats, NatsOptions, Postgres, PostgresOptions};
use hub_testkit::run::Run;
use rustix::process::{Pid, Signal, kill_process};
use tokio::process::Command;
use tokio::signal::unix::{SignalKind, signal};
use tokio_postgres::NoTls;

const TEMPLATE: &str = "hub_template";
/// Added to a signal's number where a signal ended the command, as shells do.
const SIGNALLED: i32 = 128;

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let command: Vec<OsString> = std::env::args_os().skip(1).collect();
    anyhow::ensure!(!command.is_empty(), "usage: with-services <command> [argument]…");
    let dir = tempfile::Builder::new()
        .prefix("hub-test-")
        .tempdir()
        .context("make a folder")?;
    // As root, PostgreSQL runs as another user, who has to get through to its data.
    std::fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).context("open the folder")?;

    let postgres = PostgresOptions {
        dir: dir.path().join("postgres"),
        port: 0,
        fsync: false,
    };
    let nats = NatsOptions {
        dir: dir.path().join("nats"),
        port: 0,
    };
    let (postgres, nats) = tokio::join!(Postgres::start(postgres), Nats::start(nats));
    let (postgres, nats) = (postgres?, nats?);

    let ended = match prepare(&postgres, &nats, dir.path()).await {
        Ok(run) => run_command(&command, &run).await,
        Err(error) => Err(error),
    };
    nats.stop().await.context("stop NATS")?;
    postgres.stop().await.context("stop PostgreSQL")?;
    Ok(exit_code(ended?))
}

/// Certificates, and the database that every test gets a copy of.
async fn prepare(postgres: &Postgres, nats: &Nats, dir: &Path) -> anyhow::Result<Run> {
    ma2h_hub::dev::certificates::issue(dir)?;
    let (client, connection) = tokio_postgres::connect(postgres.url.expose(), NoTls)
        .await
        .context("connect to PostgreSQL")?;
    let connection = tokio::spawn(connection);
    client
        .batch_execute(&format!("CREATE DATABASE {TEMPLATE}"))
        .await
        .context("create the template")?;
    drop(client);
    connection.await.ok();
    ma2h_hub::migrate::migrate(&postgres.url_of(TEMPLATE))
        .await
        .context("migrate the template")?;
    Ok(Run {
        postgres: postgres.url.expose().to_owned(),
        template: TEMPLATE.to_owned(),
        nats: nats.url.expose().to_owned(),
        dir: dir.to_owned(),
    })
}

/// Runs the command to its end. Ctrl-C reaches it from the terminal, so that is only outlived here; SIGTERM is passed on.
async fn run_command(command: &[OsString], run: &Run) -> anyhow::Result<ExitStatus> {
    let mut interrupts = signal(SignalKind::interrupt()).context("listen for signals")?;
    let mut terminations = signal(SignalKind::terminate()).context("listen for signals")?;
    let mut child = Command::new(&command[0])
        .args(&command[1..])
        .envs(run.variables())
        .spawn()
        .with_context(|| format!("start {}", command[0].display()))?;
    let pid = child.id().and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
    loop {
        tokio::select! {
            ended = child.wait() => return ended.context("wait for the command"),
            _ = interrupts.recv() => {}
            _ = terminations.recv() => {
                if let Some(pid) = pid {
                    kill_process(pid, Signal::TERM).ok();
                }
            }
        }
    }
}

fn exit_code(ended: ExitStatus) -> ExitCode {
    let code = ended
        .code()
        .or_else(|| ended.signal().map(|number| SIGNALLED + number));
    code.and_then(|code| u8::try_from(code).ok())
        .map_or(ExitCode::FAILURE, ExitCode::from)
}
