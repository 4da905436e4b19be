//! What holds of the workspace itself, read from `cargo metadata`: who may depend on whom, under which licences, and
//! where versions stand.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Each crate of the workspace with those of it that it may depend on. Nobody but who runs tiers depends on one.
const FLOORS: [(&str, &[&str]); 12] = [
    ("ma2h-schema", &[]),
    ("hub-proto", &[]),
    ("ma2h", &["ma2h-schema"]),
    ("hub-platform", &["hub-proto", "ma2h", "ma2h-schema"]),
    ("hub-gateway", BELOW_TIERS),
    ("hub-lifecycle", BELOW_TIERS),
    ("hub-delivery", BELOW_TIERS),
    ("hub-presence", BELOW_TIERS),
    ("ma2h-hub", BELOW_HUB),
    ("hub-testkit", BELOW_TESTKIT),
    ("ma2h-loadtest", BELOW_TESTKIT),
    // It proves any hub, and so knows none.
    ("ma2h-conformance", &["ma2h", "ma2h-schema"]),
];
const BELOW_TIERS: &[&str] = &["hub-platform", "hub-proto", "ma2h", "ma2h-schema"];
const BELOW_HUB: &[&str] = &[
    "hub-delivery",
    "hub-gateway",
    "hub-lifecycle",
    "hub-platform",
    "hub-presence",
    "hub-proto",
    "ma2h",
    "ma2h-schema",
];
const BELOW_TESTKIT: &[&str] = &[
    "hub-delivery",
    "hub-gateway",
    "hub-lifecycle",
    "hub-platform",
    "hub-presence",
    "hub-proto",
    "ma2h",
    "ma2h-hub",
    "ma2h-schema",
];

/// Licences that ask for no more than to be named. MPL-2.0 also asks for the sources of its own files, which are used
/// here as they are published.
const LICENCES: [&str; 10] = [
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "MIT",
    "MIT-0",
    "MPL-2.0",
    "Unicode-3.0",
    "Zlib",
];

#[test]
fn dependencies_go_down_only() {
    let workspace = metadata(&["--no-deps"]);
    let allowed: BTreeMap<&str, &[&str]> = FLOORS.into();
    let members: Vec<&str> = packages(&workspace).map(name_of).collect();
    assert_eq!(
        members.iter().copied().collect::<BTreeSet<_>>(),
        allowed.keys().copied().collect(),
        "each crate of the workspace has its floor here"
    );
    for package in packages(&workspace) {
        let name = name_of(package);
        let upward: Vec<&str> = dependencies(package)
            // A test may look down from above.
            .filter(|dependency| dependency["kind"] != "dev")
            .map(name_of)
            .filter(|dependency| members.contains(dependency) && !allowed[name].contains(dependency))
            .collect();
        assert!(upward.is_empty(), "{name} depends on {upward:?}");
    }
}

#[test]
fn a_tier_is_tested_without_another() {
    let workspace = metadata(&["--no-deps"]);
    let is_tier = |name: &str| {
        FLOORS
            .iter()
            .any(|(tier, below)| *tier == name && *below == BELOW_TIERS)
    };
    for package in packages(&workspace).filter(|package| is_tier(name_of(package))) {
        let others: Vec<&str> = dependencies(package)
            .map(name_of)
            .filter(|name| is_tier(name))
            .collect();
        assert!(others.is_empty(), "{} depends on {others:?}", name_of(package));
    }
}

#[test]
fn what_the_hub_is_built_of_may_be_used_freely() {
    let workspace = metadata(&[]);
    let used = used_packages(&workspace);
    assert!(used.len() > 100, "found only {} packages", used.len());
    let refused: Vec<String> = packages(&workspace)
        .filter(|package| used.contains(id_of(package)) && !is_allowed(package["license"].as_str()))
        .map(|package| {
            format!(
                "{} {}: {}",
                name_of(package),
                package["version"],
                package["license"]
            )
        })
        .collect();
    assert!(refused.is_empty(), "{refused:#?}");
}

#[test]
fn versions_stand_in_the_root_manifest_only() {
    let workspace = metadata(&["--no-deps"]);
    for package in packages(&workspace) {
        let path = package["manifest_path"].as_str().unwrap();
        let manifest = std::fs::read_to_string(path).unwrap();
        let own = manifest.lines().filter(|line| {
            let line = line.trim();
            line.starts_with("version =") || line.contains("version = \"") || is_bare_version(line)
        });
        assert_eq!(own.collect::<Vec<_>>(), Vec::<&str>::new(), "{path}");
    }
}

