//! A private PostgreSQL.

use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use tokio_postgres::NoTls;

use super::account::Account;
use super::child::{Child, Signal};
use super::launch::Launch;
use super::program::find_postgres;
use super::workdir::{at, log_file, log_tail, reachable};
use super::{Error, cluster, free_port};
use crate::config::Secret;

const PROGRAM: &str = "postgres";
/// How long it may take to answer, recovery after a crash included.
const READY_TIMEOUT: Duration = Duration::from_mins(1);
const READY_POLL: Duration = Duration::from_millis(20);
/// How long it may take to end.
const STOP_TIMEOUT: Duration = Duration::from_secs(20);
/// Starts before giving up: a free port may be taken by somebody else, and what a crash left of the last server
/// may need a moment to end.
const STARTS_MAX: u32 = 50;
const START_PAUSE: Duration = Duration::from_millis(100);
/// Enough for two replicas of every tier, and for the tests beside them.
const CONNECTIONS_MAX: u32 = 300;

/// Where and how it runs.
#[derive(Clone, Debug)]
pub struct PostgresOptions {
    /// Its data directory; made if missing.
    pub dir: PathBuf,
    /// Its port on loopback; 0 picks a free one.
    pub port: u16,
    /// Whether commits survive the machine; tests do without.
    pub fsync: bool,
}

/// A running PostgreSQL. Dropped, it is asked to end.
#[derive(Debug)]
pub struct Postgres {
    /// Its address, with user, password and the database `postgres`.
    pub url: Secret,
    /// Its port.
    pub port: u16,
    /// Its process.
    pub pid: u32,
    password: Secret,
    child: Child,
}

impl Postgres {
    /// Starts it and waits until it answers. It listens on loopback alone, and asks for a password.
    pub async fn start(options: PostgresOptions) -> Result<Self, Error> {
        let bin = find_postgres()?;
        let account = at(Path::new("/etc/passwd"), Account::unprivileged())?;
        let dir = reachable(&options.dir, account)?;
        // Copies files and waits for `initdb`.
        let prepared = tokio::task::spawn_blocking({
            let (bin, dir) = (bin.clone(), dir.clone());
            move || cluster::prepare(&bin, &dir, account)
        });
        let data = prepared.await.map_err(|error| failed(error.to_string()))??;
        let mut failure = failed("it was never started");
        for _ in 0..STARTS_MAX {
            let port = match options.port {
                0 => at(&dir, free_port())?,
                port => port,
            };
            match Self::launch(&bin, &options, &data, port, account).await {
                Err(error) if is_passing(&error, options.port) => failure = error,
                outcome => return outcome,
            }
            tokio::time::sleep(START_PAUSE).await;
        }
        Err(failure)
    }

    async fn launch(
        bin: &Path,
        options: &PostgresOptions,
        data: &cluster::Cluster,
        port: u16,
        account: Option<Account>,
    ) -> Result<Self, Error> {
        let (log_path, log) = log_file(&options.dir)?;
        let launch = Launch::new(bin.join(PROGRAM)).args(arguments(data, port, options.fsync));
        let launch = launch.log(log).account(account);
        let child = Child::spawn(launch, Signal::Interrupt).map_err(|error| failed(error.to_string()))?;
        let password = data.password.clone();
        let url = url(&password, port, "postgres");
        let postgres = Self {
            url,
            port,
            pid: child.pid(),
            password,
            child,
        };
        postgres.answered(&log_path).await?;
        Ok(postgres)
    }

    async fn answered(&self, log: &Path) -> Result<(), Error> {
        let answers = async {
            while greet(&self.url).await.is_err() {
                tokio::time::sleep(READY_POLL).await;
            }
        };
        tokio::select! {
            () = answers => Ok(()),
            _ = self.child.wait() => Err(failed(log_tail(log))),
            () = tokio::time::sleep(READY_TIMEOUT) => {
                Err(Error::NotReady { program: PROGRAM, waited_ms: READY_TIMEOUT.as_millis() })
            }
        }
    }

    /// Its address with another database.
    pub fn url_of(&self, database: &str) -> Secret {
        url(&self.password, self.port, database)
    }

    /// Waits until it has ended.
    pub async fn wait(&self) -> std::io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Asks it to end, disconnecting its clients, and waits until it has.
    pub async fn stop(&self) -> std::io::Result<()> {
        self.child.stop(Signal::Interrupt, STOP_TIMEOUT).await.map(|_| ())
    }

    /// Kills it as a crash would, and waits until it has ended.
    pub async fn kill(&self) -> std::io::Result<()> {
        self.child.signal(Signal::Kill)?;
        self.wait().await.map(|_| ())
    }
}

async fn greet(url: &Secret) -> Result<(), tokio_postgres::Error> {
    let (client, connection) = tokio_postgres::connect(url.expose(), NoTls).await?;
    let connection = tokio::spawn(connection);
    let answer = client.simple_query("SELECT 1").await;
    drop(client);
    let _ = connection.await;
    answer.map(|_| ())
}

fn url(password: &Secret, port: u16, database: &str) -> Secret {
    let user = cluster::USER;
    Secret::new(format!(
        "postgres://{user}:{}@127.0.0.1:{port}/{database}",
        password.expose()
    ))
}

fn arguments(data: &cluster::Cluster, port: u16, fsync: bool) -> Vec<String> {
    let mut settings = vec![
        "listen_addresses=127.0.0.1".to_owned(),
        "unix_socket_directories=".to_owned(),
        format!("max_connections={CONNECTIONS_MAX}"),
        "log_min_messages=warning".to_owned(),
    ];
    if !fsync {
        settings.extend(["fsync=off", "full_page_writes=off", "synchronous_commit=off"].map(str::to_owned));
    }
    let mut arguments = vec!["-D".to_owned(), data.dir.display().to_string()];
    arguments.extend(["-p".to_owned(), port.to_string()]);
    arguments.extend(
        settings
            .into_iter()
            .flat_map(|setting| ["-c".to_owned(), setting]),
    );
    arguments
}

/// Whether it may start a moment later, or on another port.
fn is_passing(error: &Error, wanted_port: u16) -> bool {
    let Error::Failed { message, .. } = error else {
        return false;
    };
    let is_port_taken = message.contains("could not create any TCP/IP sockets");
    message.contains("pre-existing shared memory block") || (is_port_taken && wanted_port == 0)
}

pub(super) fn failed(message: impl Into<String>) -> Error {
    Error::Failed {
        program: PROGRAM,
        message: message.into(),
    }
}
