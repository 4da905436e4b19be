use serde_json::{Value, json};

use super::{
    INPUT_NESTING_MAX, INPUT_VALUES_MAX, NESTING_MAX, lossless_digest, member, members, parse_input,
    parse_strict, quoted,
};
use crate::error::ErrorCode;
use crate::random::Random;

fn nested(levels: usize) -> String {
    format!("{}{}", "[".repeat(levels), "]".repeat(levels))
}

#[test]
fn what_is_refused_is_said_and_where() {
    let cases = [
        (r#"{"a":1,"a":2}"#, r#"duplicate key "a" at byte 0"#),
        (r#"{"a":1,"\u0061":2}"#, r#"duplicate key "a" at byte 0"#),
        (
            r#"{"request":{"options":[0,{"b":1,"c":2,"b":3}]}}"#,
            r#"duplicate key "b" at byte 25, in request.options[1]"#,
        ),
        (r#"{"":1,"":2}"#, r#"duplicate key "" at byte 0"#),
        (
            r#"{"n":1e400}"#,
            "number out of the range of a double at byte 5, in n",
        ),
        (
            r"[-1e400]",
            "number out of the range of a double at byte 1, in [0]",
        ),
        (r#"["\ud83d"]"#, "lone surrogate in a string at byte 8, in [0]"),
        (r#"["\ude00"]"#, "lone surrogate in a string at byte 8, in [0]"),
        (r#"["\ud83dx"]"#, "lone surrogate in a string at byte 8, in [0]"),
        (
            r#"["\ud83d\ud83d"]"#,
            "lone surrogate in a string at byte 14, in [0]",
        ),
        (
            r#"["\ud83d\u0061"]"#,
            "lone surrogate in a string at byte 14, in [0]",
        ),
        (r#"{"\udc00":1}"#, "lone surrogate in a string at byte 8"),
        (
            "{} {}",
            "malformed json: unexpected text after the value at byte 3",
        ),
        ("", "malformed json: unexpected end, expected a value at byte 0"),
        ("\u{feff}{}", "malformed json: expected a value at byte 0"),
        (r#"{"a" 1}"#, "malformed json: expected ':' after a key at byte 5"),
        (
            r#"{"a":1,}"#,
            "malformed json: expected a key in quotes at byte 7",
        ),
        (
            "[1 2]",
            "malformed json: expected ',' or ']' in an array at byte 3",
        ),
        (
            "{\"a\":1 \"b\":2}",
            "malformed json: expected ',' or '}' in an object at byte 7",
        ),
        (
            "[01]",
            "malformed json: expected ',' or ']' in an array at byte 2",
        ),
        ("[1.]", "malformed json: expected a digit at byte 3, in [0]"),
        ("[.5]", "malformed json: expected a value at byte 1, in [0]"),
        ("[+1]", "malformed json: expected a value at byte 1, in [0]"),
        ("[-]", "malformed json: expected a digit at byte 2, in [0]"),
        ("[1e]", "malformed json: expected a digit at byte 3, in [0]"),
        ("[NaN]", "malformed json: expected a value at byte 1, in [0]"),
        ("tru", "malformed json: expected a value at byte 0"),
        ("\"a", "malformed json: unexpected end in a string at byte 2"),
        (
            "\"a\nb\"",
            "malformed json: control character in a string at byte 2",
        ),
        (r#""\x""#, "malformed json: unknown escape in a string at byte 2"),
        (
            r#""\u00g0""#,
            "malformed json: expected four hex digits after \\u at byte 3",
        ),
        (
            "\"\\u00é\"",
            "malformed json: expected four hex digits after \\u at byte 3",
        ),
        ("\"\\é\"", "malformed json: unknown escape in a string at byte 2"),
    ];
    for (text, message) in cases {
        let problem = parse_strict(text).unwrap_err();
        assert_eq!(problem.code, ErrorCode::ValidationError, "{text}");
        assert_eq!(problem.message, message, "{text}");
    }
}

#[test]
fn a_long_path_is_cut() {
    let text = format!("{}1e400{}", r#"{"a":"#.repeat(20), "}".repeat(20));
    let message = parse_strict(&text).unwrap_err().message;
    assert!(message.ends_with(", in a.a.a.a.a.a.a.a…"), "{message}");
}

#[test]
fn what_is_unusual_and_fine() {
    let cases = [
        (r#""\u0000""#, json!("\u{0}")),
        (r#""\ud83d\ude00""#, json!("😀")),
        (r#""😀""#, json!("😀")),
        (r#""\u00e9\/\b\f\n\r\t\"\\""#, json!("é/\u{8}\u{c}\n\r\t\"\\")),
        ("9223372036854775808", json!(9_223_372_036_854_775_808_u64)),
        ("9007199254740993", json!(9_007_199_254_740_993_u64)),
        ("-9223372036854775808", json!(i64::MIN)),
        ("18446744073709551616", json!(18_446_744_073_709_551_616.0)),
        ("1.0", json!(1.0)),
        ("-0", json!(-0.0)),
        ("0", json!(0)),
        ("1e-400", json!(0.0)),
        ("1E+2", json!(100.0)),
        (" \t\r\n[ ] ", json!([])),
        ("{\"\u{2028}\": { } }", json!({ "\u{2028}": {} })),
    ];
    for (text, value) in cases {
        assert_eq!(parse_strict(text), Ok(value), "{text}");
    }
}

#[test]
fn nesting_is_bounded() {
    assert!(parse_strict(&nested(NESTING_MAX)).is_ok());
    assert!(parse_input(&nested(INPUT_NESTING_MAX)).is_ok());
    // What is read elsewhere with serde_json must be readable there.
    assert!(serde_json::from_str::<Value>(&nested(NESTING_MAX)).is_ok());
    for levels in [NESTING_MAX + 1, 250, 1_000_000] {
        let message = parse_strict(&nested(levels)).unwrap_err().message;
        assert!(
            message.starts_with("nested deeper than 127 levels at byte 127, in [0][0]"),
            "{message}"
        );
    }
    assert!(parse_input(&nested(INPUT_NESTING_MAX + 1)).is_err());
    // Side by side is not deep.
    assert!(parse_input(&format!("[{}]", vec!["[]"; 500].join(","))).is_ok());
}

#[test]
fn the_number_of_values_is_bounded() {
    let list = |items: usize| format!("[{}0]", "0,".repeat(items - 1));
    assert!(parse_input(&list(INPUT_VALUES_MAX - 1)).is_ok());
    let refusal = parse_input(&list(INPUT_VALUES_MAX)).unwrap_err();
    assert!(
        refusal.message.starts_with("more than 500000 values at byte "),
        "{refusal}"
    );
    // A key is no value of its own.
    let members: Vec<_> = (0..1000).map(|at| format!("\"{at}\":[]")).collect();
    assert!(parse_input(&format!("{{{}}}", members.join(","))).is_ok());
}

#[test]
fn agrees_with_serde_json_on_what_is_json() {
    let mut random = Random::seeded(1);
    let mut accepted = 0;
    for _ in 0..20_000 {
        let text = random.text();
        let theirs = serde_json::from_str::<Value>(&text).is_ok();
        match parse_strict(&text) {
            Ok(_) => assert!(theirs, "only we take {text}"),
            Err(problem) => assert!(
                !theirs
                    || problem.message.starts_with("duplicate key")
                    || problem.message.starts_with("number out"),
                "only they take {text}: {problem}"
            ),
        }
        accepted += u32::from(theirs);
    }
    assert!((5_000..19_000).contains(&accepted), "{accepted}");
}

#[test]
fn what_was_written_is_read_back() {
    let mut random = Random::seeded(2);
    for _ in 0..5_000 {
        let value = random.value(4);
        assert_eq!(parse_strict(&value.to_string()), Ok(value));
    }
}

#[test]
fn every_double_is_the_nearest_one() {
    let mut random = Random::seeded(3);
    for _ in 0..20_000 {
        let double = random.double();
        for text in [format!("{double:e}"), format!("{double:.25e}")] {
            let read = parse_strict(&text).unwrap().as_f64().unwrap();
            assert_eq!(read.to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
        }
    }
}

#[test]
fn the_digest_tells_apart_what_differs() {
    const SKIP: [&[&str]; 2] = [&["agent", "session"], &["agent", "run_id"]];
    let digest = |text: &str| lossless_digest(text, &SKIP).unwrap();
    let same = [
        (
            r#"{"a":1,"b":[{"c":2,"d":3}]}"#,
            r#"{ "b": [{"d":3,"c":2}], "a": 1 }"#,
        ),
        (r#"{"a":"a"}"#, r#"{"\u0061":"\u0061"}"#),
        (r#"["\ud83d\ude00/"]"#, r#"["😀\/"]"#),
        (
            r#"{"agent":{"id":"x","run_id":"1"}}"#,
            r#"{"agent":{"session":"sess_2","id":"x"}}"#,
        ),
        (r#"{"\u0061gent":{"run_id":"1"}}"#, r#"{"agent":{}}"#),
    ];
    for (one, other) in same {
        assert_eq!(digest(one), digest(other), "{one} {other}");
    }
    let different = [
        ("1", "1.0"),
        ("1e2", "100"),
        ("0", "-0"),
        ("9007199254740992", "9007199254740993"),
        ("1", "\"1\""),
        ("null", "\"null\""),
        ("true", "false"),
        ("[]", "{}"),
        ("[1,2]", "[2,1]"),
        ("[[1],2]", "[[1,2]]"),
        (r#"["ab","c"]"#, r#"["a","bc"]"#),
        (r#"{"a":null}"#, "{}"),
        (r#"{"a":"e\u0301"}"#, r#"{"a":"é"}"#),
        (r#"{"agent":{"id":"x"}}"#, r#"{"agent":{"id":"y"}}"#),
        (
            r#"{"agent":{"labels":{"run_id":"1"}}}"#,
            r#"{"agent":{"labels":{"run_id":"2"}}}"#,
        ),
        (r#"{"agent":[{"run_id":"1"}]}"#, r#"{"agent":[{"run_id":"2"}]}"#),
        (
            r#"{"state":{"agent":{"run_id":"1"}}}"#,
            r#"{"state":{"agent":{"run_id":"2"}}}"#,
        ),
        (r#"{"run_id":"1"}"#, r#"{"run_id":"2"}"#),
    ];
    for (one, other) in different {
        assert_ne!(digest(one), digest(other), "{one} {other}");
    }
    assert!(lossless_digest(r#"{"a":1,"a":1}"#, &SKIP).is_err());
}

#[test]
fn a_spelling_changes_no_digest() {
    let mut random = Random::seeded(4);
    for _ in 0..2_000 {
        let value = random.value(4);
        let plain = lossless_digest(&value.to_string(), &[]).unwrap();
        let pretty = lossless_digest(&serde_json::to_string_pretty(&value).unwrap(), &[]).unwrap();
        assert_eq!(plain, pretty);
    }
}

#[test]
fn members_are_verbatim_and_in_order() {
    let text = r#" { "b" : {"x":1.0, "y":9007199254740993} , "\u0061":[ 1e2 ],"c":"\u0041" } "#;
    let found: Vec<_> = members(text)
        .unwrap()
        .into_iter()
        .map(|(name, raw)| (name, raw.get()))
        .collect();
    let expected = [
        ("b", r#"{"x":1.0, "y":9007199254740993}"#),
        ("a", "[ 1e2 ]"),
        ("c", r#""\u0041""#),
    ];
    assert_eq!(found, expected.map(|(name, raw)| (name.to_owned(), raw)));
    assert_eq!(member(text, "a").unwrap().get(), "[ 1e2 ]");
    assert!(member(text, "d").is_none());
    assert!(members("[1]").is_err());
    assert!(members("{").is_err());
    assert_eq!(quoted("a\"\u{0}😀"), r#""a\"\u0000😀""#);
}
