//! What a campaign came to, and what is shown of one that failed.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;

use super::evidence::Evidence;
use super::history::{Call, Told};
use super::rules::Violation;
use super::schedule::Step;

/// What is shown of violations, and of messages whose history is.
const VIOLATIONS_MAX: usize = 20;
const HISTORIES_MAX: usize = 3;
/// What is told apart of why a call had no answer.
const SILENCE_CHARS: usize = 90;
/// The history of every call, beside the logs.
const HISTORY: &str = "history.txt";

/// What a campaign did.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// Messages in the end.
    pub messages: usize,
    /// Pushes that arrived.
    pub pushes: usize,
    /// Directives in the end.
    pub directives: usize,
    /// Entries that drains showed.
    pub shown: usize,
    /// From the last fault until nothing was owed; none: it took too long.
    pub settled: Option<Duration>,
    /// Faults, by kind.
    pub faults: BTreeMap<&'static str, usize>,
    /// Calls, by what was asked and told.
    pub calls: BTreeMap<(&'static str, &'static str), usize>,
    /// Calls without an answer, by what came instead.
    pub silences: BTreeMap<String, usize>,
    /// The longest time in which no call was answered.
    pub outage: Duration,
    /// Messages, by status.
    pub statuses: BTreeMap<String, usize>,
    /// Pushes, by how they were settled.
    pub settlements: BTreeMap<String, usize>,
    /// Directives, by state.
    pub tracks: BTreeMap<String, usize>,
}

impl Figures {
    pub(super) fn of(evidence: &Evidence, steps: &[Step], settled: Option<Duration>) -> Self {
        let mut figures = Self {
            messages: evidence.messages.len(),
            pushes: evidence.arrivals.len(),
            directives: evidence.entries.len(),
            settled,
            ..Self::default()
        };
        for kind in steps.iter().filter_map(|step| step.act.kind()) {
            *figures.faults.entry(kind).or_default() += 1;
        }
        for call in &evidence.calls {
            let kinds = (call.deed.kind(), call.told.kind());
            *figures.calls.entry(kinds).or_default() += 1;
            match &call.told {
                Told::Nothing(why) => {
                    let why = why.chars().take(SILENCE_CHARS).collect();
                    *figures.silences.entry(why).or_default() += 1;
                }
                Told::Drained(shown) => figures.shown += shown.len(),
                _ => {}
            }
        }
        figures.outage = outage(&evidence.calls);
        for message in evidence.messages.values() {
            *figures.statuses.entry(message.status.clone()).or_default() += 1;
            if let Some(push) = &message.push {
                *figures.settlements.entry(push.clone()).or_default() += 1;
            }
        }
        for entry in evidence.entries.values() {
            *figures.tracks.entry(entry.state.clone()).or_default() += 1;
        }
        figures
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (messages, directives) = (self.messages, self.directives);
        let (pushes, shown) = (self.pushes, self.shown);
        let calls: usize = self.calls.values().sum();
        let faults: usize = self.faults.values().sum();
        writeln!(
            out,
            "{messages} messages, {directives} directives, {calls} calls, {pushes} pushes arrived, {shown} entries drained, \
             {faults} faults"
        )?;
        match self.settled {
            Some(settled) => writeln!(
                out,
                "nothing owed {:.1} s after the last fault",
                settled.as_secs_f64()
            )?,
            None => writeln!(out, "owed work was not done in time")?,
        }
        writeln!(out, "  faults    {}", listed(&self.faults))?;
        for ((deed, told), count) in &self.calls {
            writeln!(out, "  {deed:<9} {told:<12} {count}")?;
        }
        writeln!(
            out,
            "  silences  {}; the longest without any answer {:.1} s",
            listed(&self.silences),
            self.outage.as_secs_f64()
        )?;
        writeln!(out, "  messages  {}", listed(&self.statuses))?;
        writeln!(out, "  pushes    {}", listed(&self.settlements))?;
        write!(out, "  directives {}", listed(&self.tracks))
    }
}

