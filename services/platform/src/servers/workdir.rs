//! A server's directory, where the account it runs as can reach it.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, chown, lchown, symlink};
use std::path::{Path, PathBuf};

use super::Error;
use super::account::Account;
use crate::ids;

/// What is shown of a log when a server fails.
const LOG_TAIL_BYTES: u64 = 2000;
/// Where data goes that its account could not reach in the place asked for.
const ELSEWHERE: &str = "/var/tmp";

/// Gives an error its path.
pub(super) fn at<T>(path: &Path, outcome: std::io::Result<T>) -> Result<T, Error> {
    outcome.map_err(|source| Error::Files {
        path: path.display().to_string(),
        source,
    })
}

/// The directory that `wanted` stands for. An unprivileged account often cannot reach into the home of root:
/// `wanted` then is a link to a place that it can reach.
pub(super) fn reachable(wanted: &Path, account: Option<Account>) -> Result<PathBuf, Error> {
    let wanted = at(wanted, std::path::absolute(wanted))?;
    let parent = wanted.parent().unwrap_or(Path::new("/"));
    at(parent, fs::create_dir_all(parent))?;
    if let Ok(elsewhere) = fs::read_link(&wanted) {
        if elsewhere.is_dir() {
            return Ok(elsewhere);
        }
        at(&wanted, fs::remove_file(&wanted))?;
    }
    let Some(account) = account else {
        return Ok(wanted);
    };
    if wanted.exists() || passes(parent, account)? {
        return Ok(wanted);
    }
    let elsewhere = Path::new(ELSEWHERE).join(ids::mint("ma2h-hub"));
    at(&elsewhere, private_directory(&elsewhere))?;
    at(&wanted, symlink(&elsewhere, &wanted))?;
    Ok(elsewhere)
}

/// Whether the account may pass through a directory and all above it. Temporary directories of ours are opened
/// for passage, not for looking around.
fn passes(directory: &Path, account: Account) -> Result<bool, Error> {
    let directory = at(directory, fs::canonicalize(directory))?;
    for ancestor in directory.ancestors() {
        if at(ancestor, account.may_pass(ancestor))? {
            continue;
        }
        if !ancestor.starts_with(std::env::temp_dir()) {
            return Ok(false);
        }
        let mode = at(ancestor, fs::metadata(ancestor))?.mode();
        at(
            ancestor,
            fs::set_permissions(ancestor, Permissions::from_mode(mode | 0o011)),
        )?;
    }
    Ok(true)
}

/// Makes a directory that only its owner sees, if it is not there.
pub(super) fn private_directory(directory: &Path) -> std::io::Result<()> {
    if directory.is_dir() {
        return Ok(());
    }
    fs::DirBuilder::new().mode(0o700).create(directory)
}

/// Gives a directory and all in it to the account, if it is not its own.
pub(super) fn give(directory: &Path, account: Option<Account>) -> std::io::Result<()> {
    let Some(Account { uid, gid }) = account else {
        return Ok(());
    };
    if fs::symlink_metadata(directory)?.uid() == uid {
        return Ok(());
    }
    give_all(directory, uid, gid)
}

fn give_all(path: &Path, uid: u32, gid: u32) -> std::io::Result<()> {
    if fs::symlink_metadata(path)?.is_dir() {
        for entry in fs::read_dir(path)? {
            give_all(&entry?.path(), uid, gid)?;
        }
    }
    lchown(path, Some(uid), Some(gid))
}

/// Writes a file that only its owner reads.
pub(super) fn write_private(path: &Path, text: &str, account: Option<Account>) -> std::io::Result<()> {
    fs::write(path, text)?;
    fs::set_permissions(path, Permissions::from_mode(0o600))?;
    match account {
        Some(Account { uid, gid }) => chown(path, Some(uid), Some(gid)),
        None => Ok(()),
    }
}

/// The log beside a server's directory, begun anew.
pub(super) fn log_file(directory: &Path) -> Result<(PathBuf, File), Error> {
    let mut path = directory.as_os_str().to_owned();
    path.push(".log");
    let path = PathBuf::from(path);
    at(&path, File::create(&path))?;
    // What is left of a process that was killed may still write, and must not write over what its successor says.
    let file = at(&path, OpenOptions::new().append(true).open(&path))?;
    Ok((path, file))
}

/// The last lines of a log.
pub(super) fn log_tail(path: &Path) -> String {
    let read = || -> std::io::Result<String> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(LOG_TAIL_BYTES)))?;
        let mut bytes = Vec::new();
        file.take(LOG_TAIL_BYTES).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
    };
    read().unwrap_or_default()
}
