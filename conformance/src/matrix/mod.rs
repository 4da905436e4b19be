//! Every obligation of the specification, and what proves it.

mod clauses;
mod proof;
mod sections;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use serde::Deserialize;
use serde_json::Value;

use crate::report::order;
use proof::Proof;

const TEXT: &str = include_str!("../../matrix.toml");

/// What to print.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Only obligations of this section and those in it.
    #[arg(long, value_name = "SECTION")]
    section: Option<String>,
    /// Only what is open.
    #[arg(long)]
    open: bool,
    /// Instead, the numbered clauses of the published behavioural vectors.
    #[arg(long, conflicts_with_all = ["section", "open"])]
    clauses: bool,
    /// Look whether every proof is there, beside the sources this was built from; print only what is missing.
    #[arg(long)]
    check: bool,
    /// A report of `live --json`: says how each proof went there.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Matrix {
    obligation: Vec<Obligation>,
}

impl Matrix {
    /// Each row as its section counts it.
    fn counted(&self) -> impl Iterator<Item = sections::Row<'_>> {
        self.obligation
            .iter()
            .map(|row| (row.section.as_str(), row.says.ends_with("(v0.6)")))
    }
}

/// A MUST or a MUST NOT.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Obligation {
    id: String,
    section: String,
    /// Who is bound: hub, agent, both, client or resolver.
    who: String,
    level: String,
    /// In our words, to be read after the level; at its end, whether v0.6 added it.
    says: String,
    #[serde(default)]
    proof: Vec<String>,
    /// Why there is no proof yet.
    open: Option<String>,
    /// Why there can be none.
    untestable: Option<String>,
}

/// Prints the matrix.
pub(crate) fn run(options: &Options) -> anyhow::Result<ExitCode> {
    let (matrix, clauses) = (read()?, clauses::read()?);
    if options.check {
        let sections = sections::faults(&sections::read()?, matrix.counted());
        let faults = [faults(&matrix), sections, clauses::faults(&clauses)].concat();
        for fault in &faults {
            println!("{fault}");
        }
        return Ok(ExitCode::from(u8::from(!faults.is_empty())));
    }
    let report = options.report.as_deref().map(statuses).transpose()?;
    if options.clauses {
        print!("{}", clauses::table(&clauses, report.as_ref()));
        return Ok(ExitCode::SUCCESS);
    }
    let wanted = |obligation: &&Obligation| {
        let within = options.section.as_ref().is_none_or(|section| {
            obligation.section == *section || obligation.section.starts_with(&format!("{section}."))
        });
        within && (!options.open || obligation.open.is_some())
    };
    let rows: Vec<&Obligation> = matrix.obligation.iter().filter(wanted).collect();
    print!("{}", table(&rows, report.as_ref()));
    Ok(ExitCode::SUCCESS)
}

fn read() -> anyhow::Result<Matrix> {
    toml::from_str(TEXT).context("parse matrix.toml")
}

/// What is wrong with the rows, if anything.
fn faults(matrix: &Matrix) -> Vec<String> {
    let mut faults: Vec<String> = matrix.obligation.iter().flat_map(Obligation::faults).collect();
    let mut ids = BTreeSet::new();
    for row in &matrix.obligation {
        if !ids.insert(&row.id) {
            faults.push(format!("{}: stands twice", row.id));
        }
    }
    faults
}

/// How each check of a live report ended.
fn statuses(path: &Path) -> anyhow::Result<BTreeMap<String, String>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
    let report: Value = serde_json::from_str(&text).with_context(|| format!("parse {}", path.display()))?;
    let proofs = report["proofs"].as_array().context("proofs: expected a list")?;
    let status = |proof: &Value| {
        let text = |member: &str| proof[member].as_str().map(str::to_owned);
        Some((text("name")?, text("status")?))
    };
    Ok(proofs.iter().filter_map(status).collect())
}

/// The live checks, as proofs, of what the hub of this repository does not serve yet.
fn unserved() -> BTreeSet<String> {
    let checks = crate::live::all().into_iter();
    checks
        .filter(|check| !check.is_served())
        .map(|check| format!("live:{}", check.name))
        .collect()
}

/// Whether these are proofs, and none of them has had a leg to stand on.
fn waits(proofs: &[String], unserved: &BTreeSet<String>) -> bool {
    !proofs.is_empty() && proofs.iter().all(|proof| unserved.contains(proof))
}

