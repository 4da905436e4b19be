//! Holds a running hub to the protocol over HTTPS, as a stranger would.

pub(crate) mod account;
mod api;
mod checks;
mod credentials;
mod envelope;
pub(crate) mod fault;
mod fleet;
pub(crate) mod hub;
mod leg;
mod mailbox;
mod receiver;
mod registry;
mod runner;
mod sse;
mod stage;
mod verdict;

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use serde_json::Value;

use crate::report::Outputs;
use account::Setup;
use credentials::Given;
use hub::{Hub, Reach};
pub(crate) use registry::{Check, all};
pub(crate) use runner::{prove, run as run_checks};

/// Which hub, and with what credentials.
#[derive(clap::Args, Clone)]
pub(crate) struct Target {
    /// The hub's base URL.
    #[arg(long, value_name = "URL")]
    hub: Option<String>,
    /// The deployment admin's token, with which every check makes accounts of its own.
    #[arg(long, value_name = "TOKEN", env = "MA2H_ADMIN_TOKEN", hide_env_values = true)]
    admin_token: Option<String>,
    /// Instead of that, a JSON file of accounts to use; see the README.
    #[arg(long, value_name = "FILE", conflicts_with = "admin_token")]
    credentials: Option<PathBuf>,
    /// The authority that signed the hub's certificate, PEM; those of this machine if not said.
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// What a hub for development writes of itself: stands for the above, and lets its processes be killed.
    #[arg(long, value_name = "FILE")]
    hub_description: Option<PathBuf>,
    /// The address at which the hub reaches the callbacks of this run.
    #[arg(long, value_name = "IP", default_value = "127.0.0.1")]
    callback_address: IpAddr,
}

/// What to prove.
#[derive(clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    target: Target,
    /// Only checks whose name or section contains this; may be given several times.
    #[arg(long, value_name = "PATTERN")]
    only: Vec<String>,
    /// Checks at a time.
    #[arg(long, value_name = "N", default_value_t = 12)]
    at_once: usize,
    /// Put this fault between the hub and the checks; `mutants` lists them.
    #[arg(long, value_name = "NAME")]
    fault: Option<String>,
    /// List the checks and run none.
    #[arg(long)]
    list: bool,
    #[command(flatten)]
    outputs: Outputs,
}

/// Runs the checks that were asked for.
pub(crate) async fn run(options: Options) -> anyhow::Result<ExitCode> {
    let checks: Vec<Check> = all()
        .into_iter()
        .filter(|check| is_wanted(check, &options.only))
        .collect();
    if options.list {
        for check in &checks {
            println!("§{:<7} {}", check.section, check.name);
        }
        return Ok(ExitCode::SUCCESS);
    }
    let (mut hub, setup) = meet(&options.target).await?;
    if let Some(name) = &options.fault {
        let fault = fault::named(name).with_context(|| format!("there is no fault {name}"))?;
        hub = hub.behind(fault);
    }
    // What was given is shared, and one check would disturb the other.
    let at_once = match &*setup {
        Setup::Admin(_) => options.at_once.max(1),
        Setup::Given(_) => 1,
    };
    let report = run_checks(&hub, &setup, &checks, at_once).await;
    report.tell(&options.outputs)
}

fn is_wanted(check: &Check, only: &[String]) -> bool {
    let is_like = |pattern: &String| {
        let section = pattern.strip_prefix('§').unwrap_or(pattern);
        check.name.contains(pattern.as_str()) || check.section == section
    };
    only.is_empty() || only.iter().any(is_like)
}

/// Finds the hub, and how to come to accounts on it.
pub(crate) async fn meet(target: &Target) -> anyhow::Result<(Arc<Hub>, Arc<Setup>)> {
    let described = target.hub_description.as_deref().map(describe).transpose()?;
    let said = |name: &str| -> Option<String> { Some(described.as_ref()?.get(name)?.as_str()?.to_owned()) };
    let base_url = target.hub.clone().or_else(|| said("base_url"));
    let ca_file = target.ca.clone().or_else(|| {
        let path = PathBuf::from(said("ca_cert")?);
        Some(beside(target.hub_description.as_deref()?, path))
    });
    let setup = if let Some(path) = &target.credentials {
        Setup::Given(Given::read(path)?)
    } else {
        let token = target.admin_token.clone().or_else(|| said("admin_token"));
        Setup::Admin(token.context("--admin-token or --credentials is needed")?)
    };
    let reach = Reach {
        base_url: base_url.context("--hub is needed")?,
        ca_file,
        description: target.hub_description.clone(),
        callback_address: target.callback_address,
    };
    Ok((Hub::meet(reach).await?, Arc::new(setup)))
}

fn describe(path: &Path) -> anyhow::Result<Value> {
    let text = std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("parse {}", path.display()))
}

/// A relative path in a description starts where the hub was started, one above the description.
fn beside(description: &Path, path: PathBuf) -> PathBuf {
    if path.is_absolute() {
        return path;
    }
    let folder = description.parent().and_then(Path::parent);
    folder.unwrap_or(Path::new("")).join(path)
}
