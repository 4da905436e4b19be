//! The command line.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use hub_platform::config::Config;
use hub_platform::db::Tier;

use crate::{admin, all, dev, keys, migrate, role};

/// The MA2H hub: agents ask, people answer.
#[derive(Parser)]
#[command(name = "ma2h-hub", version)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
#[expect(clippy::doc_markdown, reason = "shown as help, not as documentation")]
enum Command {
    /// Run the HTTPS edge.
    Gateway,
    /// Run the tier that decides every state of a message.
    Lifecycle,
    /// Run the tier that signs and sends what leaves for an agent.
    Delivery,
    /// Run the tier that knows who is there.
    Presence,
    /// Run the four tiers in one process, against a given database and NATS.
    All,
    /// Run a whole hub on this machine, with a PostgreSQL and a NATS of its own.
    ///
    /// Everything is kept in .hub, or where HUB_DEV_DIR says. HUB_REPLICAS replicas of each tier run. HUB_DATABASE_URL and
    /// HUB_NATS_URL are used where given, instead of a private PostgreSQL and NATS. All settings of the tiers apply: see
    /// `ma2h-hub config --help`.
    Dev(dev::Options),
    /// Bring the database to what this release expects; safe when several do so at once.
    Migrate,
    /// Print the settings in force, secrets masked; --help lists every variable.
    #[command(after_long_help = Config::help())]
    Config,
    /// Set up accounts on a running hub.
    ///
    /// The deployment admin's token is HUB_ADMIN_TOKEN (or …_FILE).
    Admin(admin::Options),
    /// Rotate the keys that sign and seal, beside a hub that serves.
    ///
    /// Needs the settings of the delivery tier: the database and the key-encryption keys.
    #[command(subcommand)]
    Keys(keys::Action),
}

/// Does what the command line asks for.
pub async fn run() -> anyhow::Result<ExitCode> {
    crate::install_tls_provider();
    match CommandLine::parse().command {
        Command::Gateway => role::run(Tier::Gateway).await?,
        Command::Lifecycle => role::run(Tier::Lifecycle).await?,
        Command::Delivery => role::run(Tier::Delivery).await?,
        Command::Presence => role::run(Tier::Presence).await?,
        Command::All => all::run().await?,
        Command::Dev(options) => return dev::run(options).await,
        Command::Migrate => migrate::run().await?,
        Command::Config => print!("{}", Config::from_environment()?.print()),
        Command::Admin(options) => admin::run(options).await?,
        Command::Keys(action) => keys::run(action).await?,
    }
    Ok(ExitCode::SUCCESS)
}
