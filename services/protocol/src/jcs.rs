//! Canonical JSON: RFC 8785 (JCS).

use serde_json::Value;

use crate::error::Problem;

/// The canonical text of `value`. Every number is written as the double it stands for, integers too, so that 2^53+1
/// and 2^53 have one form. Read the value with [`crate::json::parse_strict`], whose doubles are the nearest ones.
pub fn canonical(value: &Value) -> Result<String, Problem> {
    serde_jcs::to_string(value).map_err(|_| Problem::internal())
}

#[cfg(test)]
mod tests;