/// `name = "1.2"`.
fn is_bare_version(line: &str) -> bool {
    let value = line.split_once('=').map(|(_, value)| value.trim());
    let text = value.and_then(|value| value.strip_prefix('"')?.strip_suffix('"'));
    text.is_some_and(|text| text.starts_with(|first: char| first.is_ascii_digit() || "^~=*".contains(first)))
}

/// Ids of all that the workspace's programs are built of or with, tests left out.
fn used_packages(workspace: &Value) -> BTreeSet<&str> {
    let nodes = workspace["resolve"]["nodes"].as_array().unwrap();
    let nodes: BTreeMap<&str, &Value> = nodes.iter().map(|node| (id_of(node), node)).collect();
    let members = workspace["workspace_members"].as_array().unwrap();
    let mut used = BTreeSet::new();
    let mut next: Vec<&str> = members.iter().filter_map(Value::as_str).collect();
    while let Some(id) = next.pop() {
        if !used.insert(id) {
            continue;
        }
        let dependencies = nodes[id]["deps"].as_array().unwrap().iter();
        let built = dependencies.filter(|dependency| {
            let kinds = dependency["dep_kinds"].as_array().unwrap();
            kinds.iter().any(|kind| kind["kind"] != "dev")
        });
        next.extend(built.filter_map(|dependency| dependency["pkg"].as_str()));
    }
    used
}

/// Whether a licence expression offers a choice that is allowed.
fn is_allowed(expression: Option<&str>) -> bool {
    let Some(expression) = expression else {
        return false;
    };
    // An old way to write a choice.
    let expression = expression.replace('/', " OR ");
    split_top(&expression, " OR ").iter().any(|choice| {
        split_top(choice, " AND ").iter().all(|part| {
            let inner = part.strip_prefix('(').and_then(|part| part.strip_suffix(')'));
            inner.map_or_else(
                || LICENCES.contains(&part.as_str()),
                |inner| is_allowed(Some(inner)),
            )
        })
    })
}

/// Splits where the separator stands outside parentheses.
fn split_top(text: &str, separator: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    for word in text.split(separator) {
        let last = parts.last_mut().unwrap();
        if last.matches('(').count() > last.matches(')').count() {
            last.push_str(separator);
            last.push_str(word);
        } else if last.is_empty() {
            last.push_str(word.trim());
        } else {
            parts.push(word.trim().to_owned());
        }
    }
    parts
}

#[test]
fn licence_expressions_are_read_as_they_are_meant() {
    for allowed in [
        "MIT",
        "MIT OR GPL-3.0",
        "MIT / Apache-2.0",
        "(MIT OR Apache-2.0) AND Unicode-3.0",
    ] {
        assert!(is_allowed(Some(allowed)), "{allowed}");
    }
    for refused in [
        "GPL-3.0",
        "MIT AND GPL-3.0",
        "(MIT OR Apache-2.0) AND GPL-3.0",
        "AGPL-3.0",
    ] {
        assert!(!is_allowed(Some(refused)), "{refused}");
    }
    assert!(!is_allowed(None));
}

/// Of this platform: what others would need has not been fetched.
fn metadata(arguments: &[&str]) -> Value {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .args([
            "metadata",
            "--format-version",
            "1",
            "--offline",
            "--filter-platform",
            &platform(),
        ])
        .args(arguments)
        .current_dir(root)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

/// As the compiler names it.
fn platform() -> String {
    let compiler = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let said = Command::new(compiler).arg("-vV").output().unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    said.lines()
        .find_map(|line| line.strip_prefix("host: "))
        .unwrap()
        .to_owned()
}

fn packages(workspace: &Value) -> impl Iterator<Item = &Value> {
    workspace["packages"].as_array().unwrap().iter()
}

fn dependencies(package: &Value) -> impl Iterator<Item = &Value> {
    package["dependencies"].as_array().unwrap().iter()
}

fn name_of(value: &Value) -> &str {
    value["name"].as_str().unwrap()
}

fn id_of(value: &Value) -> &str {
    value["id"].as_str().unwrap()
}
