//! Holds an old snapshot open under load, and reports what the hub's statements cost before, then and after: `make soak`.

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use hub_testkit::campaign::soak::{Options, run};

/// Shows what the queues cost while vacuum can remove nothing, and fails where that is more than before.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// How long the snapshot is held.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=1440))]
    minutes: u64,
    /// How long costs are measured, each time: in less than 45 seconds no look may go further back than to the last one.
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=600))]
    window_seconds: u64,
    /// Messages whose life is under way at once.
    #[arg(long, default_value_t = 48, value_parser = clap::value_parser!(u32).range(1..=1024))]
    at_once: u32,
}

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    let options = Options {
        held: Duration::from_secs(arguments.minutes * 60),
        window: Duration::from_secs(arguments.window_seconds),
        at_once: arguments.at_once as usize,
    };
    let findings = run(&options).await?;
    println!("{findings}");
    let is_healthy = findings.grown().is_empty();
    Ok(if is_healthy {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
