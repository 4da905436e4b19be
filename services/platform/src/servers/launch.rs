//! What to run as a child, and under which account.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use super::account::Account;
use super::child::Signal;
use super::program::find_in_path;

/// A program with what it gets. Its environment is what stands here, and `PATH`.
#[derive(Debug)]
pub struct Launch {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its environment.
    pub env: Vec<(String, String)>,
    /// Where its output goes; to where ours goes if nowhere.
    pub log: Option<File>,
    /// Another user to run as.
    pub(super) account: Option<Account>,
}

impl Launch {
    /// A program without arguments.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            env: Vec::new(),
            log: None,
            account: None,
        }
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: Into<String>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Adds to the environment.
    #[must_use]
    pub fn env(mut self, variables: impl IntoIterator<Item = (String, String)>) -> Self {
        self.env.extend(variables);
        self
    }

    /// Sends its output to a file.
    #[must_use]
    pub fn log(mut self, file: File) -> Self {
        self.log = Some(file);
        self
    }

    pub(super) fn account(mut self, account: Option<Account>) -> Self {
        self.account = account;
        self
    }

    /// The command to start, which the kernel ends with `at_death` when its parent is gone.
    pub(super) fn into_command(self, at_death: Signal) -> std::io::Result<Command> {
        let mut command = match prefix(self.account, at_death)? {
            None => Command::new(&self.program),
            Some((setpriv, options)) => {
                let mut command = Command::new(setpriv);
                command.args(options).arg("--").arg(&self.program);
                command
            }
        };
        command
            .args(&self.args)
            .env_clear()
            .envs(self.env)
            .process_group(0)
            .stdin(Stdio::null());
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        if let Some(log) = self.log {
            command.stdout(log.try_clone()?).stderr(log);
        }
        if self.account.is_some() {
            // Ours may be one that it cannot be in.
            command.current_dir("/");
        }
        Ok(command)
    }
}

/// `setpriv` with its options, if there is something for it to do that it can do.
fn prefix(account: Option<Account>, at_death: Signal) -> std::io::Result<Option<(PathBuf, Vec<String>)>> {
    let mut options = Vec::new();
    if let Some(Account { uid, gid }) = account {
        options.extend([
            format!("--reuid={uid}"),
            format!("--regid={gid}"),
            "--clear-groups".to_owned(),
        ]);
    }
    if can_bind() {
        options.extend(["--pdeathsig".to_owned(), at_death.name().to_owned()]);
    }
    if options.is_empty() {
        return Ok(None);
    }
    let setpriv = find_in_path("setpriv")
        .ok_or_else(|| std::io::Error::other("setpriv (util-linux) is not installed, and we are root"))?;
    Ok(Some((setpriv, options)))
}

/// Whether this machine's `setpriv` can bind a child to its parent.
fn can_bind() -> bool {
    static CAN_BIND: OnceLock<bool> = OnceLock::new();
    *CAN_BIND.get_or_init(|| {
        find_in_path("setpriv").is_some_and(|setpriv| {
            let mut trial = Command::new(setpriv);
            trial
                .args(["--pdeathsig", "TERM", "true"])
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            trial.status().is_ok_and(|status| status.success())
        })
    })
}
