//! One development hub: from an empty folder to ready, and back.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use hub_platform::config::{Config, Secret};
use hub_platform::db::Tier;
use tokio::process::Command;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::board::Board;
use super::certificates::{self, Certificates};
use super::description::{AgentDescription, Description, EntryKey, HumanDescription};
use super::layout::Layout;
use super::seed::{self, Tokens};
use super::services::Services;
use super::settings::Settings;
use super::state::State;
use super::supervise::Kept;
use super::{Pids, guide, voice};
use crate::admin::Client;
use crate::migrate;

const READY_WITHIN: Duration = Duration::from_mins(1);
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Children that end more often than this before the hub is ready will not get it there.
const ENDS_MAX: u32 = 8;

/// A hub and its children.
pub(crate) struct Hub {
    settings: Settings,
    folder: PathBuf,
    state: State,
    layout: Layout,
    certificates: Certificates,
    board: Board,
    services: Services,
    tiers: Vec<(Tier, Kept)>,
}

impl Hub {
    /// Prepares secrets, ports and certificates; nothing runs yet.
    pub(crate) fn new(settings: Settings, folder: PathBuf) -> anyhow::Result<Self> {
        let mut state = State::load(&folder)?;
        let layout = Layout::new(&settings, &mut state)?;
        let certificates = certificates::issue(&folder)?;
        Ok(Self {
            settings,
            folder,
            state,
            layout,
            certificates,
            board: Board::default(),
            services: Services::default(),
            tiers: Vec::new(),
        })
    }

    /// Starts everything, says so, and stays until told to stop or the command has ended. A start that is told to
    /// stop goes on to the next point from which it can be undone.
    pub(crate) async fn run(
        &mut self,
        command: &[OsString],
        stop: &CancellationToken,
    ) -> anyhow::Result<ExitCode> {
        let mut config = self.common_config();
        self.start_services(&mut config).await?;
        if stop.is_cancelled() {
            return Ok(ExitCode::SUCCESS);
        }
        let applied = migrate::migrate(&config.database.url).await.context(
            "migrate the database (to give up what is in it and start anew: --reset, or `make dev RESET=1`)",
        )?;
        if !applied.is_empty() {
            voice::say(format_args!("migrated the database ({} steps)", applied.len()));
        }
        self.start_tiers(&config).await?;
        let Some(ready) = stop.run_until_cancelled(self.make_ready(&config)).await else {
            return Ok(ExitCode::SUCCESS);
        };
        let description = ready?;
        self.board
            .publish(description.clone(), &self.folder.join("dev.json"))?;
        self.stay(&description, command, stop).await
    }

    /// Stops the children: the gateways before the tiers they call, then NATS, then PostgreSQL.
    pub(crate) async fn stop(&mut self) {
        voice::say("stopping");
        self.board.withdraw();
        let (gateways, others): (Vec<_>, Vec<_>) =
            self.tiers.drain(..).partition(|(tier, _)| *tier == Tier::Gateway);
        for tiers in [gateways, others] {
            for (_, kept) in &tiers {
                kept.tell();
            }
            for (_, kept) in tiers {
                kept.stopped().await;
            }
        }
        self.services.stop().await;
    }

    /// What every tier is told, but for its own addresses and the services'.
    fn common_config(&self) -> Config {
        let mut config = self.settings.config.clone();
        config.gateway.tls_cert_file = Some(self.certificates.server.clone());
        config.gateway.tls_key_file = Some(self.certificates.server_key.clone());
        if config.gateway.admin_token.is_none() {
            config.gateway.admin_token = Some(Secret::new(&self.state.admin_token));
        }
        if config.security.key_encryption_key.is_empty() {
            config.security.key_encryption_key = Secret::new(&self.state.key_encryption_key);
        }
        config
    }

    async fn start_services(&mut self, config: &mut Config) -> anyhow::Result<()> {
        if !self.settings.given_database {
            voice::say("starting PostgreSQL");
            config.database.url = self
                .services
                .start_postgres(&self.folder, &mut self.state, &self.board)
                .await?;
        }
        if !self.settings.given_nats {
            voice::say("starting NATS");
            config.nats.url = self
                .services
                .start_nats(&self.folder, &mut self.state, &self.board)
                .await?;
        }
        Ok(())
    }