fn table(rows: &[&Obligation], report: Option<&BTreeMap<String, String>>) -> String {
    let mut rows = rows.to_vec();
    rows.sort_by_key(|row| order(&row.section));
    let mut text = String::new();
    let unserved = unserved();
    let (mut section, mut counts) = ("", [0_usize; 4]);
    for row in &rows {
        if row.section != section {
            let _ = writeln!(text, "§{}", row.section);
            section = &row.section;
        }
        let _ = writeln!(text, "  {} {} {}", row.who, row.level, row.says);
        for proof in &row.proof {
            let _ = writeln!(text, "      {proof}{}", went(proof, report));
        }
        for (word, reason) in [("open", &row.open), ("untestable", &row.untestable)] {
            if let Some(reason) = reason {
                let _ = writeln!(text, "      {word}: {reason}");
            }
        }
        if waits(&row.proof, &unserved) {
            let _ = writeln!(text, "      proof written, leg not served yet");
        }
        counts[row.kind(&unserved)] += 1;
    }
    let [proved, waiting, open, untestable] = counts;
    let total = rows.len();
    let _ = writeln!(
        text,
        "{total} obligations: {proved} with proof, {waiting} with a proof that is written, but whose leg is not served \
         yet, {open} open, {untestable} that nothing on the wire could show"
    );
    text
}

/// How a live check went, in brackets; nothing of any other proof.
fn went(proof: &str, report: Option<&BTreeMap<String, String>>) -> String {
    let name = proof.strip_prefix("live:");
    let went = name.zip(report).and_then(|(name, report)| report.get(name));
    went.map(|went| format!("  ({went})")).unwrap_or_default()
}

impl Obligation {
    /// With proof, with one that waits for its leg, open, or untestable.
    fn kind(&self, unserved: &BTreeSet<String>) -> usize {
        match (&self.open, &self.untestable) {
            (Some(_), _) => 2,
            (None, Some(_)) => 3,
            (None, None) => usize::from(waits(&self.proof, unserved)),
        }
    }

    /// What is wrong with the row.
    fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let said = [
            !self.proof.is_empty(),
            self.open.is_some(),
            self.untestable.is_some(),
        ];
        if said.iter().filter(|said| **said).count() != 1 {
            faults.push(format!("{}: needs either proof, or open, or untestable", self.id));
        }
        let named = self.section.starts_with(|at: char| at.is_ascii_digit())
            && self.id.starts_with(&format!("{}-", self.section))
            && ["hub", "agent", "both", "client", "resolver"].contains(&self.who.as_str())
            && ["MUST", "MUST NOT"].contains(&self.level.as_str())
            && !self.says.is_empty();
        if !named {
            faults.push(format!("{}: id, section, who, level or says", self.id));
        }
        for proof in &self.proof {
            if let Err(fault) = Proof::parse(proof).and_then(|proof| proof.is_there()) {
                faults.push(format!("{}: {proof}: {fault}", self.id));
            }
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::{Matrix, Obligation, faults, read, sections, table};

    const ROW: &str =
        "[[obligation]]\nid = \"7-x\"\nsection = \"7\"\nwho = \"hub\"\nlevel = \"MUST\"\nsays = \"x\"\n";

    /// Each row says how it is proved, or why it is not; each proof that is named is there.
    #[test]
    fn every_obligation_has_its_proof() {
        let faults = faults(&read().unwrap());
        assert!(faults.is_empty(), "{faults:#?}");
    }

    #[test]
    fn a_row_without_a_proof_or_a_reason_is_noticed() {
        for (rest, good) in [
            ("", false),
            ("open = \"not yet\"", true),
            ("untestable = \"never\"", true),
            ("proof = [\"vector:schema/ack\"]", true),
            ("proof = [\"vector:schema/none\"]", false),
            ("proof = [\"vector:schema/ack\"]\nopen = \"not yet\"", false),
        ] {
            let matrix: Matrix = toml::from_str(&format!("{ROW}{rest}")).unwrap();
            assert_eq!(faults(&matrix).is_empty(), good, "{rest}");
        }
    }

    #[test]
    fn every_section_has_its_rows() {
        let (mut matrix, sections) = (read().unwrap(), sections::read().unwrap());
        let found = sections::faults(&sections, matrix.counted());
        assert!(found.is_empty(), "{found:#?}");
        while let Some(lost) = matrix.obligation.pop() {
            let found = sections::faults(&sections, matrix.counted());
            let noticed = found
                .iter()
                .any(|fault| fault.starts_with(&format!("§{}:", lost.section)));
            assert!(noticed, "{}", lost.id);
        }
    }

    #[test]
    fn a_proof_whose_leg_is_not_served_is_counted_apart() {
        for (proofs, expected) in [
            (
                r#"["live:submit/a-replay-gets-the-original-ack"]"#,
                "1 with proof, 0",
            ),
            (
                r#"["live:sessions/the-hub-mints-the-session-id"]"#,
                "0 with proof, 1",
            ),
            (
                r#"["live:sessions/the-hub-mints-the-session-id", "vector:schema/session"]"#,
                "1 with proof, 0",
            ),
            (
                r#"["live:webhook/a-webhook-gets-directives-only"]"#,
                "0 with proof, 1",
            ),
        ] {
            let matrix: Matrix = toml::from_str(&format!("{ROW}proof = {proofs}")).unwrap();
            let rows: Vec<&Obligation> = matrix.obligation.iter().collect();
            let text = table(&rows, None);
            assert!(text.contains(expected), "{proofs}: {text}");
        }
    }
}
