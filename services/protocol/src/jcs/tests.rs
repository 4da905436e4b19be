mod oracle;

use serde_json::{Value, json};

use super::canonical;
use crate::json::parse_strict;
use crate::random::Random;

fn canonical_text(text: &str) -> String {
    canonical(&parse_strict(text).unwrap()).unwrap()
}

/// RFC 8785, appendix B.
#[test]
fn numbers_of_the_rfc() {
    let table: [(u64, &str); 24] = [
        (0x0000_0000_0000_0000, "0"),
        (0x8000_0000_0000_0000, "0"),
        (0x0000_0000_0000_0001, "5e-324"),
        (0x8000_0000_0000_0001, "-5e-324"),
        (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
        (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
        (0x4340_0000_0000_0000, "9007199254740992"),
        (0xc340_0000_0000_0000, "-9007199254740992"),
        (0x4430_0000_0000_0000, "295147905179352830000"),
        (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
        (0x44b5_2d02_c7e1_4af6, "1e+23"),
        (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
        (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
        (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
        (0x444b_1ae4_d6e2_ef50, "1e+21"),
        (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
        (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
        (0x41b3_de43_5555_5553, "333333333.3333332"),
        (0x41b3_de43_5555_5554, "333333333.33333325"),
        (0x41b3_de43_5555_5555, "333333333.3333333"),
        (0x41b3_de43_5555_5556, "333333333.3333334"),
        (0x41b3_de43_5555_5557, "333333333.33333343"),
        (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
        (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
    ];
    for (bits, text) in table {
        assert_eq!(canonical(&json!(f64::from_bits(bits))).unwrap(), text, "{bits:x}");
    }
}

#[test]
fn integers_are_doubles_too() {
    let cases = [
        (json!(9_007_199_254_740_993_u64), "9007199254740992"),
        (json!(9_007_199_254_740_993_i64), "9007199254740992"),
        (json!(-9_007_199_254_740_993_i64), "-9007199254740992"),
        (json!(9_007_199_254_740_995_u64), "9007199254740996"),
        (json!(9_223_372_036_854_775_808_u64), "9223372036854776000"),
        (json!(i64::MIN), "-9223372036854776000"),
        (json!(u64::MAX), "18446744073709552000"),
        (json!(42), "42"),
    ];
    for (value, text) in cases {
        assert_eq!(canonical(&value).unwrap(), text);
    }
    let written = [
        ("1e21", "1e+21"),
        ("1e-7", "1e-7"),
        ("-0", "0"),
        ("-0.0", "0"),
        ("1.0", "1"),
        ("1E2", "100"),
        ("123456789012345678901234567890", "1.2345678901234568e+29"),
        ("9007199254740993.0", "9007199254740992"),
        ("0.1", "0.1"),
        ("1e-400", "0"),
    ];
    for (text, expected) in written {
        assert_eq!(canonical_text(text), expected, "{text}");
    }
}

/// RFC 8785, 3.2.2 and 3.2.3.
#[test]
fn samples_of_the_rfc() {
    let sample = r#"{
        "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
        "literals": [null, true, false]
    }"#;
    let expected = concat!(
        r#"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"#,
        r#""string":"€$\u000f\nA'B\"\\\\\"/"}"#
    );
    assert_eq!(canonical_text(sample), expected);

    let names = r#"{
        "\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh", "1": "One",
        "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control", "\u00f6": "Latin Small Letter O With Diaeresis"
    }"#;
    let expected = concat!(
        r#"{"\r":"Carriage Return","1":"One",""#,
        "\u{80}",
        r#"":"Control","ö":"Latin Small Letter O With Diaeresis","€":"Euro Sign","😀":"Emoji: Grinning Face","#,
        "\"\u{fb33}\":\"Hebrew Letter Dalet With Dagesh\"}"
    );
    assert_eq!(canonical_text(names), expected);
}

#[test]
fn the_canonical_form_is_its_own() {
    let mut random = Random::seeded(5);
    for _ in 0..2_000 {
        let text = canonical(&random.value(4)).unwrap();
        assert_eq!(canonical_text(&text), text);
    }
}

#[test]
fn keys_sort_by_utf16() {
    let value: Value = parse_strict("{\"\u{fb33}\":1,\"😀\":2,\"a\":{\"b\":1,\"a\":2}}").unwrap();
    assert_eq!(
        canonical(&value).unwrap(),
        "{\"a\":{\"a\":2,\"b\":1},\"😀\":2,\"\u{fb33}\":1}"
    );
}

/// Against a second implementation: every size of number, and the neighbours of every power of ten and of two.
#[test]
fn numbers_agree_with_a_second_writer() {
    let check = |double: f64| {
        let value = json!(double);
        assert_eq!(
            canonical(&value).unwrap(),
            oracle::canonical(&value),
            "{double:e}"
        );
    };
    let mut random = Random::seeded(41);
    for _ in 0..60_000 {
        check(random.double());
    }
    // Few digits, at all places around the two points where the notation changes.
    for _ in 0..60_000 {
        let digits = f64::from(u32::try_from(random.below(1_000_000)).unwrap());
        check(digits * 10f64.powi(i32::try_from(random.below(60)).unwrap() - 30));
    }
    let powers = (-330..=308).map(|exponent| format!("1e{exponent}").parse::<f64>().unwrap());
    let halves = (-1074..=1023).map(|exponent| 2f64.powi(exponent));
    for power in powers.chain(halves).filter(|power| *power > 0.0) {
        for bits in power.to_bits().saturating_sub(3)..=power.to_bits() + 3 {
            let near = f64::from_bits(bits);
            if near.is_finite() {
                check(near);
                check(-near);
            }
        }
    }
    for _ in 0..20_000 {
        for value in [
            json!(random.next()),
            json!(random.next().cast_signed()),
            json!(random.next() >> random.below(64)),
        ] {
            assert_eq!(canonical(&value).unwrap(), oracle::canonical(&value));
        }
    }
}

/// The same for escapes, for the order of keys, and for whole documents.
#[test]
fn texts_and_keys_agree_with_a_second_writer() {
    let check = |value: &Value| {
        assert_eq!(canonical(value).unwrap(), oracle::canonical(value));
    };
    for letter in (0..=0x10_ffff).filter_map(char::from_u32) {
        if u32::from(letter) < 0x3000 || u32::from(letter) % 37 == 0 {
            check(&json!({ (letter.to_string()): letter.to_string() }));
        }
    }
    // Letters on both sides of the surrogates, where UTF-16 and code points part.
    let mut random = Random::seeded(43);
    let letters = [
        'a',
        '\u{7f}',
        '\u{d7ff}',
        '\u{e000}',
        '\u{fb33}',
        '\u{ffff}',
        '\u{10000}',
        '😀',
        '\u{10ffff}',
    ];
    for _ in 0..5_000 {
        let name = |random: &mut Random| -> String {
            (0..random.below(4))
                .map(|_| letters[random.below(letters.len())])
                .collect()
        };
        let members = (0..random.below(12)).map(|_| (name(&mut random), Value::Null));
        check(&Value::Object(members.collect()));
    }
    for _ in 0..5_000 {
        check(&random.value(5));
    }
}
