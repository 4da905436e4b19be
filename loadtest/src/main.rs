//! Load scenarios and benchmarks against a running hub, on this machine only.
#![allow(clippy::disallowed_methods, reason = "it calls the hub from outside")]

mod bench;
mod client;
mod cpu;
mod description;
mod hang;
mod held_polls;
mod mailbox_depth;
mod memory;
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
    /// Drains and acknowledges out of a mailbox that is deep, beside one that is not: what depth costs.
    MailboxDepth {
        /// Where the hub describes itself. Its `HUB_RATE_LIMIT_INBOX_DEPTH` must be 0.
        #[arg(long, default_value = ".hub/dev.json")]
        hub: PathBuf,
        /// How many entries the deep one has.
        #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(1_000..=100_000_000))]
        entries: u32,
        /// How many the other one has.
        #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1_000..=1_000_000))]
        small_entries: u32,
        /// How many drains and acks of each are measured.
        #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=400))]
        rounds: u32,
        /// Print JSON instead of a table.
        #[arg(long)]
        json: bool,
    },
    /// Holds polls for mailboxes at one gateway: what each takes of its memory, and how soon it hears of what comes.
    HeldPolls {
        /// Where the hub describes itself. Its `HUB_GATEWAY_HELD_REQUESTS_MAX` must allow for all.
        #[arg(long, default_value = ".hub/dev.json")]
        hub: PathBuf,
        /// How many, each by an agent of its own.
        #[arg(long, default_value_t = 5_000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
        polls: u32,
        /// Over how many connections, with HTTP/2.
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
        connections: u32,
        /// How many of them are answered, one after the other; at most all.
        #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
        answered: u32,
        /// Print JSON instead of a table.
        #[arg(long)]
        json: bool,
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
            let comparison = hang::run(&hub, load, hanging).await?;
            println!("{comparison}");
            anyhow::ensure!(
                comparison.is_within(),
                "a host that hangs slows the pushes to another"
            );
            Ok(())
        }
        Scenario::MailboxDepth {
            hub,
            entries,
            small_entries,
            rounds,
            json,
        } => {
            let depth = mailbox_depth::Depth {
                entries,
                small_entries,
                rounds,
            };
            let report = mailbox_depth::run(&hub, depth).await?;
            let text = if json {
                report.to_json()?
            } else {
                report.to_table()
            };
            println!("{text}");
            Ok(())
        }
        Scenario::HeldPolls {
            hub,
            polls,
            connections,
            answered,
            json,
        } => {
            let load = held_polls::Load {
                polls,
                connections,
                answered: answered.min(polls),
            };
            let report = held_polls::run(&hub, load).await?;
            let text = if json {
                report.to_json()?
            } else {
                report.to_table()
            };
            println!("{text}");
            Ok(())
        }
    }
}
