//! An answer, held to the schema that its request brought.

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

use crate::phrase::Phrasing;
use crate::{Violation, bounds};

/// Bytes of a compiled pattern, at most.
const PATTERN_BYTES_MAX: usize = 256 << 10;

/// The schema of a request's answers, compiled.
#[derive(Debug)]
pub struct Answer {
    validator: Validator,
    schema: Value,
}

/// Compiles the schema of a request. Formats are held to, patterns are linear in what they look at (so they know no
/// look-around and no back-references), and the schema has to be one document: no reference is ever fetched.
///
/// The error says what about the schema is not supported.
pub fn compile(schema: &Value) -> Result<Answer, String> {
    bounds::check_schema(schema)?;
    let validator = jsonschema::options()
        .offline()
        .should_validate_formats(true)
        .with_pattern_options(PatternOptions::regex().size_limit(PATTERN_BYTES_MAX))
        .build(schema)
        .map_err(|error| Phrasing::Theirs.violation(&error).to_string())?;
    Ok(Answer {
        validator,
        schema: schema.clone(),
    })
}

impl Answer {
    /// Checks an answer, within bounds that hold whatever the schema says. Paths start at the answer.
    pub fn check(&self, value: &Value) -> Result<(), Violation> {
        bounds::check_value(&self.schema, value).map_err(|message| Violation {
            path: String::new(),
            message,
        })?;
        self.validator
            .validate(value)
            .map_err(|error| Phrasing::Theirs.violation(&error))
    }
}
