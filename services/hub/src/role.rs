//! One tier in a process of its own.

use std::sync::Arc;

use hub_platform::config::Config;
use hub_platform::db::Tier;
use hub_platform::shutdown::Shutdown;
use hub_platform::telemetry;

use crate::tiers;

/// Runs a tier until a signal.
pub async fn run(tier: Tier) -> anyhow::Result<()> {
    let config = Arc::new(Config::from_environment()?);
    let _telemetry = telemetry::init(&config.telemetry, tier.service_name())?;
    let listener = tiers::bind(tier, tiers::address(tier, &config)).await?;
    let shutdown = Shutdown::on_signals()?;
    tiers::serve_metrics(&config, &shutdown).await?;
    tracing::info!(tier = tier.as_str(), address = %listener.local_addr()?, "started");
    tiers::serve(tier, config, listener, shutdown).await?;
    tracing::info!(tier = tier.as_str(), "stopped");
    Ok(())
}