    async fn start_tiers(&mut self, config: &Config) -> anyhow::Result<()> {
        let logs = self.folder.join("log");
        std::fs::create_dir_all(&logs).with_context(|| format!("create {}", logs.display()))?;
        let program = std::env::current_exe().context("find this program")?;
        for replica in self.layout.replicas() {
            voice::say(format_args!("starting {}", replica.slot));
            let process = replica.process(&program, config, &logs)?;
            let kept = Kept::start(process, replica.slot, self.board.clone()).await?;
            self.tiers.push((replica.tier, kept));
        }
        Ok(())
    }

    /// Waits until every gateway says that it can serve, makes the demo account, and describes the hub.
    async fn make_ready(&mut self, config: &Config) -> anyhow::Result<Description> {
        let admin_token = config.gateway.admin_token.as_ref().map_or("", Secret::expose);
        for url in self.layout.base_urls() {
            let gateway = Client::new(url, Some(&self.certificates.ca), admin_token)?;
            self.await_ready(url, &gateway).await?;
        }
        let admin = Client::new(self.layout.base_url(), Some(&self.certificates.ca), admin_token)?;
        let tokens = seed::seed(&admin, &mut self.state)
            .await
            .context("make the demo account")?;
        Ok(self.describe(config, tokens))
    }

    async fn await_ready(&self, url: &str, gateway: &Client) -> anyhow::Result<()> {
        let logs = self.settings.folder.join("log");
        let deadline = Instant::now() + READY_WITHIN;
        loop {
            let said = match gateway.get("/readyz").await {
                Ok(answer) if answer.status.is_success() => return Ok(()),
                Ok(answer) => format!("{} {}", answer.status.as_u16(), answer.body),
                Err(error) => format!("{error:#}"),
            };
            anyhow::ensure!(
                Instant::now() < deadline && self.board.ends() <= ENDS_MAX,
                "the hub does not get ready: {url}/readyz: {said}; the logs are in {}",
                logs.display()
            );
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    fn describe(&self, config: &Config, tokens: Tokens) -> Description {
        let ca = self.certificates.ca.clone();
        let is_usual = self.settings.folder.as_os_str() == ".hub";
        Description {
            base_url: self.layout.base_url().to_owned(),
            base_urls: self.layout.base_urls().to_vec(),
            ca_cert: if is_usual {
                PathBuf::from(".hub/ca.pem")
            } else {
                ca
            },
            admin_token: config
                .gateway
                .admin_token
                .as_ref()
                .map_or("", Secret::expose)
                .to_owned(),
            account: seed::ACCOUNT.to_owned(),
            human: HumanDescription {
                id: seed::HUMAN.to_owned(),
                token: tokens.human,
            },
            agent: AgentDescription {
                id: seed::AGENT.to_owned(),
                token: tokens.agent,
                entry_key: EntryKey {
                    alg: seed::ENTRY_KEY_ALG.to_owned(),
                    secret: self.state.entry_secret.clone(),
                },
            },
            postgres: config.database.url.expose().to_owned(),
            nats: config.nats.url.expose().to_owned(),
            metrics: self.layout.metrics(),
            pids: Pids::default(),
        }
    }

    async fn stay(
        &self,
        description: &Description,
        command: &[OsString],
        stop: &CancellationToken,
    ) -> anyhow::Result<ExitCode> {
        let Some((program, arguments)) = command.split_first() else {
            voice::tell(guide::text(description, &self.settings.folder));
            stop.cancelled().await;
            return Ok(ExitCode::SUCCESS);
        };
        let mut child = Command::new(program)
            .args(arguments)
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("start {}", program.display()))?;
        match stop.run_until_cancelled(child.wait()).await {
            None => Ok(ExitCode::FAILURE),
            Some(ended) => {
                let code = ended
                    .context("wait for the command")?
                    .code()
                    .and_then(|code| u8::try_from(code).ok());
                Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
            }
        }
    }
}
