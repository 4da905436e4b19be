//! The configuration: a TOML file, then environment variables over it, every value held to its range.

mod broadcast;
mod callback;
mod callback_hosts;
mod database;
mod error;
mod gateway;
mod inbound;
mod injected;
mod keys;
mod lifecycle;
mod limits;
mod listen;
mod nats;
mod network;
mod peers;
mod presence;
mod rate_limit;
mod secret;
mod section;
mod security;
mod sessions;
mod source;
mod telemetry;
#[cfg(test)]
mod tests;
mod value;

use std::fmt::Write;

pub use broadcast::Broadcast;
pub use callback::Callback;
pub use callback_hosts::CallbackHosts;
pub use database::Database;
pub use error::Error;
pub use gateway::Gateway;
pub use inbound::Inbound;
pub use keys::Keys;
pub use lifecycle::Lifecycle;
pub use limits::Limits;
pub use listen::Listen;
pub use nats::Nats;
pub use network::Network;
pub use peers::Peers;
pub use presence::Presence;
pub use rate_limit::RateLimit;
pub use secret::Secret;
pub use section::{Field, Section};
pub use security::Security;
pub use sessions::Sessions;
pub use source::Source;
pub use telemetry::Telemetry;
pub use value::{LogFormat, Value};

/// Attempts that every push is granted (§8.3).
const ATTEMPTS_MIN: u64 = 5;
/// What the deployment admin's token begins with.
pub const ADMIN_TOKEN_PREFIX: &str = "ma2h_admin_";
/// How long every idempotency key is remembered (§8.1): a day.
const KEY_SECONDS_MIN: u64 = 86_400;

