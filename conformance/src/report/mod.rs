//! What a run found, for people and for machines.

mod junit;
mod table;

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use serde_json::{Value, json};

pub(crate) use junit::junit;
pub(crate) use table::{order, table};

/// How one proof ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Status {
    /// It holds.
    Passed,
    /// It does not.
    Failed,
    /// The capability document does not offer what it is about.
    NotOffered,
    /// This run had no means to try it.
    Skipped,
}

impl Status {
    pub(crate) const ALL: [Status; 4] = [
        Status::Passed,
        Status::Failed,
        Status::NotOffered,
        Status::Skipped,
    ];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Status::Passed => "passed",
            Status::Failed => "failed",
            Status::NotOffered => "not offered",
            Status::Skipped => "skipped",
        }
    }
}

/// One proof.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// Of the specification, without its sign.
    pub section: String,
    /// What it proves.
    pub name: String,
    pub status: Status,
    /// Why it did not pass.
    pub detail: String,
    pub took: Duration,
}

impl Line {
    /// A proof that either holds or does not, and takes no time worth telling.
    pub(crate) fn of(section: &str, name: impl Into<String>, outcome: Result<(), String>) -> Self {
        let status = if outcome.is_ok() {
            Status::Passed
        } else {
            Status::Failed
        };
        Self {
            section: section.to_owned(),
            name: name.into(),
            status,
            detail: outcome.err().unwrap_or_default(),
            took: Duration::ZERO,
        }
    }
}

/// All that a run proved.
#[derive(Clone, Debug, Default)]
pub(crate) struct Report {
    /// What was run.
    pub title: String,
    pub lines: Vec<Line>,
    pub took: Duration,
}

/// Where a report goes beside the terminal.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct Outputs {
    /// Write the report as JSON into this file.
    #[arg(long, value_name = "FILE")]
    json: Option<std::path::PathBuf>,
    /// Write the report as `JUnit` XML into this file.
    #[arg(long, value_name = "FILE")]
    junit: Option<std::path::PathBuf>,
}

impl Report {
    /// How many ended so.
    pub(crate) fn count(&self, status: Status) -> usize {
        self.lines.iter().filter(|line| line.status == status).count()
    }

    /// Prints the table and writes the files; fails when a proof failed, or when there was none.
    pub(crate) fn tell(&self, outputs: &Outputs) -> anyhow::Result<ExitCode> {
        print!("{}", table(self));
        if let Some(path) = &outputs.json {
            write(path, &format!("{:#}\n", self.to_json()))?;
        }
        if let Some(path) = &outputs.junit {
            write(path, &junit(self))?;
        }
        let proved = self.count(Status::Passed) > 0 && self.count(Status::Failed) == 0;
        Ok(if proved {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }

    fn to_json(&self) -> Value {
        let counts = Status::ALL.map(|status| (status.as_str().to_owned(), json!(self.count(status))));
        let lines = self.lines.iter().map(|line| {
            json!({
                "section": line.section,
                "name": line.name,
                "status": line.status.as_str(),
                "detail": line.detail,
                "took_ms": line.took.as_millis(),
            })
        });
        json!({
            "title": self.title,
            "took_ms": self.took.as_millis(),
            "counts": Value::Object(counts.into_iter().collect()),
            "proofs": lines.collect::<Vec<_>>(),
        })
    }
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    std::fs::write(path, text).with_context(|| format!("write {}", path.display()))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::{Line, Outputs, Report, Status};

    /// A report with a line of each kind.
    pub(crate) fn sample() -> Report {
        let mut lines = vec![
            Line::of("8.1", "submit/a-thing", Ok(())),
            Line::of(
                "8.1",
                "submit/<other> & thing",
                Err("expected \"a\"\ngot <b>".to_owned()),
            ),
            Line::of("16", "sessions/x", Ok(())),
            Line::of("9.2", "push/y", Ok(())),
        ];
        lines[2].status = Status::NotOffered;
        lines[3].status = Status::Skipped;
        Report {
            title: "sample".to_owned(),
            lines,
            ..Report::default()
        }
    }

    #[test]
    fn a_run_without_a_proof_is_no_success() {
        let told = |report: &Report| format!("{:?}", report.tell(&Outputs::default()).unwrap());
        let [success, failure] = [std::process::ExitCode::SUCCESS, std::process::ExitCode::FAILURE]
            .map(|code| format!("{code:?}"));
        assert_eq!(told(&Report::default()), failure);
        assert_eq!(told(&sample()), failure);
        let mut good = sample();
        good.lines.remove(1);
        assert_eq!(told(&good), success);
        good.lines.remove(0);
        assert_eq!(told(&good), failure, "nothing was proved");
    }

    #[test]
    fn machines_read_the_same() {
        let json = sample().to_json();
        assert_eq!(json["counts"]["failed"], 1);
        assert_eq!(json["counts"]["not offered"], 1);
        assert_eq!(json["proofs"][1]["detail"], "expected \"a\"\ngot <b>");
    }
}
