//! `ma2h-hub admin`: an account, its people and agents, from the command line over the hub's HTTPS API.

mod client;

use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Subcommand, ValueEnum};
use hub_platform::config::Config;
use serde_json::{Value, json};

pub(crate) use client::Client;
pub use client::segment;

use crate::dev::Description;

/// The hub and what to do on it.
#[derive(Args)]
pub struct Options {
    /// The hub's base URL; that of this machine where left out.
    #[arg(long)]
    url: Option<String>,
    /// The certificate authority to trust instead of the usual ones, PEM.
    #[arg(long)]
    ca_file: Option<PathBuf>,
    /// The description of a running development hub, .hub/dev.json: takes URL, authority and token from there.
    #[arg(long, conflicts_with_all = ["url", "ca_file"])]
    hub: Option<PathBuf>,
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Create an account.
    Account {
        /// Its id.
        id: String,
        /// Its name; the id where left out.
        #[arg(long)]
        name: Option<String>,
    },
    /// Create a human of an account.
    Human {
        /// The account's id.
        account: String,
        /// The human's id.
        id: String,
        /// What the human may do.
        #[arg(long, default_value = "operator")]
        role: HumanRole,
        /// The human's address.
        #[arg(long)]
        email: String,
    },
    /// Create an agent of an account.
    Agent {
        /// The account's id.
        account: String,
        /// The agent.id.
        id: String,
    },
    /// Issue a token, which is shown once.
    Token {
        /// The account's id.
        account: String,
        /// Whose: human:… or agent:….
        subject: String,
    },
}

#[derive(Clone, Copy, ValueEnum)]
enum HumanRole {
    /// Reads.
    Viewer,
    /// Also resolves.
    Operator,
    /// Also manages the account.
    Owner,
}

impl HumanRole {
    fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Operator => "operator",
            Self::Owner => "owner",
        }
    }
}

/// Does it, and prints what the hub answered.
pub async fn run(options: Options) -> anyhow::Result<()> {
    let (path, body) = request(&options.action);
    let answer = client(&options)?.post(&path, &body).await?;
    let created = answer.created()?;
    println!("{}", serde_json::to_string_pretty(&created)?);
    Ok(())
}

fn client(options: &Options) -> anyhow::Result<Client> {
    if let Some(path) = &options.hub {
        let hub = Description::read(path)?;
        return Client::new(&hub.base_url, Some(&hub.ca_cert_at(path)), &hub.admin_token);
    }
    let config = Config::from_environment()?;
    let token = config
        .gateway
        .admin_token
        .as_ref()
        .context("HUB_ADMIN_TOKEN is not set")?;
    let url = options
        .url
        .clone()
        .unwrap_or_else(|| config.gateway.public_url_at(config.gateway.addr()));
    Client::new(&url, options.ca_file.as_deref(), token.expose())
}

fn request(action: &Action) -> (String, Value) {
    let of_account = |account: &str, rest: &str| format!("/admin/v1/accounts/{}/{rest}", segment(account));
    match action {
        Action::Account { id, name } => (
            "/admin/v1/accounts".to_owned(),
            json!({"id": id, "name": name.as_ref().unwrap_or(id)}),
        ),
        Action::Human {
            account,
            id,
            role,
            email,
        } => (
            of_account(account, "humans"),
            json!({"id": id, "role": role.as_str(), "email": email}),
        ),
        Action::Agent { account, id } => (of_account(account, "agents"), json!({"id": id})),
        Action::Token { account, subject } => (of_account(account, "tokens"), json!({"subject": subject})),
    }
}
