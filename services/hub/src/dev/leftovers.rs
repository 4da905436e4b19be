//! What a hub that was killed left running in its folder.
//!
//! Where the kernel binds children to their parent they are ending by themselves, and are waited for. Elsewhere they
//! are ended here, each only if the process under the recorded id really works on this folder, for ids are used again.

use std::path::Path;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use tokio::process::Command;
use tokio::time::Instant;

use super::{Description, Pids, voice};

const PATIENCE: Duration = Duration::from_secs(15);
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Ends what is left of an earlier hub, and takes away its description.
pub(crate) async fn end(folder: &Path) -> anyhow::Result<()> {
    let path = folder.join("dev.json");
    if let Ok(left) = Description::read(&path) {
        let Pids {
            gateway,
            lifecycle,
            delivery,
            presence,
            nats,
            ..
        } = left.pids;
        let program = std::env::current_exe().unwrap_or_default().display().to_string();
        for pid in [gateway, lifecycle, delivery, presence].concat() {
            end_process(pid, &program, &[Signal::TERM, Signal::KILL]).await;
        }
        for pid in nats {
            end_process(pid, &resolved(folder, "nats"), &[Signal::TERM, Signal::KILL]).await;
        }
    }
    let data = resolved(folder, "postgres");
    if let Some(pid) = postmaster(Path::new(&data)) {
        // Fast, then immediate shutdown.
        end_process(pid, &data, &[Signal::INT, Signal::QUIT]).await;
    }
    if path.exists() {
        std::fs::remove_file(path)?;
    }
    Ok(())
}

/// A server's folder, which may be a link.
fn resolved(folder: &Path, name: &str) -> String {
    let wanted = folder.join(name);
    wanted.canonicalize().unwrap_or(wanted).display().to_string()
}

/// The first line of the file that a running PostgreSQL keeps in its data directory.
fn postmaster(data: &Path) -> Option<u32> {
    let text = std::fs::read_to_string(data.join("postmaster.pid")).ok()?;
    text.lines().next()?.trim().parse().ok()
}

/// Ends a process whose command line names `of_ours`: with the signals one after the other, each when the one before did
/// not do in time.
async fn end_process(pid: u32, of_ours: &str, signals: &[Signal]) {
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
        return;
    };
    match arguments(pid).await {
        Some(arguments) if arguments.contains(of_ours) => {}
        _ => return,
    }
    voice::say(format_args!(
        "an earlier hub left process {} behind; ending it",
        pid.as_raw_nonzero()
    ));
    for signal in signals {
        kill_process(pid, *signal).ok();
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            if test_kill_process(pid).is_err() {
                return;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
}

/// The command line of a running process.
async fn arguments(pid: Pid) -> Option<String> {
    let pid = pid.as_raw_nonzero().to_string();
    if let Ok(bytes) = std::fs::read(format!("/proc/{pid}/cmdline")) {
        return Some(String::from_utf8_lossy(&bytes).replace('\0', " "));
    }
    let listed = Command::new("ps")
        .args(["-o", "args=", "-p", &pid])
        .output()
        .await
        .ok()?;
    listed
        .status
        .success()
        .then(|| String::from_utf8_lossy(&listed.stdout).into_owned())
}
