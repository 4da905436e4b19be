//! A hub of real processes with a PostgreSQL and a NATS of its own, a proxy in every connection and a clock for each
//! process, so that all of it can be made to fail.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use hub_platform::config::{Config, Secret};
use hub_platform::db::Tier;
use hub_platform::servers::{Nats, NatsOptions, Postgres, PostgresOptions};
use ma2h_hub::dev::TierProcess;
use rustix::process::{Pid, Signal, kill_process};

use super::schedule::{Act, Link, Replica};
use super::shim::Shim;
use crate::certificates;
use crate::client::Api;
use crate::hub::TestHubBuilder;
use crate::processes::{connected, listening, program, reserve_port};
use crate::proxy::Proxy;

/// What makes the bound on owed work short: a lost claim, job or drain comes back within seconds.
const SHORT: [(&str, &str); 10] = [
    ("HUB_REPUBLISH_AFTER_MS", "2000"),
    ("HUB_CLAIM_SLACK_MS", "3000"),
    ("HUB_INBOUND_VISIBILITY_TIMEOUT_SECONDS", "2"),
    ("HUB_CALLBACK_TIMEOUT_MS", "2000"),
    ("HUB_CALLBACK_MAX_ATTEMPTS", "40"),
    ("HUB_NATS_JOB_ACK_WAIT_MS", "3000"),
    ("HUB_PEERS_CALL_TIMEOUT_MS", "4000"),
    ("HUB_PEERS_ATTEMPT_TIMEOUT_MS", "1500"),
    ("HUB_PEERS_KEEPALIVE_MS", "1000"),
    ("HUB_DATABASE_ACQUIRE_TIMEOUT_MS", "1000"),
];
/// How long the whole hub may take to be ready after the last fault.
const READY_WITHIN: Duration = Duration::from_mins(1);
const READY_ANSWER: Duration = Duration::from_secs(2);
const READY_POLL: Duration = Duration::from_millis(100);

/// A hub, and all that it stands on.
pub(super) struct House {
    pub(super) config: Config,
    /// Of each gateway, through its proxy.
    pub(super) base_urls: Vec<String>,
    dir: PathBuf,
    ports: (u16, u16),
    postgres: Option<Postgres>,
    nats: Option<Nats>,
    rooms: Vec<Room>,
}

/// One process, and what stands around it.
struct Room {
    replica: Replica,
    process: TierProcess,
    shim: Option<Shim>,
    front: Proxy,
    postgres: Proxy,
    nats: Proxy,
}

impl House {
    /// Starts so many of each tier, with their data and logs in a folder.
    pub(super) async fn start(
        dir: &Path,
        replicas: usize,
        settings: &[(&str, &str)],
    ) -> anyhow::Result<Self> {
        // PostgreSQL may run as another user, who has to get through to its data.
        std::fs::set_permissions(dir, Permissions::from_mode(0o755)).context("open the folder")?;
        let (postgres, nats) = tokio::join!(
            Postgres::start(postgres_options(dir, 0)),
            Nats::start(nats_options(dir, 0))
        );
        let (postgres, nats) = (postgres?, nats?);
        ma2h_hub::migrate::migrate(&Secret::new(postgres.url.expose().to_owned())).await?;

        let builder = SHORT
            .iter()
            .chain(settings)
            .fold(TestHubBuilder::default(), |builder, (name, value)| {
                builder.set(name, value)
            })
            .set("HUB_DATABASE_URL", postgres.url.expose())
            .set("HUB_NATS_URL", nats.url.expose());
        let mut house = Self {
            config: builder.config(),
            base_urls: Vec::new(),
            dir: dir.to_owned(),
            ports: (postgres.port, nats.port),
            postgres: Some(postgres),
            nats: Some(nats),
            rooms: Vec::new(),
        };
        house.furnish(replicas).await?;
        house.await_ready().await?;
        Ok(house)
    }

