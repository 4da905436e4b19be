//! Load scenarios and benchmarks against a running hub, on this machine only.

mod bench;
mod client;
mod cpu;
mod description;
mod hang;
mod report;
mod sink;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

/// Measures a running hub.
#[derive(Parser)]
#[command(name = "ma2h-loadtest", version)]
struct Arguments {
    #[command(subcommand)]
    scenario: Scenario,
}

#[derive(Subcommand)]
enum Scenario {
    /// Submits asks, resolves them, and waits for their pushes: rate, latency and processor time of each step.
    Bench {
        /// Where the hub describes itself.
        #[arg(long, default_value = ".hub/dev.json")]
        hub: PathBuf,
        /// How many asks.
        #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
        messages: u32,
        /// How many calls are under way at once.
        #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=1_024))]
        concurrency: u32,
        /// Print JSON instead of a table.
        #[arg(long)]
        json: bool,
    },
    /// Pushes to a host that works, alone and beside one that takes calls and never answers: what the second costs the
    /// first.
    Hang {
        /// Where the hub describes itself.
        #[arg(long, default_value = ".hub/dev.json")]
        hub: PathBuf,
        /// How many pushes to the host that works.
        #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
        messages: u32,
        /// How many pushes to the host that hangs.
        #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
        hanging: u32,
        /// How many calls are under way at once.
        #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=1_024))]
        concurrency: u32,
    },
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    rustls::crypto::ring::default_provider()
        .install_default()
        .map_err(|_| anyhow::anyhow!("a TLS provider is installed already"))?;
    match Arguments::parse().scenario {
        Scenario::Bench {
            hub,
            messages,
            concurrency,
            json,
        } => {
            let load = bench::Load {
                messages,
                concurrency,
            };
            let report = bench::run(&hub, load).await?;
            let text = if json {
                report.to_json()?
            } else {
                report.to_table()
            };
            println!("{text}");
            Ok(())
        }
        Scenario::Hang {
            hub,
            messages,
            hanging,
            concurrency,
        } => {
            let load = bench::Load {
                messages,
                concurrency,
            };
            println!("{}", hang::run(&hub, load, hanging).await?);
            Ok(())
        }
    }
}
