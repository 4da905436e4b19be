//! Runs the fuzz targets over their committed corpus.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a target fails by panicking")]

#[path = "../../../fuzz/src"]
#[expect(unreachable_pub, reason = "in the fuzz crate it is reachable")]
mod targets {
    pub mod address;
    pub mod envelope;
    pub mod jcs;
    pub mod signature;
}

use std::fs;
use std::path::Path;

fn run(name: &str, target: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz/corpus")
        .join(name);
    let mut count = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        // Named when it fails.
        println!("{}", path.display());
        target(&fs::read(&path).unwrap());
        count += 1;
    }
    assert!(count >= 5, "{name}: {count} inputs");
}

#[test]
fn envelope() {
    run("envelope", targets::envelope::envelope);
}

#[test]
fn address() {
    run("address", targets::address::address);
}

#[test]
fn signature() {
    run("signature", targets::signature::signature);
}

#[test]
fn jcs() {
    run("jcs", targets::jcs::jcs);
}
