//! What an obligation names as its proof.

use std::path::{Path, PathBuf};

/// A proof, by its kind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Proof {
    /// A check of a running hub, by its name.
    Live(String),
    /// A file of vectors, by its path without `.json`.
    Vector(String),
    /// A test of the repository: the file or folder it is in, and its function.
    Test { place: String, function: String },
}

impl Proof {
    /// Reads `live:file/check`, `vector:folder/file` or `test:path::function`.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (kind, rest) = text.split_once(':').ok_or("expected live:, vector: or test:")?;
        match kind {
            "live" => Ok(Self::Live(rest.to_owned())),
            "vector" => Ok(Self::Vector(rest.to_owned())),
            "test" => {
                let (place, function) = rest.rsplit_once("::").ok_or("expected path::function")?;
                Ok(Self::Test {
                    place: place.to_owned(),
                    function: function.to_owned(),
                })
            }
            _ => Err(format!("no kind of proof: {kind}")),
        }
    }

    /// Fails where the proof is not there. Tests are looked up in the sources, beside which this program was built.
    pub(super) fn is_there(&self) -> Result<(), String> {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        match self {
            Self::Live(name) => {
                let known = crate::live::all().iter().any(|check| check.name == *name);
                known
                    .then_some(())
                    .ok_or_else(|| "there is no such check".to_owned())
            }
            Self::Vector(name) => {
                let path = here.join("vectors").join(format!("{name}.json"));
                path.is_file()
                    .then_some(())
                    .ok_or_else(|| "there is no such file".to_owned())
            }
            Self::Test { place, function } => {
                let path = here.join("..").join(place);
                let declared = format!("fn {function}(");
                for file in sources(&path)? {
                    let text = std::fs::read_to_string(&file).map_err(|error| error.to_string())?;
                    if text.contains(&declared) && text.contains("#[test]") | text.contains("::test") {
                        return Ok(());
                    }
                }
                Err("there is no such test".to_owned())
            }
        }
    }
}

/// The Rust files at a path: it, those in it, or the module of that name.
fn sources(path: &Path) -> Result<Vec<PathBuf>, String> {
    let module = path.with_extension("rs");
    let mut found: Vec<PathBuf> = [path.to_owned(), module]
        .into_iter()
        .filter(|path| path.is_file())
        .collect();
    if path.is_dir() {
        let entries = std::fs::read_dir(path).map_err(|error| error.to_string())?;
        for entry in entries {
            let entry = entry.map_err(|error| error.to_string())?.path();
            if entry.is_dir() {
                found.extend(sources(&entry)?);
            } else if entry.extension().is_some_and(|extension| extension == "rs") {
                found.push(entry);
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::Proof;

    #[test]
    fn a_proof_that_is_not_there_is_noticed() {
        let is_there = |text: &str| Proof::parse(text).and_then(|proof| proof.is_there());
        for text in [
            "live:submit/a-replay-gets-the-original-ack",
            "vector:schema/ack",
            "test:conformance/src/matrix::a_proof_that_is_not_there_is_noticed",
        ] {
            assert_eq!(is_there(text), Ok(()), "{text}");
        }
        for text in [
            "live:submit/something-else",
            "vector:schema/hack",
            "test:conformance/src/matrix::no_such_test",
            "test:conformance/src/nowhere::x",
            "test:x",
            "hope:x",
            "x",
        ] {
            assert!(is_there(text).is_err(), "{text}");
        }
    }
}