/// Declares the configuration: its sections, each once.
macro_rules! sections {
    ($($(#[doc = $doc:literal])+ $name:ident: $section:ident,)+) => {
        /// Everything an operator sets. Shared by the tiers of a process as an `Arc`.
        #[derive(Clone, Debug)]
        pub struct Config {
            $($(#[doc = $doc])+ pub $name: $section,)+
        }

        impl Config {
            /// Every field of every section.
            pub fn fields() -> Vec<&'static Field> {
                let mut fields = Vec::new();
                $(fields.extend($section::FIELDS);)+
                fields
            }

            fn from_source(source: &Source) -> Result<Self, Error> {
                Ok(Self { $($name: $section::load(source)?,)+ })
            }

            /// The values as text, in the order of `fields`.
            fn texts(&self) -> Vec<String> {
                let mut texts = Vec::new();
                $(texts.extend(self.$name.texts());)+
                texts
            }
        }
    };
}

sections! {
    /// The HTTPS edge.
    gateway: Gateway,
    /// How large a message may be.
    limits: Limits,
    /// What one agent may ask for.
    rate_limit: RateLimit,
    /// How long things are kept, and the passes.
    lifecycle: Lifecycle,
    /// Signed pushes.
    callback: Callback,
    /// How it is found out that a callback's host is the agent's.
    callback_hosts: CallbackHosts,
    /// How long keys overlap.
    keys: Keys,
    /// Mailboxes.
    inbound: Inbound,
    /// One directive to many agents.
    broadcast: Broadcast,
    /// Who is there.
    presence: Presence,
    /// Sessions.
    sessions: Sessions,
    /// Keys and development.
    security: Security,
    /// PostgreSQL.
    database: Database,
    /// NATS.
    nats: Nats,
    /// How a tier reaches the others.
    peers: Peers,
    /// Where the tiers listen.
    listen: Listen,
    /// Logs and traces.
    telemetry: Telemetry,
}

impl Config {
    /// Reads the configuration from these variables and the file that `HUB_CONFIG` among them names.
    pub fn load(variables: impl IntoIterator<Item = (String, String)>) -> Result<Self, Error> {
        let source = Source::read(&Self::fields(), variables.into_iter())?;
        let config = Self::from_source(&source)?;
        config.check()?;
        Ok(config)
    }

    /// Reads the configuration of this process.
    pub fn from_environment() -> Result<Self, Error> {
        // Lossy: a variable of ours that is not UTF-8 fails by its value, any other is none of ours.
        let variables = std::env::vars_os().map(|(name, value)| {
            (
                name.to_string_lossy().into_owned(),
                value.to_string_lossy().into_owned(),
            )
        });
        Self::load(variables)
    }

    /// Every variable with what it does, its unit, range and default.
    pub fn help() -> String {
        let mut help = String::from(
            "Settings are read from the TOML file that HUB_CONFIG names, then from these variables.\n",
        );
        for field in Self::fields() {
            let _ = write!(help, "\n{field}\n");
        }
        help
    }

    /// The configuration as the TOML file that would give it, secrets masked.
    pub fn print(&self) -> String {
        let mut printed = String::new();
        let mut table = "";
        for (field, text) in Self::fields().into_iter().zip(self.texts()) {
            if field.table != table {
                table = field.table;
                let _ = writeln!(printed, "{}[{table}]", if printed.is_empty() { "" } else { "\n" });
            }
            let shown = match (field.secret, text.is_empty()) {
                (true, false) => "***".to_owned(),
                _ => text,
            };
            let _ = writeln!(printed, "{} = {}", field.name, toml::Value::String(shown));
        }
        printed
    }

    /// The variables that give a child process this configuration. Secrets are in the clear.
    pub fn to_env(&self) -> Vec<(String, String)> {
        let fields = Self::fields().into_iter().zip(self.texts());
        let set = fields.filter(|(field, text)| *text != field.default);
        set.map(|(field, text)| (field.variable.to_owned(), text))
            .collect()
    }

    /// What the protocol has every hub grant; in development it may be less, so that a test sees the end of it.
    fn check_promises(&self) -> Result<(), Error> {
        let at_least = |name: &str, value: u64, limit: u64, rule: &str| {
            if value >= limit || self.security.development {
                return Ok(());
            }
            Err(Error::Invalid {
                name: name.to_owned(),
                expected: format!("at least {limit} ({rule})"),
            })
        };
        let attempts = u64::from(self.callback.max_attempts);
        at_least("HUB_CALLBACK_MAX_ATTEMPTS", attempts, ATTEMPTS_MIN, "§8.3")?;
        at_least(
            "HUB_IDEMPOTENCY_TTL_SECONDS",
            self.lifecycle.idempotency_ttl_seconds,
            KEY_SECONDS_MIN,
            "§8.1",
        )?;
        at_least(
            "HUB_INBOUND_RETENTION_SECONDS",
            self.inbound.retention_seconds,
            self.lifecycle.idempotency_ttl_seconds,
            "HUB_IDEMPOTENCY_TTL_SECONDS: what a key names is there as long as the key",
        )?;
        // Who waits for a whole poll was heard from when it began, and is written down somewhat later.
        at_least(
            "HUB_PRESENCE_FRESHNESS_SECONDS",
            self.presence.freshness_seconds,
            self.gateway.wait_max_seconds + self.presence.write_through_ms.div_ceil(1000),
            "HUB_GATEWAY_WAIT_MAX_SECONDS and HUB_PRESENCE_WRITE_THROUGH_MS together",
        )
    }

    /// What no single field can tell.
    fn check(&self) -> Result<(), Error> {
        let admin_token = self.gateway.admin_token.as_ref();
        if admin_token.is_some_and(|token| !token.expose().starts_with(ADMIN_TOKEN_PREFIX)) {
            return Err(Error::Invalid {
                name: "HUB_ADMIN_TOKEN".to_owned(),
                expected: format!("{ADMIN_TOKEN_PREFIX} and something long and random"),
            });
        }
        let at_most = |name: &str, value: u64, other: &str, limit: u64| {
            if value <= limit {
                return Ok(());
            }
            Err(Error::Invalid {
                name: name.to_owned(),
                expected: format!("at most {other}, which is {limit}"),
            })
        };
        at_most(
            "HUB_STREAM_MAX_HOLD_SECONDS",
            self.presence.stream_max_hold_seconds,
            "HUB_PRESENCE_FRESHNESS_SECONDS",
            self.presence.freshness_seconds,
        )?;
        at_most(
            "HUB_SESSIONS_MIN_TTL_SECONDS",
            self.sessions.min_ttl_seconds,
            "HUB_SESSIONS_DEFAULT_TTL_SECONDS",
            self.sessions.default_ttl_seconds,
        )?;
        at_most(
            "HUB_SESSIONS_DEFAULT_TTL_SECONDS",
            self.sessions.default_ttl_seconds,
            "HUB_SESSIONS_MAX_TTL_SECONDS",
            self.sessions.max_ttl_seconds,
        )?;
        at_most(
            "HUB_CALLBACK_FIRST_DELAY_MS",
            self.callback.first_delay_ms,
            "HUB_CALLBACK_MAX_DELAY_MS",
            self.callback.max_delay_ms,
        )?;
        at_most(
            "HUB_IDEMPOTENCY_TTL_SECONDS",
            self.lifecycle.idempotency_ttl_seconds,
            "HUB_TOMBSTONE_SECONDS",
            self.lifecycle.tombstone_seconds,
        )?;
        self.check_promises()?;
        if !self.security.key_encryption_key.is_empty() {
            self.security.key_encryption_key_bytes()?;
        }
        self.security.accepted_key_encryption_keys_bytes()?;
        nats::check_prefix(&self.nats.prefix)
    }
}
