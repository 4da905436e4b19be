//! Runs checks, several at a time.

use std::sync::Arc;
use std::time::Instant;

use futures_util::StreamExt as _;
use futures_util::stream;

use super::account::Setup;
use super::hub::Hub;
use super::registry::Check;
use super::stage::Stage;
use super::verdict::{Proof, Verdict};
use crate::report::{Line, Report, Status};

/// Runs those checks that the hub offers the means for: most beside each other, the others after them.
pub(crate) async fn run(hub: &Arc<Hub>, setup: &Arc<Setup>, checks: &[Check], at_once: usize) -> Report {
    let started = Instant::now();
    let (alone, beside): (Vec<&Check>, Vec<&Check>) = checks.iter().partition(|check| check.alone);
    let mut lines: Vec<Line> = stream::iter(beside)
        .map(|check| prove(hub, setup, check))
        .buffer_unordered(at_once)
        .collect()
        .await;
    for check in alone {
        lines.push(prove(hub, setup, check).await);
    }
    Report {
        title: hub.base_url.clone(),
        lines,
        took: started.elapsed(),
    }
}

/// Longest reason that is told.
const DETAIL_CHARS_MAX: usize = 1000;

/// Runs one check within its deadline.
pub(crate) async fn prove(hub: &Arc<Hub>, setup: &Arc<Setup>, check: &Check) -> Line {
    let started = Instant::now();
    let missing = check.legs.iter().find_map(|leg| leg.offered_by(hub).err());
    let outcome = match missing {
        Some(why) => Err(Verdict::NotOffered(why)),
        None => tried(hub, setup, check).await,
    };
    let (status, detail) = match outcome {
        Ok(()) => (Status::Passed, String::new()),
        Err(Verdict::Failed(what)) => (Status::Failed, what),
        Err(Verdict::NotOffered(what)) => (Status::NotOffered, what),
        Err(Verdict::Skipped(why)) => (Status::Skipped, why),
    };
    Line {
        section: check.section.to_owned(),
        name: check.name.clone(),
        status,
        detail: detail.chars().take(DETAIL_CHARS_MAX).collect(),
        took: started.elapsed(),
    }
}

async fn tried(hub: &Arc<Hub>, setup: &Arc<Setup>, check: &Check) -> Proof {
    let stage = Arc::new(Stage::new(hub, setup));
    let running = (check.run)(Arc::clone(&stage));
    let outcome = match tokio::time::timeout(check.deadline, running).await {
        Ok(outcome) => outcome,
        Err(_) => Err(Verdict::Failed(format!(
            "not done after {} s",
            check.deadline.as_secs()
        ))),
    };
    stage.close().await;
    outcome
}
