//! The command line.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::{live, matrix, mutants, vectors};

/// Shows whether a hub is an MA2H hub, rule by rule.
#[derive(Parser)]
#[command(name = "ma2h-conformance", version)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Hold the schemas and the signatures to the vectors in folders, ours or the published ones.
    Vectors(vectors::Options),
    /// Hold a running hub to the protocol over HTTPS.
    Live(live::Options),
    /// Print every obligation of the specification with what proves it.
    Matrix(matrix::Options),
    /// Show that the live checks notice what they are for, by faults put before a running hub.
    Mutants(mutants::Options),
}

/// Does what the command line asks for. Exit code 1 means that a proof failed, 2 that the run did.
pub(crate) fn run() -> anyhow::Result<ExitCode> {
    match CommandLine::parse().command {
        Command::Vectors(options) => vectors::run(&options),
        Command::Live(options) => runtime()?.block_on(live::run(options)),
        Command::Matrix(options) => matrix::run(&options),
        Command::Mutants(options) => runtime()?.block_on(mutants::run(options)),
    }
}

fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}
