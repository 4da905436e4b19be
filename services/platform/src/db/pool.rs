//! A pool of connections under one tier's role.

use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, RecyclingMethod, Runtime};
use tokio_postgres::NoTls;
use tokio_postgres::config::SslMode;

use super::{Error, Tier};
use crate::config;

/// Connections of one tier.
pub type Pool = deadpool_postgres::Pool;
/// A connection, back in its pool when dropped.
pub type Client = deadpool_postgres::Client;

/// A server that vanished without a word: when an idle connection asks after it, and how often until it gives up.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(10);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(3);
/// How often the pool's gauges are set.
const GAUGE_INTERVAL: Duration = Duration::from_secs(5);

/// Prepares a pool; nothing is connected before the first use.
pub fn connect(config: &config::Database, tier: Tier) -> Result<Pool, Error> {
    let pool = prepare(config, tier, config.pool_size)?;
    watch(&pool, tier);
    Ok(pool)
}

/// Prepares a single connection, for what must not wait behind the tier's others.
pub fn connect_apart(config: &config::Database, tier: Tier) -> Result<Pool, Error> {
    prepare(config, tier, 1)
}

fn prepare(config: &config::Database, tier: Tier, size: usize) -> Result<Pool, Error> {
    let mut settings = parse_url(&config.url)?;
    let options = options(&settings, config, tier);
    settings
        .application_name(tier.service_name())
        .connect_timeout(Duration::from_millis(config.connect_timeout_ms))
        .keepalives_idle(KEEPALIVE_IDLE)
        .keepalives_interval(KEEPALIVE_INTERVAL)
        .tcp_user_timeout(Duration::from_millis(config.statement_timeout_ms) + KEEPALIVE_IDLE)
        .options(options);
    let manager_config = ManagerConfig {
        recycling_method: RecyclingMethod::Fast,
    };
    let manager = Manager::from_config(settings, NoTls, manager_config);
    Pool::builder(manager)
        .max_size(size)
        .wait_timeout(Some(Duration::from_millis(config.acquire_timeout_ms)))
        .create_timeout(Some(Duration::from_millis(config.connect_timeout_ms)))
        .recycle_timeout(Some(Duration::from_millis(config.connect_timeout_ms)))
        .runtime(Runtime::Tokio1)
        .build()
        .map_err(|error| Error::settings(error.to_string()))
}

/// Reads the URL and refuses what the client would not honour.
pub(crate) fn parse_url(url: &config::Secret) -> Result<tokio_postgres::Config, Error> {
    if url.is_empty() {
        return Err(Error::settings("HUB_DATABASE_URL is not set"));
    }
    let settings: tokio_postgres::Config = url
        .expose()
        .parse()
        // The parser's message may quote the URL, which holds a password.
        .map_err(|_| Error::settings("HUB_DATABASE_URL: expected postgres://user:password@host:port/name"))?;
    match settings.get_ssl_mode() {
        SslMode::Disable | SslMode::Prefer => Ok(settings),
        _ => Err(Error::settings(
            "HUB_DATABASE_URL: sslmode=require is not supported",
        )),
    }
}

/// What the server sets at the start of each connection, so that it costs no round trip.
fn options(settings: &tokio_postgres::Config, config: &config::Database, tier: Tier) -> String {
    let given = settings.get_options().unwrap_or_default();
    let timeout_ms = config.statement_timeout_ms;
    format!(
        "{given} -c role={} -c statement_timeout={timeout_ms} -c idle_in_transaction_session_timeout={timeout_ms} \
         -c synchronous_commit=on -c search_path=pg_catalog",
        tier.role(),
    )
}

/// Keeps the pool's gauges, for as long as somebody else holds the pool.
fn watch(pool: &Pool, tier: Tier) {
    let weak = pool.weak();
    let Ok(runtime) = tokio::runtime::Handle::try_current() else {
        return;
    };
    runtime.spawn(async move {
        while let Some(pool) = weak.upgrade() {
            set_gauges(&pool, tier);
            drop(pool);
            tokio::time::sleep(GAUGE_INTERVAL).await;
        }
    });
}

fn set_gauges(pool: &Pool, tier: Tier) {
    let status = pool.status();
    let in_use = status.size.saturating_sub(status.available);
    let gauge = |state: &'static str, count: usize| {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        ::metrics::gauge!("hub_db_connections", "tier" => tier.as_str(), "state" => state).set(count);
    };
    gauge("max", status.max_size);
    gauge("in_use", in_use);
    gauge("idle", status.available);
    gauge("waited_for", status.waiting);
}
