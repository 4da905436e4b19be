//! A hub for one test: its own database, its own subjects on NATS, its own ports.

use std::collections::BTreeMap;

use hub_platform::config::Config;
use ma2h_hub::all;

use crate::certificates;
use crate::client::{Account, Api};
use crate::database::Database;
use crate::eventually::eventually;
use crate::processes::Processes;
use crate::run::Run;

/// What makes a hub quick, and patient, enough for tests; each can be set otherwise.
const SHORT: [(&str, &str); 17] = [
    ("HUB_BIND", "127.0.0.1"),
    ("HUB_PORT", "0"),
    ("HUB_DEVELOPMENT", "true"),
    ("HUB_LOG_FORMAT", "text"),
    ("HUB_SHUTDOWN_GRACE_SECONDS", "3"),
    ("HUB_RATE_LIMIT_REQUESTS_PER_MINUTE", "0"),
    ("HUB_RATE_LIMIT_INBOX_DEPTH", "0"),
    ("HUB_SWEEP_INTERVAL_MS", "100"),
    ("HUB_CALLBACK_FIRST_DELAY_MS", "50"),
    ("HUB_CALLBACK_MAX_DELAY_MS", "500"),
    ("HUB_CALLBACK_TIMEOUT_MS", "3000"),
    ("HUB_GATEWAY_BEAT_INTERVAL_MS", "500"),
    ("HUB_DATABASE_POOL_SIZE", "4"),
    // A machine that builds beside its tests is slow, which is no failure.
    ("HUB_DATABASE_CONNECT_TIMEOUT_MS", "60000"),
    ("HUB_DATABASE_ACQUIRE_TIMEOUT_MS", "60000"),
    ("HUB_CALLBACK_HOSTS_VERIFICATION_TIMEOUT_MS", "30000"),
    ("HUB_NATS_JOBS_MAX_BYTES", "8388608"),
];

/// A running hub.
pub struct TestHub {
    base_urls: Vec<String>,
    admin_token: String,
    http: reqwest::Client,
    config: Config,
    database: Database,
    running: Running,
}

enum Running {
    InProcess(all::Hub),
    Processes(Processes),
}

/// How a hub for a test shall be.
#[derive(Default)]
pub struct TestHubBuilder {
    variables: BTreeMap<String, String>,
}

impl TestHubBuilder {
    /// Sets a variable of the hub's configuration.
    #[must_use]
    #[expect(
        clippy::needless_pass_by_value,
        reason = "numbers and text alike are given as they are"
    )]
    pub fn set(mut self, variable: &str, value: impl ToString) -> Self {
        self.variables.insert(variable.to_owned(), value.to_string());
        self
    }

    /// Starts the four tiers in the test's own process.
    pub async fn start(self) -> TestHub {
        let (config, database) = self.configure().await;
        let hub = all::Hub::start(config.clone()).await.expect("start a hub");
        let base_urls = vec![format!("https://{}", hub.gateway())];
        TestHub::ready(config, database, base_urls, Running::InProcess(hub)).await
    }

    /// Starts this many processes of each tier.
    pub async fn processes(self, replicas: usize) -> TestHub {
        let (config, database) = self.configure().await;
        let processes = Processes::start(&config, replicas).await;
        let base_urls = processes.base_urls().to_vec();
        TestHub::ready(config, database, base_urls, Running::Processes(processes)).await
    }

    async fn configure(self) -> (Config, Database) {
        let database = Database::create().await;
        // Whoever brings a database of their own has set it already.
        let is_given = self.variables.contains_key("HUB_DATABASE_URL");
        let builder = if is_given {
            self
        } else {
            self.set("HUB_DATABASE_URL", &database.url)
        };
        (builder.config(), database)
    }

    /// The configuration alone, for a hub that is put together elsewhere.
    pub(crate) fn config(self) -> Config {
        ma2h_hub::install_tls_provider();
        let run = Run::current();
        let certificates = certificates::of_this_run();
        let own = [
            ("HUB_NATS_URL", run.nats.clone()),
            ("HUB_NATS_PREFIX", format!("TEST_{}", crate::unique())),
            ("HUB_TLS_CERT_FILE", certificates.server.display().to_string()),
            ("HUB_TLS_KEY_FILE", certificates.server_key.display().to_string()),
            (
                "HUB_CALLBACK_EXTRA_CA_FILE",
                certificates.ca.display().to_string(),
            ),
            (
                "HUB_ADMIN_TOKEN",
                format!("ma2h_admin_{}{}", crate::unique(), crate::unique()),
            ),
            ("HUB_KEY_ENCRYPTION_KEY", "5a".repeat(32)),
        ];
        let mut variables: BTreeMap<String, String> = SHORT
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        variables.extend(own.map(|(name, value)| (name.to_owned(), value)));
        variables.extend(self.variables);
        Config::load(variables).expect("a hub's configuration")
    }
}

impl TestHub {
    /// A hub in the test's own process.
    pub async fn start() -> Self {
        Self::builder().start().await
    }

    /// A hub of real processes, this many of each tier.
    pub async fn processes(replicas: usize) -> Self {
        Self::builder().processes(replicas).await
    }

    /// A hub that is to differ from the usual.
    pub fn builder() -> TestHubBuilder {
        TestHubBuilder::default()
    }

    async fn ready(config: Config, database: Database, base_urls: Vec<String>, running: Running) -> Self {
        let admin_token = config
            .gateway
            .admin_token
            .as_ref()
            .expect("a test hub has an admin")
            .expose()
            .to_owned();
        let http = certificates::client();
        let hub = Self {
            base_urls,
            admin_token,
            http,
            config,
            database,
            running,
        };
        hub.await_ready().await;
        hub
    }

    /// Waits until every gateway says that the hub can serve.
    pub async fn await_ready(&self) {
        for url in &self.base_urls {
            eventually("the hub to be ready", || async {
                let answer = self.http.get(format!("{url}/readyz")).send().await.ok()?;
                answer.status().is_success().then_some(())
            })
            .await;
        }
    }

    /// The first gateway.
    pub fn base_url(&self) -> &str {
        &self.base_urls[0]
    }

    /// Every gateway.
    pub fn base_urls(&self) -> &[String] {
        &self.base_urls
    }

    /// What it was told.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Its database.
    pub fn database(&self) -> &Database {
        &self.database
    }

    /// Calls without a credential.
    pub fn anonymous(&self) -> Api {
        Api::new(self.http.clone(), self.base_url(), None)
    }

    /// The deployment admin.
    pub fn admin(&self) -> Api {
        self.anonymous().with_token(&self.admin_token)
    }

    /// A new account, whose id begins with `name`.
    pub async fn account(&self, name: &str) -> Account {
        Account::create(self.admin(), name).await
    }

    /// Its processes, where it has any.
    pub fn tiers(&mut self) -> &mut Processes {
        match &mut self.running {
            Running::Processes(processes) => processes,
            Running::InProcess(_) => panic!("this hub runs in the test's own process"),
        }
    }

    /// Stops it in order, and waits until it has. A hub that is just dropped ends with its test.
    pub async fn stop(self) {
        match self.running {
            Running::InProcess(hub) => hub.stop().await,
            Running::Processes(processes) => processes.stop().await,
        }
    }
}
