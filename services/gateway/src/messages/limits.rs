//! The advertised limits (§8.6), each refusal naming its field.

use hub_platform::config::Limits;
use ma2h::error::Problem;
use serde_json::Value;

/// What an envelope that has its shape may hold, and how long its text may be.
pub(crate) fn check(limits: &Limits, envelope: &Value, envelope_bytes: usize) -> Result<(), Problem> {
    if envelope_bytes > limits.max_envelope_bytes {
        return Err(over(
            "the envelope",
            limits.max_envelope_bytes,
            "bytes, state included",
        ));
    }
    let body_bytes = envelope["body"].as_str().map_or(0, str::len);
    if body_bytes > limits.max_body_bytes {
        return Err(over("body", limits.max_body_bytes, "bytes"));
    }
    let parts = envelope["context"].as_array().map_or(&[][..], Vec::as_slice);
    if parts.len() > limits.max_context_parts {
        return Err(over("context", limits.max_context_parts, "parts"));
    }
    for (at, part) in parts.iter().enumerate() {
        if part.to_string().len() > limits.max_part_bytes {
            return Err(over(&format!("context[{at}]"), limits.max_part_bytes, "bytes"));
        }
    }
    Ok(())
}

fn over(field: &str, max: usize, unit: &str) -> Problem {
    Problem::invalid_field(format!("{field}: expected at most {max} {unit}"))
}

#[cfg(test)]
mod tests {
    use hub_platform::config::Limits;
    use serde_json::{Value, json};

    use super::check;

    #[test]
    fn each_limit_names_its_field() {
        let limits = Limits {
            max_body_bytes: 4,
            max_part_bytes: 20,
            max_context_parts: 2,
            max_envelope_bytes: 65536,
        };
        let part = json!({"text": "0123"});
        let cases: [(Value, Option<&str>); 6] = [
            (json!({}), None),
            (json!({"body": "1234", "context": [part, part]}), None),
            (json!({"body": "12345"}), Some("body: expected at most 4 bytes")),
            // Bytes, not characters.
            (json!({"body": "äöü"}), Some("body: expected at most 4 bytes")),
            (
                json!({"context": [part, part, part]}),
                Some("context: expected at most 2 parts"),
            ),
            (
                json!({"context": [part, {"text": "0123456789"}]}),
                Some("context[1]: expected at most 20 bytes"),
            ),
        ];
        for (envelope, expected) in cases {
            let refused = check(&limits, &envelope, 65536)
                .err()
                .map(|problem| problem.message);
            assert_eq!(refused.as_deref(), expected, "{envelope}");
        }
        let refused = check(&limits, &json!({}), 65537).unwrap_err();
        assert_eq!(
            refused.message,
            "the envelope: expected at most 65536 bytes, state included"
        );
    }
}