/// Calls are in the order in which they ended.
fn outage(calls: &[Call]) -> Duration {
    let answered = calls.iter().filter(|call| !matches!(call.told, Told::Nothing(_)));
    let ends: Vec<_> = answered.map(|call| call.ended).collect();
    let gaps = ends.windows(2).map(|pair| pair[1] - pair[0]);
    gaps.max()
        .and_then(|gap| Duration::try_from(gap).ok())
        .unwrap_or_default()
}

fn listed<K: fmt::Display>(counts: &BTreeMap<K, usize>) -> String {
    let each = counts.iter().map(|(kind, count)| format!("{kind} {count}"));
    each.collect::<Vec<_>>().join(", ")
}

/// A campaign in which a rule was broken.
pub(super) struct Failure<'a> {
    pub(super) seed: u64,
    pub(super) steps: &'a [Step],
    pub(super) evidence: &'a Evidence,
    pub(super) violations: &'a [Violation],
    pub(super) figures: &'a Figures,
    /// Where the logs are.
    pub(super) dir: &'a Path,
}

impl Failure<'_> {
    /// Writes every call down beside the logs.
    pub(super) fn write_history(&self) -> anyhow::Result<()> {
        let calls = self.evidence.calls.iter().map(|call| format!("{call}\n"));
        let path = self.dir.join(HISTORY);
        std::fs::write(&path, calls.collect::<String>()).with_context(|| format!("write {}", path.display()))
    }

    /// All that is known of a message or a directive, by its id or its name.
    fn write_message(&self, out: &mut fmt::Formatter<'_>, message: &str) -> fmt::Result {
        writeln!(out, "\nhistory of {message}")?;
        let (mut id, mut name) = (message, message);
        let is_asked = |other: &str, title: &str| other == message || title == message;
        for row in self.evidence.messages.values() {
            if is_asked(&row.id, &row.name) {
                (id, name) = (&row.id, &row.name);
                writeln!(out, "  row: {row:?}")?;
            }
        }
        for row in self.evidence.entries.values() {
            if is_asked(&row.id, &row.name) {
                (id, name) = (&row.id, &row.name);
                writeln!(out, "  row: {row:?}")?;
            }
        }
        for call in self.evidence.calls.iter().filter(|call| call.concerns(id, name)) {
            writeln!(out, "  {call}")?;
        }
        for arrival in self.evidence.arrivals.iter().filter(|arrival| arrival.id == id) {
            writeln!(
                out,
                "  {}  pushed, answered {:?}: {}",
                arrival.at.time(),
                arrival.status,
                arrival.body
            )?;
        }
        Ok(())
    }
}

impl fmt::Display for Failure<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            out,
            "{} violations with seed {}",
            self.violations.len(),
            self.seed
        )?;
        for violation in self.violations.iter().take(VIOLATIONS_MAX) {
            writeln!(out, "  {violation}")?;
        }
        let mut messages: Vec<&str> = self
            .violations
            .iter()
            .map(|found| found.message.as_str())
            .collect();
        messages.dedup();
        for message in messages
            .iter()
            .filter(|message| !message.is_empty())
            .take(HISTORIES_MAX)
        {
            self.write_message(out, message)?;
        }
        writeln!(out, "\nschedule")?;
        for step in self.steps {
            writeln!(out, "  {step}")?;
        }
        writeln!(out, "\n{}", self.figures)?;
        write!(out, "logs and {HISTORY} in {}", self.dir.display())
    }
}

/// A tier that panicked did so before it could be killed for it.
pub(super) fn panics(dir: &Path) -> anyhow::Result<Vec<Violation>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).context("list the logs")? {
        let path = entry.context("list the logs")?.path();
        if path.extension().is_none_or(|extension| extension != "log") {
            continue;
        }
        let log = std::fs::read(&path).with_context(|| format!("read {}", path.display()))?;
        let log = String::from_utf8_lossy(&log);
        found.extend(
            log.lines()
                .filter(|line| line.contains("panicked at"))
                .map(|line| Violation {
                    rule: "a tier panicked",
                    message: String::new(),
                    what: format!("{}: {line}", path.display()),
                }),
        );
    }
    Ok(found)
}
