//! Random JSON for tests: the same on every run.

use serde_json::{Map, Number, Value};

/// A xorshift generator with a fixed seed per test.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn seeded(seed: u64) -> Random {
        Random(seed | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap()
    }

    /// Any finite double, most of them extreme.
    pub(crate) fn double(&mut self) -> f64 {
        loop {
            let double = f64::from_bits(self.next());
            if double.is_finite() {
                return double;
            }
        }
    }

    pub(crate) fn string(&mut self) -> String {
        const LETTERS: [&str; 14] = [
            "a", "b", "Z", "0", " ", "\"", "\\", "/", "\n", "\u{0}", "é", "\u{fb33}", "😀", "\u{7f}",
        ];
        let length = self.below(6);
        (0..length).map(|_| LETTERS[self.below(LETTERS.len())]).collect()
    }

    pub(crate) fn value(&mut self, nesting: usize) -> Value {
        match self.below(if nesting == 0 { 6 } else { 8 }) {
            0 => Value::Null,
            1 => Value::Bool(self.next() & 1 == 0),
            2 => self.next().into(),
            3 => self.next().cast_signed().into(),
            4 => Number::from_f64(self.double()).map_or(Value::Null, Value::Number),
            5 => Value::String(self.string()),
            6 => (0..self.below(5)).map(|_| self.value(nesting - 1)).collect(),
            _ => {
                let length = self.below(5);
                let members = (0..length).map(|_| (self.string(), self.value(nesting - 1)));
                Value::Object(members.collect::<Map<_, _>>())
            }
        }
    }

    /// JSON text, now and then broken in one place.
    pub(crate) fn text(&mut self) -> String {
        let value = self.value(4);
        let mut text = if self.below(2) == 0 {
            value.to_string()
        } else {
            serde_json::to_string_pretty(&value).unwrap()
        };
        if self.below(2) == 0 {
            const BREAKS: [&str; 16] = [
                "",
                ",",
                ":",
                "\"",
                "{",
                "}",
                "[",
                "]",
                "0",
                "-",
                ".",
                "e",
                "\\",
                "\\u",
                "\\ud83d\\ude00",
                "\\ud83d",
            ];
            let mut at = self.below(text.len() + 1);
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            let width = text[at..].chars().next().map_or(0, char::len_utf8);
            text.replace_range(at..at + width, BREAKS[self.below(BREAKS.len())]);
        }
        text
    }
}
