//! A hub of real processes, which a test may kill and start again.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use hub_platform::config::Config;
use hub_platform::db::Tier;
use ma2h_hub::dev::{TierProcess, ports};

use crate::run::Run;

/// Processes of each tier.
pub struct Processes {
    base_urls: Vec<String>,
    logs: PathBuf,
    metrics: Vec<String>,
    replicas: Vec<(Tier, TierProcess)>,
}

impl Processes {
    /// Starts `count` of each tier; they may not be ready yet.
    pub(crate) async fn start(config: &Config, count: usize) -> Self {
        let program = program();
        let ports = |tier| (tier, (0..count).map(|_| reserve_port()).collect::<Vec<_>>());
        let ports = Tier::ALL.map(ports);
        let config = connected(config, &ports);

        let logs = Run::current().dir.join("log").join(crate::unique());
        tokio::fs::create_dir_all(&logs)
            .await
            .expect("create a folder for logs");
        let (mut replicas, mut metrics) = (Vec::new(), Vec::new());
        for (tier, ports) in &ports {
            for (number, port) in ports.iter().enumerate() {
                let mut config = listening(&config, *tier, *port);
                let address = SocketAddr::from((Ipv4Addr::LOCALHOST, reserve_port()));
                config.listen.metrics_addr = Some(address);
                metrics.push(format!("http://{address}/metrics"));
                let log = logs.join(format!("{tier}-{number}.log"));
                let mut process = TierProcess::new(program.clone(), *tier, config, log);
                process.start().expect("start a tier");
                replicas.push((*tier, process));
            }
        }
        let gateways = &ports[0].1;
        Self {
            base_urls: gateways
                .iter()
                .map(|port| format!("https://127.0.0.1:{port}"))
                .collect(),
            logs,
            metrics,
            replicas,
        }
    }

    /// The folder with the log of each process.
    pub fn logs(&self) -> &Path {
        &self.logs
    }

    /// Where each process gives its metrics.
    pub fn metrics(&self) -> &[String] {
        &self.metrics
    }

    /// Every gateway.
    pub fn base_urls(&self) -> &[String] {
        &self.base_urls
    }

    /// One replica of a tier, counted from 0.
    pub fn replica(&mut self, tier: Tier, number: usize) -> &mut TierProcess {
        let of_tier = self.replicas.iter_mut().filter(|(other, _)| *other == tier);
        &mut of_tier
            .into_iter()
            .nth(number)
            .expect("a replica of that number")
            .1
    }

    /// Ends it as a crash would, `kill -9`.
    pub async fn kill(&mut self, tier: Tier, number: usize) {
        self.replica(tier, number).kill().await.expect("kill a tier");
    }

    /// Stops it as an orchestrator would, with SIGTERM.
    pub async fn terminate(&mut self, tier: Tier, number: usize) {
        self.replica(tier, number).stop().await.expect("stop a tier");
    }

    /// Starts it again on its address.
    pub fn restart(&mut self, tier: Tier, number: usize) {
        self.replica(tier, number).start().expect("start a tier");
    }

    /// Stops all, the gateways first.
    pub async fn stop(mut self) {
        for (_, process) in &mut self.replicas {
            process.stop().await.expect("stop a tier");
        }
    }
}

/// The program that was built with these tests.
pub fn program() -> PathBuf {
    if let Some(path) = std::env::var_os("CARGO_BIN_EXE_ma2h-hub") {
        return path.into();
    }
    // Beside this program, which is one of the binaries; or one folder up, where it is a test in `target/<profile>/deps`.
    let test = std::env::current_exe().expect("find this test's program");
    let mut folders = test.ancestors().skip(1).take(2);
    let program = folders.find_map(|folder| Some(folder.join("ma2h-hub")).filter(|path| path.exists()));
    program.unwrap_or_else(|| panic!("no ma2h-hub beside {}: build it first", test.display()))
}

/// A port that no other hub of this process is given.
pub(crate) fn reserve_port() -> u16 {
    static TAKEN: Mutex<Vec<u16>> = Mutex::new(Vec::new());
    let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
    let port = ports::free(&taken).expect("find a free port");
    taken.push(port);
    port
}

/// Tells every tier where the others are.
pub(crate) fn connected(config: &Config, ports: &[(Tier, Vec<u16>)]) -> Config {
    let mut config = config.clone();
    for (tier, ports) in ports {
        let urls: Vec<String> = ports
            .iter()
            .map(|port| format!("http://127.0.0.1:{port}"))
            .collect();
        match tier {
            Tier::Gateway => {
                config.gateway.public_url = urls.first().map(|url| url.replace("http:", "https:"));
            }
            Tier::Lifecycle => config.peers.lifecycle_urls = urls,
            Tier::Delivery => config.peers.delivery_urls = urls,
            Tier::Presence => config.peers.presence_urls = urls,
        }
    }
    config
}

/// Tells one tier where it listens.
pub(crate) fn listening(config: &Config, tier: Tier, port: u16) -> Config {
    let mut config = config.clone();
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    match tier {
        Tier::Gateway => config.gateway.port = port,
        Tier::Lifecycle => config.listen.lifecycle_addr = address,
        Tier::Delivery => config.listen.delivery_addr = address,
        Tier::Presence => config.listen.presence_addr = address,
    }
    config
}
