//! What a callback host that hangs costs the pushes to one that works.

use std::fmt;
use std::path::Path;

use crate::bench::{Bench, Load};
use crate::report::Step;
use crate::sink::Sink;

/// How much slower pushes may become at the 99th of a hundred.
const RATIO_MAX: f64 = 2.0;

/// The same pushes, alone and beside a host that hangs.
pub(crate) struct Comparison {
    load: Load,
    hanging: u32,
    alone: Step,
    beside: Step,
}

pub(crate) async fn run(description: &Path, load: Load, hanging: u32) -> anyhow::Result<Comparison> {
    let alone = pushes(description, load, None).await?;
    let beside = pushes(description, load, Some(hanging)).await?;
    Ok(Comparison {
        load,
        hanging,
        alone,
        beside,
    })
}

/// From the resolve call of each message to the arrival of its Response; so many are owed to a host that hangs when the
/// first is resolved.
async fn pushes(description: &Path, load: Load, hanging: Option<u32>) -> anyhow::Result<Step> {
    let bench = Bench::start(description, load, Sink::start().await?).await?;
    let (_, ids) = bench.submit().await?;
    if let Some(messages) = hanging {
        let load = Load { messages, ..load };
        let bad = Bench::start(description, load, Sink::hanging().await?).await?;
        let (_, ids) = bad.submit().await?;
        bad.resolve(&ids).await?;
    }
    let (_, resolved_at) = bench.resolve(&ids).await?;
    bench.await_pushes(&resolved_at).await
}

impl Comparison {
    /// Whether the host that hangs costs the other's pushes no more than it may.
    pub(crate) fn is_within(&self) -> bool {
        self.p99_ratio() <= RATIO_MAX
    }

    fn p99_ratio(&self) -> f64 {
        self.beside.p99_ms / self.alone.p99_ms
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Load {
            messages,
            concurrency,
        } = self.load;
        writeln!(
            out,
            "{messages} pushes, {concurrency} calls at once; beside them {} pushes to a host that hangs\n",
            self.hanging
        )?;
        writeln!(
            out,
            "{:<10}{:>12}{:>12}{:>12}",
            "push", "per second", "p50 ms", "p99 ms"
        )?;
        for (name, step) in [("alone", &self.alone), ("beside", &self.beside)] {
            let Step {
                per_second,
                p50_ms,
                p99_ms,
                ..
            } = step;
            writeln!(out, "{name:<10}{per_second:>12.0}{p50_ms:>12.2}{p99_ms:>12.2}")?;
        }
        let p50 = self.beside.p50_ms / self.alone.p50_ms;
        let p99 = self.p99_ratio();
        let verdict = if self.is_within() { "within" } else { "NOT within" };
        write!(
            out,
            "{:<22}{p50:>12.2}{p99:>12.2}\n\np99 {verdict} {RATIO_MAX} times",
            "ratio"
        )
    }
}
