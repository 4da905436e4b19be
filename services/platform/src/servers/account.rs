//! Who a server runs as: PostgreSQL refuses to run as root.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Who to run as where this process is root, best first.
const NAMES: [&str; 2] = ["postgres", "nobody"];

/// A user of the machine.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Account {
    pub(super) uid: u32,
    pub(super) gid: u32,
}

impl Account {
    /// An unprivileged user where this process is root, otherwise none: it then runs as who we are.
    pub(super) fn unprivileged() -> std::io::Result<Option<Self>> {
        if fs::metadata("/proc/self").map_or(1, |of_process| of_process.uid()) != 0 {
            return Ok(None);
        }
        let users = fs::read_to_string("/etc/passwd")?;
        let found = NAMES.iter().find_map(|name| find(&users, name));
        found
            .map(Some)
            .ok_or_else(|| std::io::Error::other("no user postgres or nobody in /etc/passwd"))
    }

    /// Whether it may pass through a directory.
    pub(super) fn may_pass(self, directory: &Path) -> std::io::Result<bool> {
        let metadata = fs::metadata(directory)?;
        let needed = match (metadata.uid() == self.uid, metadata.gid() == self.gid) {
            (true, _) => 0o100,
            (false, true) => 0o010,
            (false, false) => 0o001,
        };
        Ok(metadata.mode() & needed != 0)
    }
}

/// `name:x:uid:gid:…` of `/etc/passwd`.
fn find(users: &str, name: &str) -> Option<Account> {
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        (fields.next()? == name).then_some(())?;
        let uid = fields.nth(1)?.parse().ok()?;
        let gid = fields.next()?.parse().ok()?;
        Some(Account { uid, gid })
    })
}

#[cfg(test)]
mod tests {
    use super::{Account, find};

    #[test]
    fn users_are_found_by_name() {
        let users = "root:x:0:0:root:/root:/bin/sh\npostgres:x:105:109:,,,:/var/lib/postgresql:/bin/bash\n";
        assert_eq!(find(users, "postgres"), Some(Account { uid: 105, gid: 109 }));
        assert_eq!(find(users, "post"), None);
    }
}
