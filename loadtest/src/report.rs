//! What a benchmark found, as a table for people and as JSON.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

#[derive(Serialize)]
pub(crate) struct Report {
    pub messages: u32,
    pub concurrency: u32,
    pub steps: Vec<Step>,
}

#[derive(Serialize)]
pub(crate) struct Step {
    pub name: &'static str,
    pub per_second: f64,
    pub p50_ms: f64,
    pub p99_ms: f64,
    /// Microseconds of processor time for one message, by tier or service.
    pub cpu_us_per_message: BTreeMap<String, f64>,
}

impl Step {
    pub(crate) fn new(
        name: &'static str,
        messages: u32,
        took: Duration,
        latencies_us: &Histogram<u64>,
        cpu_seconds: &BTreeMap<String, f64>,
    ) -> Self {
        let per_message =
            |(tier, seconds): (&String, &f64)| (tier.clone(), seconds * 1e6 / f64::from(messages));
        Self {
            name,
            per_second: f64::from(messages) / took.as_secs_f64(),
            p50_ms: quantile_ms(latencies_us, 0.50),
            p99_ms: quantile_ms(latencies_us, 0.99),
            cpu_us_per_message: cpu_seconds.iter().map(per_message).collect(),
        }
    }
}

/// Whole microseconds, as the histograms count.
pub(crate) fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// A quantile of latencies, in milliseconds.
pub(crate) fn quantile_ms(latencies_us: &Histogram<u64>, quantile: f64) -> f64 {
    #[expect(
        clippy::cast_precision_loss,
        reason = "latencies are far below 2^53 microseconds"
    )]
    let micros = latencies_us.value_at_quantile(quantile) as f64;
    micros / 1000.0
}

impl Report {
    pub(crate) fn to_json(&self) -> anyhow::Result<String> {
        Ok(serde_json::to_string_pretty(self)?)
    }

    pub(crate) fn to_table(&self) -> String {
        let mut table = format!(
            "{} messages, {} calls at once\n\n",
            self.messages, self.concurrency
        );
        let _ = writeln!(
            table,
            "{:<10}{:>12}{:>12}{:>12}",
            "step", "per second", "p50 ms", "p99 ms"
        );
        for step in &self.steps {
            let _ = writeln!(
                table,
                "{:<10}{:>12.0}{:>12.2}{:>12.2}",
                step.name, step.per_second, step.p50_ms, step.p99_ms
            );
        }
        table.push_str("\nprocessor time per message, µs\n\n");
        self.write_cpu(&mut table);
        table
    }

    fn write_cpu(&self, table: &mut String) {
        let Some(first) = self.steps.first() else { return };
        let _ = write!(table, "{:<10}", "step");
        for tier in first.cpu_us_per_message.keys() {
            let _ = write!(table, "{tier:>12}");
        }
        table.push('\n');
        for step in &self.steps {
            let _ = write!(table, "{:<10}", step.name);
            for micros in step.cpu_us_per_message.values() {
                let _ = write!(table, "{micros:>12.0}");
            }
            table.push('\n');
        }
    }
}