    /// Starts every process behind its proxies.
    async fn furnish(&mut self, replicas: usize) -> anyhow::Result<()> {
        let mut places = Vec::new();
        let mut fronts = Vec::new();
        for tier in Tier::ALL {
            let mut front_ports = Vec::new();
            for number in 0..replicas {
                let port = reserve_port();
                let front = Proxy::to(port).await;
                front_ports.push(front.port());
                places.push((Replica { tier, number }, port, front));
            }
            fronts.push((tier, front_ports));
        }
        let config = connected(&self.config, &fronts);
        for (replica, port, front) in places {
            let (postgres, nats) = (Proxy::to(self.ports.0).await, Proxy::to(self.ports.1).await);
            let mut config = listening(&config, replica.tier, port);
            config.database.url = through(&config.database.url, self.ports.0, postgres.port());
            config.nats.url = through(&config.nats.url, self.ports.1, nats.port());
            let shim = Shim::of(&self.dir.join(format!("{replica}.clock")))?;
            let log = self.dir.join(format!("{replica}.log"));
            let mut process = TierProcess::new(program(), replica.tier, config, log);
            process.set_env(shim.as_ref().map(Shim::env).unwrap_or_default());
            process.start()?;
            if replica.tier == Tier::Gateway {
                self.base_urls.push(format!("https://127.0.0.1:{}", front.port()));
            }
            self.rooms.push(Room {
                replica,
                process,
                shim,
                front,
                postgres,
                nats,
            });
        }
        Ok(())
    }

    /// The deployment admin, at the first gateway.
    pub(super) fn admin(&self) -> Api {
        let token = self.config.gateway.admin_token.as_ref().map(Secret::expose);
        Api::new(
            certificates::client(),
            &self.base_urls[0],
            token.map(str::to_owned),
        )
    }

    /// The database as its superuser, past all proxies.
    pub(super) fn database_url(&self) -> &str {
        self.config.database.url.expose()
    }

    /// Waits until every gateway says that the hub can serve.
    pub(super) async fn await_ready(&self) -> anyhow::Result<()> {
        let http = certificates::client();
        let all_ready = async {
            for url in &self.base_urls {
                while !is_ready(&http, url).await {
                    tokio::time::sleep(READY_POLL).await;
                }
            }
        };
        tokio::time::timeout(READY_WITHIN, all_ready)
            .await
            .context("the hub was not ready in time")
    }

    /// Does what the schedule says. What cannot be done as things are, is left out.
    pub(super) async fn act(&mut self, act: Act) -> anyhow::Result<()> {
        match act {
            Act::Kill(replica) => self.room(replica)?.process.kill().await?,
            Act::Terminate(replica) => self.room(replica)?.process.stop().await?,
            Act::Start(replica) => self.room(replica)?.start()?,
            Act::Freeze(replica) => self.room(replica)?.signal(Signal::STOP),
            Act::Thaw(replica) => self.room(replica)?.signal(Signal::CONT),
            Act::Shift(replica, seconds) => self.room(replica)?.shift(seconds)?,
            Act::Cut(link) => self.proxy(link)?.cut(),
            Act::Refuse(link) => self.proxy(link)?.refuse(),
            Act::Hold(link) => self.proxy(link)?.hold(),
            Act::Delay(link, delay) => self.proxy(link)?.delay(delay),
            Act::Heal(link) => self.proxy(link)?.heal(),
            Act::KillPostgres => end(self.postgres.take(), async |it: &Postgres| it.kill().await).await?,
            Act::StopPostgres => end(self.postgres.take(), async |it: &Postgres| it.stop().await).await?,
            Act::StartPostgres => self.start_postgres().await?,
            Act::KillNats => end(self.nats.take(), async |it: &Nats| it.kill().await).await?,
            Act::WipeNats => {
                end(self.nats.take(), async |it: &Nats| it.kill().await).await?;
                wipe(&nats_options(&self.dir, 0).dir).context("wipe NATS")?;
            }
            Act::StartNats => self.start_nats().await?,
        }
        Ok(())
    }

