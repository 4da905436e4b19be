//! PostgreSQL's data directory: made once, with a password of its own.

use std::fs;
use std::path::{Path, PathBuf};

use super::Error;
use super::account::Account;
use super::child::Signal;
use super::launch::Launch;
use super::postgres::failed;
use super::workdir::{at, give, private_directory, write_private};
use crate::config::Secret;

/// Who owns what is in the cluster.
pub(super) const USER: &str = "postgres";
/// Kept in the data directory, so that it goes when that goes.
const PASSWORD_FILE: &str = "hub-password";

/// A data directory that a server can start on.
#[derive(Clone, Debug)]
pub(super) struct Cluster {
    pub(super) dir: PathBuf,
    pub(super) password: Secret,
}

/// Makes the data directory if it is not there. One that was begun and not finished begins anew.
pub(super) fn prepare(bin: &Path, dir: &Path, account: Option<Account>) -> Result<Cluster, Error> {
    at(dir, private_directory(dir))?;
    let password_file = dir.join(PASSWORD_FILE);
    // Written last: where it stands, all the rest does.
    if !password_file.exists() {
        at(dir, empty(dir))?;
        initialise(bin, dir, account, &password_file)?;
    }
    at(dir, give(dir, account))?;
    let password = at(&password_file, fs::read_to_string(&password_file))?;
    Ok(Cluster {
        dir: dir.to_owned(),
        password: Secret::new(password),
    })
}

fn initialise(bin: &Path, dir: &Path, account: Option<Account>, password_file: &Path) -> Result<(), Error> {
    at(dir, give(dir, account))?;
    let password = random_password();
    // Where the account can reach it, and outside the directory, which must be empty.
    let handed_over = std::env::temp_dir().join(crate::ids::mint("hub-initdb"));
    at(&handed_over, write_private(&handed_over, &password, account))?;
    let outcome = initdb(bin, dir, account, &handed_over);
    at(&handed_over, fs::remove_file(&handed_over))?;
    outcome?;
    at(password_file, write_private(password_file, &password, account))
}

fn initdb(bin: &Path, dir: &Path, account: Option<Account>, password_file: &Path) -> Result<(), Error> {
    let options = [
        "--no-sync".to_owned(),
        "--encoding=UTF8".to_owned(),
        "--locale=C".to_owned(),
        "--auth=scram-sha-256".to_owned(),
        format!("--username={USER}"),
        format!("--pwfile={}", password_file.display()),
        format!("--pgdata={}", dir.display()),
    ];
    let launch = Launch::new(bin.join("initdb")).args(options).account(account);
    let command = launch.into_command(Signal::Kill);
    let output = command.and_then(|mut command| command.output());
    let output = output.map_err(|error| failed(format!("initdb: {error}")))?;
    if output.status.success() {
        return Ok(());
    }
    Err(failed(format!(
        "initdb: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    )))
}

fn empty(dir: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if fs::symlink_metadata(&path)?.is_dir() {
            fs::remove_dir_all(&path)?;
        } else {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

/// 128 random bits, all of which a URL can carry.
fn random_password() -> String {
    format!("{:032x}", rand::random::<u128>())
}
