//! JSON laid out for reading, token by token: what a number or a string says stays as the agent wrote it.

/// Lays out valid JSON over several lines.
pub(super) fn laid_out(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut escaped = false;
    let mut letters = json.chars().filter(|c| !c.is_control()).peekable();
    while let Some(letter) = letters.next() {
        if in_string {
            out.push(letter);
            in_string = escaped || letter != '"';
            escaped = !escaped && letter == '\\';
            continue;
        }
        match letter {
            ' ' => {}
            '"' => {
                in_string = true;
                out.push(letter);
            }
            '{' | '[' => {
                out.push(letter);
                while letters.peek() == Some(&' ') {
                    letters.next();
                }
                if let Some(&close @ ('}' | ']')) = letters.peek() {
                    letters.next();
                    out.push(close);
                } else {
                    depth += 1;
                    new_line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut out, depth);
                out.push(letter);
            }
            ',' => {
                out.push(letter);
                new_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            other => out.push(other),
        }
    }
    out
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    for _ in 0..depth {
        out.push_str("  ");
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::laid_out;

    #[test]
    fn lays_out_like_serde() {
        for value in [
            json!({"a": [1, {"b": "x, {y}: \"z\" \\"}], "c": {}, "d": [], "e": null}),
            json!([]),
            json!("a, b"),
            json!([[[1]]]),
        ] {
            let expected = serde_json::to_string_pretty(&value).unwrap();
            assert_eq!(laid_out(&value.to_string()), expected);
            assert_eq!(laid_out(&expected), expected);
        }
    }

    #[test]
    fn keeps_every_digit() {
        let text = laid_out("{\"a\":1.0,\"b\":9007199254740993,\"c\":1e3, \"d\" : [ ] }");
        assert_eq!(
            text,
            "{\n  \"a\": 1.0,\n  \"b\": 9007199254740993,\n  \"c\": 1e3,\n  \"d\": []\n}"
        );
        assert!(serde_json::from_str::<Value>(&text).is_ok());
    }
}