    /// Makes everything good again.
    pub(super) async fn heal(&mut self) -> anyhow::Result<()> {
        self.start_postgres().await?;
        self.start_nats().await?;
        for room in &mut self.rooms {
            for proxy in [&room.front, &room.postgres, &room.nats] {
                proxy.heal();
            }
            room.signal(Signal::CONT);
            room.shift(0)?;
            room.start()?;
        }
        Ok(())
    }

    async fn start_postgres(&mut self) -> anyhow::Result<()> {
        if self.postgres.is_none() {
            self.postgres = Some(Postgres::start(postgres_options(&self.dir, self.ports.0)).await?);
        }
        Ok(())
    }

    async fn start_nats(&mut self) -> anyhow::Result<()> {
        if self.nats.is_none() {
            self.nats = Some(Nats::start(nats_options(&self.dir, self.ports.1)).await?);
        }
        Ok(())
    }

    fn room(&mut self, replica: Replica) -> anyhow::Result<&mut Room> {
        self.rooms
            .iter_mut()
            .find(|room| room.replica == replica)
            .with_context(|| format!("there is no {replica}"))
    }

    fn proxy(&mut self, link: Link) -> anyhow::Result<&Proxy> {
        Ok(match link {
            Link::Postgres(replica) => &self.room(replica)?.postgres,
            Link::Nats(replica) => &self.room(replica)?.nats,
            Link::Front(replica) => &self.room(replica)?.front,
        })
    }

    /// Stops every process in order, the gateways first.
    pub(super) async fn stop(mut self) -> anyhow::Result<()> {
        for room in &mut self.rooms {
            room.process.stop().await?;
        }
        end(self.nats.take(), async |it: &Nats| it.stop().await).await?;
        end(self.postgres.take(), async |it: &Postgres| it.stop().await).await
    }
}

impl Room {
    fn start(&mut self) -> anyhow::Result<()> {
        if self.process.pid().is_none() {
            self.process.start()?;
        }
        Ok(())
    }

    fn signal(&self, signal: Signal) {
        let pid = self.process.pid().and_then(|pid| i32::try_from(pid).ok());
        if let Some(pid) = pid.and_then(Pid::from_raw) {
            // One that has just died hears nothing.
            let _ = kill_process(pid, signal);
        }
    }

    fn shift(&self, seconds: i64) -> anyhow::Result<()> {
        self.shim.as_ref().map_or(Ok(()), |shim| shim.shift(seconds))
    }
}

async fn is_ready(http: &reqwest::Client, url: &str) -> bool {
    let asked = http.get(format!("{url}/readyz")).timeout(READY_ANSWER).send();
    asked.await.is_ok_and(|answer| answer.status().is_success())
}

/// Ends a server, if it runs.
async fn end<S>(server: Option<S>, how: impl AsyncFnOnce(&S) -> std::io::Result<()>) -> anyhow::Result<()> {
    match &server {
        Some(server) => Ok(how(server).await?),
        None => Ok(()),
    }
}

/// Removes a folder, if it is there.
fn wipe(dir: &Path) -> std::io::Result<()> {
    match std::fs::remove_dir_all(dir) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn postgres_options(dir: &Path, port: u16) -> PostgresOptions {
    PostgresOptions {
        dir: dir.join("postgres"),
        port,
        // What a process has written outlives it; only what it kept to itself can be lost, and that is what
        // `synchronous_commit`, off here for whoever does not ask for it, is about.
        fsync: false,
    }
}

fn nats_options(dir: &Path, port: u16) -> NatsOptions {
    NatsOptions {
        dir: dir.join("nats"),
        port,
    }
}

/// The same server, through a proxy.
fn through(url: &Secret, port: u16, proxy: u16) -> Secret {
    Secret::new(
        url.expose()
            .replace(&format!("127.0.0.1:{port}"), &format!("127.0.0.1:{proxy}")),
    )
}
