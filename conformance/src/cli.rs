//! The command line.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::vectors;

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
}

/// Does what the command line asks for. Exit code 1 means that a proof failed, 2 that the run did.
pub(crate) fn run() -> anyhow::Result<ExitCode> {
    match CommandLine::parse().command {
        Command::Vectors(options) => vectors::run(&options),
    }
}
