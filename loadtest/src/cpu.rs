//! Processor time of the hub's processes, from the kernel's accounting.

use std::collections::BTreeMap;

use anyhow::Context as _;

/// Kernel clock ticks in a second, as `/proc` reports times; fixed for user space on Linux.
const TICKS_PER_SECOND: f64 = 100.0;

/// Seconds of processor time by tier or service, since each process began.
pub(crate) fn seconds_by_tier(pids: &BTreeMap<String, Vec<u32>>) -> anyhow::Result<BTreeMap<String, f64>> {
    let processes = running()?;
    let seconds = pids.iter().map(|(tier, pids)| {
        let ticks: u64 = pids.iter().map(|&pid| ticks_of(pid, &processes)).sum();
        #[expect(clippy::cast_precision_loss, reason = "2^53 ticks are three million years")]
        (tier.clone(), ticks as f64 / TICKS_PER_SECOND)
    });
    Ok(seconds.collect())
}

/// Of a process, its running children (PostgreSQL's backends) and those it has waited for.
fn ticks_of(pid: u32, processes: &[Process]) -> u64 {
    let own = processes
        .iter()
        .filter(|process| process.pid == pid)
        .map(|process| process.own + process.waited_for);
    let children = processes
        .iter()
        .filter(|process| process.parent == pid)
        .map(|process| process.own);
    own.chain(children).sum()
}

struct Process {
    pid: u32,
    parent: u32,
    /// User and system time, in ticks.
    own: u64,
    /// The same of children that have ended.
    waited_for: u64,
}

fn running() -> anyhow::Result<Vec<Process>> {
    let mut processes = Vec::new();
    for entry in std::fs::read_dir("/proc").context("list /proc")? {
        let path = entry.context("list /proc")?.path().join("stat");
        // A process that has just ended is no longer there to be read.
        if let Some(process) = std::fs::read_to_string(path).ok().as_deref().and_then(parse) {
            processes.push(process);
        }
    }
    Ok(processes)
}

/// Reads a line of `/proc/<pid>/stat`; the command in parentheses may hold anything, so fields count from its end.
fn parse(stat: &str) -> Option<Process> {
    let (before, after) = stat.rsplit_once(") ")?;
    let pid = before.split(' ').next()?.parse().ok()?;
    let fields: Vec<&str> = after.split(' ').collect();
    let field = |number: usize| fields.get(number)?.parse::<u64>().ok();
    Some(Process {
        pid,
        parent: fields.get(1)?.parse().ok()?,
        own: field(11)? + field(12)?,
        waited_for: field(13)? + field(14)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_stat_line_whose_command_holds_spaces_and_parentheses() {
        let process =
            parse("42 (a (b) c) S 7 42 42 0 -1 4194304 1 2 3 4 500 60 70 8 20 0 1 0 99 1 2").unwrap();
        assert_eq!(
            (process.pid, process.parent, process.own, process.waited_for),
            (42, 7, 560, 78)
        );
        assert!(parse("nonsense").is_none());
    }

    #[test]
    fn a_process_counts_with_its_children() {
        let process = |pid, parent, own, waited_for| Process {
            pid,
            parent,
            own,
            waited_for,
        };
        let processes = [process(1, 0, 10, 5), process(2, 1, 20, 100), process(3, 2, 40, 0)];
        assert_eq!(ticks_of(1, &processes), 35);
    }
}
