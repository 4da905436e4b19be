//! Runs the fuzz target over its committed corpus.

use std::fs;
use std::path::Path;
use std::time::Duration;

use super::render;

#[path = "../../../../../fuzz/src/markdown.rs"]
#[expect(unreachable_pub, reason = "in the fuzz crate it is reachable")]
mod target;

pub(super) use target::ELEMENTS;

/// Without optimisation.
const WORK_MAX: Duration = Duration::from_millis(500);

#[test]
fn markdown() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/markdown");
    let mut count = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        // Named when it fails.
        println!("{}", path.display());
        target::markdown(&fs::read(&path).unwrap(), render, WORK_MAX);
        count += 1;
    }
    assert!(count >= 5, "{count} inputs");
}
