//! The published files.

use std::path::{Path, PathBuf};
use std::{env, fs};

use ma2h::json;
use ma2h::sign::SigningKey;
use serde_json::Value;

/// Where they are.
pub(crate) fn published() -> PathBuf {
    let root = env::var_os("MA2H_PUBLISHED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/ma2h"),
        PathBuf::from,
    );
    assert!(
        root.join("conformance/vectors/dp-001-signature.json").is_file(),
        "the published MA2H files are not at {}; set MA2H_PUBLISHED to the folder that holds schema/, conformance/ and \
         examples/",
        root.display()
    );
    root
}

pub(crate) fn file(path: &str) -> String {
    let file = published().join(path);
    fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

pub(crate) fn vector(name: &str) -> Value {
    json::parse_strict(&file(&format!("conformance/vectors/{name}.json"))).unwrap()
}

pub(crate) fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name]
        .as_str()
        .unwrap_or_else(|| panic!("{name} is no string"))
}

/// When and by which nonce a vector was signed.
pub(crate) fn stamp(of: &Value) -> (i64, &str) {
    (text(of, "t").parse().unwrap(), text(of, "jti"))
}

pub(crate) fn key(vector: &Value) -> SigningKey {
    assert_eq!(text(vector, "signature_alg"), "hmac-sha256");
    SigningKey::hmac(text(vector, "test_key").as_bytes()).unwrap()
}
