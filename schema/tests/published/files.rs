//! The published files, and either family of schemas compiled.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jsonschema::{Registry, Validator};
use serde_json::Value;

/// Where the published files are.
pub(crate) fn published() -> PathBuf {
    let root = std::env::var_os("MA2H_PUBLISHED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/ma2h"),
        PathBuf::from,
    );
    assert!(
        root.join("schema/v0.6/message.schema.json").is_file(),
        "the published MA2H files are not at {}; set MA2H_PUBLISHED to the folder that holds schema/, conformance/ and \
         examples/",
        root.display()
    );
    root
}

/// The JSON files of a folder by name, `.json` left out.
pub(crate) fn documents(folder: &Path) -> BTreeMap<String, Value> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("the folder can be listed").path());
    let documents = paths.filter_map(|path| {
        let name = path.file_name()?.to_str()?.strip_suffix(".json")?.to_owned();
        let text = std::fs::read_to_string(&path).expect("the file can be read");
        Some((
            name,
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display())),
        ))
    });
    documents.collect()
}

/// One family of schemas: every edition's files, able to refer to each other.
pub(crate) struct Family {
    registry: Registry<'static>,
    ids: BTreeMap<(String, String), String>,
}

impl Family {
    pub(crate) fn published() -> Family {
        Family::load(&published().join("schema"))
    }

    pub(crate) fn ours() -> Family {
        Family::load(Path::new(env!("CARGO_MANIFEST_DIR")))
    }

    fn load(folder: &Path) -> Family {
        let mut ids = BTreeMap::new();
        let mut schemas = Vec::new();
        for edition in ["v0.4", "v0.5", "v0.6"] {
            for (name, schema) in documents(&folder.join(edition)) {
                let id = schema["$id"].as_str().expect("a schema has an $id").to_owned();
                let noun = name
                    .strip_suffix(".schema")
                    .expect("a schema's file says so")
                    .to_owned();
                ids.insert((edition.to_owned(), noun), id.clone());
                schemas.push((id, schema));
            }
        }
        let registry = Registry::new()
            .extend(schemas)
            .expect("the ids are URIs")
            .prepare();
        Family {
            registry: registry.expect("the schemas refer to each other"),
            ids,
        }
    }

    /// Which schemas there are, as edition and noun.
    pub(crate) fn names(&self) -> Vec<(String, String)> {
        self.ids.keys().cloned().collect()
    }

    /// The schema, or the part of it that the fragment points to.
    pub(crate) fn validator(&self, edition: &str, noun: &str, fragment: &str) -> Validator {
        let id = &self.ids[&(edition.to_owned(), noun.to_owned())];
        let schema = serde_json::json!({ "$ref": format!("{id}{fragment}") });
        let options = jsonschema::options()
            .should_validate_formats(true)
            .with_registry(&self.registry);
        options
            .build(&schema)
            .unwrap_or_else(|error| panic!("{id}: {error}"))
    }
}
