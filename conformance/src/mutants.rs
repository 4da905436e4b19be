//! Whether the live checks notice what they are for: each fault is put between the hub and the checks that must fail.

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use futures_util::StreamExt as _;
use futures_util::stream;

use crate::live::account::Setup;
use crate::live::fault::{self, Fault};
use crate::live::hub::Hub;
use crate::live::{self, Check};
use crate::report::{Line, Outputs, Report, Status};

/// What to try.
#[derive(clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    target: live::Target,
    /// Only faults whose name contains this.
    #[arg(long, value_name = "PATTERN", default_value = "")]
    only: String,
    /// Checks at a time.
    #[arg(long, value_name = "N", default_value_t = 12)]
    at_once: usize,
    /// List the faults and try none.
    #[arg(long)]
    list: bool,
    #[command(flatten)]
    outputs: Outputs,
}

/// Tries every fault on each check that must notice it. A check that passes all the same is a failure, and so is a fault
/// that never showed: what fails then failed of something else.
pub(crate) async fn run(options: Options) -> anyhow::Result<ExitCode> {
    let faults: Vec<&'static Fault> = fault::all()
        .filter(|fault| fault.name.contains(&options.only))
        .collect();
    if options.list {
        for fault in faults {
            println!("{}", fault.name);
            for check in fault.noticed_by {
                println!("    {check}");
            }
        }
        return Ok(ExitCode::SUCCESS);
    }
    let (hub, setup) = live::meet(&options.target).await?;
    let started = Instant::now();
    let checks = named(&faults);
    let honest = honest(&hub, &setup, &checks, options.at_once).await;
    let trials = faults
        .iter()
        .flat_map(|fault| fault.noticed_by.iter().map(move |check| (*fault, *check)));
    let lines = stream::iter(trials)
        .map(|(fault, name)| trial(&hub, &setup, fault, checks.get(name), honest.get(name)))
        .buffer_unordered(options.at_once.max(1))
        .collect()
        .await;
    let report = Report {
        title: format!("faults before {}", hub.base_url),
        lines,
        took: started.elapsed(),
    };
    report.tell(&options.outputs)
}

/// The checks that these faults are for.
fn named(faults: &[&Fault]) -> BTreeMap<String, Check> {
    let names: BTreeSet<&str> = faults
        .iter()
        .flat_map(|fault| fault.noticed_by.iter().copied())
        .collect();
    let all = live::all().into_iter();
    all.filter(|check| names.contains(check.name.as_str()))
        .map(|check| (check.name.clone(), check))
        .collect()
}

/// How each check ends without a fault: what fails then shows nothing.
async fn honest(
    hub: &Arc<Hub>,
    setup: &Arc<Setup>,
    checks: &BTreeMap<String, Check>,
    at_once: usize,
) -> BTreeMap<String, Line> {
    stream::iter(checks.values())
        .map(|check| live::prove(hub, setup, check))
        .buffer_unordered(at_once.max(1))
        .map(|line| (line.name.clone(), line))
        .collect()
        .await
}

async fn trial(
    hub: &Arc<Hub>,
    setup: &Arc<Setup>,
    fault: &'static Fault,
    check: Option<&Check>,
    honest: Option<&Line>,
) -> Line {
    let (Some(check), Some(honest)) = (check, honest) else {
        return Line::of("12", fault.name, Err("there is no such check".to_owned()));
    };
    let name = format!("{} — {}", fault.name, check.name);
    if honest.status != Status::Passed {
        return Line {
            name,
            ..honest.clone()
        };
    }
    let faulty = hub.behind(fault);
    let line = live::prove(&faulty, setup, check).await;
    let missed = missed(&line, faulty.lies());
    Line {
        name,
        status: if missed.is_none() {
            Status::Passed
        } else {
            Status::Failed
        },
        detail: missed.unwrap_or_default(),
        ..line
    }
}

/// Why a check that ended so shows nothing of a fault that showed so many times, unless it does.
fn missed(line: &Line, lies: usize) -> Option<String> {
    let why = match (line.status, lies) {
        (_, 0) => "the lie was not told",
        (Status::Failed, _) => return None,
        _ => "the check did not notice",
    };
    Some(format!("{why}: {} {}", line.status.as_str(), line.detail))
}

#[cfg(test)]
mod tests {
    use super::missed;
    use crate::report::{Line, Status};

    #[test]
    fn a_check_notices_only_what_it_was_told() {
        for (status, lies, notices) in [
            (Status::Failed, 1, true),
            (Status::Failed, 3, true),
            (Status::Failed, 0, false),
            (Status::Passed, 1, false),
            (Status::Passed, 0, false),
            (Status::Skipped, 1, false),
            (Status::NotOffered, 0, false),
        ] {
            let line = Line {
                status,
                ..Line::of("8.1", "submit/a-thing", Ok(()))
            };
            assert_eq!(missed(&line, lies).is_none(), notices, "{status:?} after {lies}");
        }
    }
}
