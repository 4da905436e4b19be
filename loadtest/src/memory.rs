//! Memory of the hub's processes, from the kernel's accounting.

use anyhow::Context as _;

/// What a process has in memory, in bytes.
pub(crate) fn resident_bytes(pid: u32) -> anyhow::Result<u64> {
    let path = format!("/proc/{pid}/status");
    let status = std::fs::read_to_string(&path).with_context(|| format!("read {path}"))?;
    parse(&status).with_context(|| format!("{path} tells of no resident memory"))
}

/// Reads the line `VmRSS:     1234 kB`.
fn parse(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn reads_what_is_resident() {
        let status = "Name:\tma2h-hub\nVmHWM:\t   9999 kB\nVmRSS:\t   1234 kB\nThreads:\t4\n";
        assert_eq!(parse(status), Some(1234 * 1024));
        assert_eq!(parse("Name:\tkthreadd\n"), None);
    }
}
