//! Shows whether a hub is an MA2H hub, rule by rule.
//!
//! `vectors` holds schemas and signatures to fixtures, `live` holds a running hub to the protocol over HTTPS as a
//! stranger would, `matrix` says what proves each obligation of the specification, and `mutants` shows that the live
//! checks notice what they are for.
#![allow(clippy::disallowed_methods, reason = "it calls the hub from outside")]

mod cli;
mod live;
mod matrix;
mod mutants;
mod report;
mod vectors;

use std::process::ExitCode;

fn main() -> ExitCode {
    match cli::run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("ma2h-conformance: {error:#}");
            ExitCode::from(2)
        }
    }
}
