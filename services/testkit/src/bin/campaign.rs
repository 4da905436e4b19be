//! Runs the fault campaign for as long as one likes, one seed after the other: `make campaign SEED=… MINUTES=…`.

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use hub_testkit::campaign::{Options, run};
use tokio::time::Instant;

/// Kills, freezes and cuts off a hub's processes under load, and proves that nothing was lost or told untruly.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// Where the first run's faults are drawn from; each further one takes the next number.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How long to go on beginning runs.
    #[arg(long, default_value_t = 10)]
    minutes: u64,
    /// How long things fail in one run.
    #[arg(long, default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=3600))]
    seconds: u64,
    /// Milliseconds from one fault to the next, on average.
    #[arg(long, default_value_t = 2500, value_parser = clap::value_parser!(u64).range(100..=600_000))]
    pause_ms: u64,
    /// Processes of each tier.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=8))]
    replicas: u32,
    /// Messages whose life is under way at once.
    #[arg(long, default_value_t = 12, value_parser = clap::value_parser!(u32).range(1..=256))]
    at_once: u32,
    /// Seconds beyond the bound on owed work that a busy machine is given.
    #[arg(long, default_value_t = 0)]
    indulgence: u64,
}

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    let until = Instant::now() + Duration::from_secs(arguments.minutes * 60);
    let mut options = Options {
        seed: arguments.seed,
        lasting: Duration::from_secs(arguments.seconds),
        pause: Duration::from_millis(arguments.pause_ms),
        replicas: arguments.replicas as usize,
        at_once: arguments.at_once as usize,
        indulgence: Duration::from_secs(arguments.indulgence),
    };
    let mut failures = 0_u32;
    loop {
        match run(&options).await {
            Ok(figures) => println!("seed {}: every rule held\n{figures}\n", options.seed),
            Err(error) => {
                failures += 1;
                println!("seed {}: {error:#}\n", options.seed);
            }
        }
        options.seed += 1;
        if Instant::now() >= until {
            break;
        }
    }
    Ok(if failures == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
