//! Vectors: fixtures that need no hub, in our format and in the published one.
//!
//! Ours are files of cases. `schema` topics have a base document and changes to it, each with its verdict; `context`
//! topics have a signed document with what must break its signature and what must not; `texts` are held to their
//! canonical form, `values` to what a signature may look like. The published format has one vector a file.

mod context;
mod patch;
mod published;
mod schema;
mod signature;
mod spelling;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Context as _;
use serde_json::Value;

use crate::report::{Line, Outputs, Report};

/// What to run.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Folders of vectors, searched with what is in them.
    #[arg(required = true, value_name = "DIR")]
    folders: Vec<PathBuf>,
    #[command(flatten)]
    outputs: Outputs,
}

/// Runs every vector in the folders.
pub(crate) fn run(options: &Options) -> anyhow::Result<ExitCode> {
    let started = Instant::now();
    let mut report = Report {
        title: "vectors".to_owned(),
        ..Report::default()
    };
    for folder in &options.folders {
        report.lines.extend(lines_of(folder)?);
    }
    report.took = started.elapsed();
    report.tell(&options.outputs)
}

/// What the vectors of one folder say.
pub(crate) fn lines_of(folder: &Path) -> anyhow::Result<Vec<Line>> {
    let schemas = schema::Schemas::load()?;
    let mut lines = Vec::new();
    for path in files(folder)? {
        let text = std::fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
        let vector: Value =
            serde_json::from_str(&text).with_context(|| format!("parse {}", path.display()))?;
        let proved = prove(&schemas, &vector).with_context(|| format!("run {}", path.display()))?;
        lines.extend(proved);
    }
    anyhow::ensure!(!lines.is_empty(), "{} holds no vectors", folder.display());
    Ok(lines)
}

fn prove(schemas: &schema::Schemas, vector: &Value) -> anyhow::Result<Vec<Line>> {
    let has = |member: &str| vector.get(member).is_some();
    if has("class") {
        Ok(vec![published::prove(schemas, vector)?])
    } else if has("schema") {
        schema::prove(schemas, vector)
    } else if has("context") {
        signature::prove(vector)
    } else if has("texts") {
        spelling::prove_texts(vector)
    } else if has("values") {
        spelling::prove_values(vector)
    } else {
        anyhow::bail!("neither a vector of ours nor a published one")
    }
}

/// The JSON files of a folder and of those in it, by name.
fn files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("list {}", folder.display()))?;
    let mut found = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "json") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::lines_of;
    use crate::report::Status;

    fn ours() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors")
    }

    fn failures(folder: &Path) -> Vec<String> {
        let lines = lines_of(folder).unwrap();
        let failed = lines.iter().filter(|line| line.status == Status::Failed);
        failed
            .map(|line| format!("{}: {}", line.name, line.detail))
            .collect()
    }

    #[test]
    fn every_vector_of_ours_holds() {
        assert_eq!(failures(&ours()), Vec::<String>::new());
        let lines = lines_of(&ours()).unwrap();
        let mut names: Vec<&str> = lines.iter().map(|line| line.name.as_str()).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count, "a name stands twice");
        assert!(count > 200, "only {count} proofs");
    }

    /// All schema vectors and every deterministic signature vector; the others are for `live`.
    #[test]
    fn every_published_vector_holds() {
        let root = std::env::var_os("MA2H_PUBLISHED").map_or_else(
            || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/ma2h"),
            PathBuf::from,
        );
        let folder = root.join("conformance/vectors");
        assert!(
            folder.is_dir(),
            "the published MA2H files are not at {}; set MA2H_PUBLISHED to the folder that holds schema/, conformance/ and \
             examples/",
            root.display()
        );
        assert_eq!(failures(&folder), Vec::<String>::new());
        let lines = lines_of(&folder).unwrap();
        let passed = |prefix: &str| {
            let of_kind = lines.iter().filter(|line| line.name.starts_with(prefix));
            of_kind.filter(|line| line.status == Status::Passed).count()
        };
        assert!(passed("sv-") >= 76, "{} schema vectors", passed("sv-"));
        assert_eq!(passed("dp-"), 16, "deterministic signature vectors");
    }
}
