//! The scanner: one pass, recursion and memory bounded by the nesting and the values it is told to allow.

use std::borrow::Cow;
use std::fmt;

use super::node::{Member, Node};
use crate::error::Problem;

/// Characters of a client's key that an error repeats.
const NAME_SHOWN_CHARS: usize = 40;
/// Steps of a path that an error shows, the outermost.
const PATH_SHOWN_STEPS: usize = 8;

/// Reads `text` as one JSON value with nothing after it.
pub(super) fn scan(text: &str, nesting_max: usize, values_max: usize) -> Result<Node<'_>, Problem> {
    let mut scanner = Scanner {
        text,
        at: 0,
        nesting: 0,
        nesting_max,
        values: 0,
        values_max,
    };
    let node = scanner
        .document()
        .map_err(|fault| Problem::validation(fault.to_string()))?;
    Ok(node)
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    nesting: usize,
    nesting_max: usize,
    values: usize,
    values_max: usize,
}

/// What is wrong, and where.
struct Fault {
    message: String,
    offset: usize,
    /// Collected on the way out: innermost first.
    path: Vec<String>,
}

impl Fault {
    fn within(mut self, step: String) -> Fault {
        self.path.push(step);
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.message, self.offset)?;
        if self.path.is_empty() {
            return Ok(());
        }
        let shown: String = self
            .path
            .iter()
            .rev()
            .take(PATH_SHOWN_STEPS)
            .map(String::as_str)
            .collect();
        let more = if self.path.len() > PATH_SHOWN_STEPS {
            "…"
        } else {
            ""
        };
        write!(f, ", in {}{more}", shown.trim_start_matches('.'))
    }
}

type Scanned<T> = Result<T, Fault>;

impl<'a> Scanner<'a> {
    fn document(&mut self) -> Scanned<Node<'a>> {
        self.skip_space();
        let node = self.value()?;
        self.skip_space();
        if self.at < self.text.len() {
            return self.fault("malformed json: unexpected text after the value");
        }
        Ok(node)
    }

    fn value(&mut self) -> Scanned<Node<'a>> {
        if self.values == self.values_max {
            return self.fault(&format!("more than {} values", self.values_max));
        }
        self.values += 1;
        match self.peek() {
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'"') => Ok(Node::String(self.string()?)),
            Some(b'-' | b'0'..=b'9') => Ok(Node::Number(self.number()?)),
            Some(b't') => self.literal("true", Node::Bool(true)),
            Some(b'f') => self.literal("false", Node::Bool(false)),
            Some(b'n') => self.literal("null", Node::Null),
            Some(_) => self.fault("malformed json: expected a value"),
            None => self.fault("malformed json: unexpected end, expected a value"),
        }
    }

    fn nested(&mut self, container: fn(&mut Self) -> Scanned<Node<'a>>) -> Scanned<Node<'a>> {
        if self.nesting == self.nesting_max {
            return self.fault(&format!("nested deeper than {} levels", self.nesting_max));
        }
        self.nesting += 1;
        let node = container(self)?;
        self.nesting -= 1;
        Ok(node)
    }

    fn object(&mut self) -> Scanned<Node<'a>> {
        let opened = self.at;
        self.at += 1;
        let mut members: Vec<Member<'a>> = Vec::new();
        self.skip_space();
        if self.take(b'}') {
            return Ok(Node::Object(members));
        }
        loop {
            self.skip_space();
            if self.peek() != Some(b'"') {
                return self.fault("malformed json: expected a key in quotes");
            }
            let name = self.string()?;
            self.skip_space();
            if !self.take(b':') {
                return self.fault("malformed json: expected ':' after a key");
            }
            self.skip_space();
            let start = self.at;
            let node = self
                .value()
                .map_err(|fault| fault.within(format!(".{}", shown(&name))))?;
            members.push(Member {
                name,
                text: &self.text[start..self.at],
                node,
            });
            self.skip_space();
            if self.take(b'}') {
                break;
            }
            if !self.take(b',') {
                return self.fault("malformed json: expected ',' or '}' in an object");
            }
        }
        match duplicate(&members) {
            Some(name) => Err(Fault {
                message: format!("duplicate key {name:?}"),
                offset: opened,
                path: Vec::new(),
            }),
            None => Ok(Node::Object(members)),
        }
    }

    fn array(&mut self) -> Scanned<Node<'a>> {
        self.at += 1;
        let mut items = Vec::new();
        self.skip_space();
        if self.take(b']') {
            return Ok(Node::Array(items));
        }
        loop {
            self.skip_space();
            let index = items.len();
            items.push(self.value().map_err(|fault| fault.within(format!("[{index}]")))?);
            self.skip_space();
            if self.take(b']') {
                return Ok(Node::Array(items));
            }
            if !self.take(b',') {
                return self.fault("malformed json: expected ',' or ']' in an array");
            }
        }
    }

    fn literal(&mut self, word: &str, node: Node<'a>) -> Scanned<Node<'a>> {
        if self.text[self.at..].starts_with(word) {
            self.at += word.len();
            Ok(node)
        } else {
            self.fault("malformed json: expected a value")
        }
    }

    fn number(&mut self) -> Scanned<&'a str> {
        let start = self.at;
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            let _signed = self.take(b'+') || self.take(b'-');
            self.digits()?;
        }
        let text = &self.text[start..self.at];
        if text.parse::<f64>().is_ok_and(f64::is_finite) {
            return Ok(text);
        }
        self.at = start;
        self.fault("number out of the range of a double")
    }

    fn digits(&mut self) -> Scanned<()> {
        if !self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            return self.fault("malformed json: expected a digit");
        }
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        Ok(())
    }

    /// A string from its opening quote; borrowed unless it has an escape.
    fn string(&mut self) -> Scanned<Cow<'a, str>> {
        self.at += 1;
        let mut decoded: Option<String> = None;
        loop {
            let start = self.at;
            while self
                .peek()
                .is_some_and(|byte| byte >= 0x20 && byte != b'"' && byte != b'\\')
            {
                self.at += 1;
            }
            let plain = &self.text[start..self.at];
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(match decoded {
                        None => Cow::Borrowed(plain),
                        Some(head) => Cow::Owned(head + plain),
                    });
                }
                Some(b'\\') => {
                    let decoded = decoded.get_or_insert_default();
                    decoded.push_str(plain);
                    decoded.push(self.escape()?);
                }
                Some(_) => return self.fault("malformed json: control character in a string"),
                None => return self.fault("malformed json: unexpected end in a string"),
            }
        }
    }

    fn escape(&mut self) -> Scanned<char> {
        self.at += 1;
        let letter = self.peek();
        self.at += 1;
        match letter {
            Some(b'"') => Ok('"'),
            Some(b'\\') => Ok('\\'),
            Some(b'/') => Ok('/'),
            Some(b'b') => Ok('\u{8}'),
            Some(b'f') => Ok('\u{c}'),
            Some(b'n') => Ok('\n'),
            Some(b'r') => Ok('\r'),
            Some(b't') => Ok('\t'),
            Some(b'u') => self.unicode_escape(),
            _ => {
                self.at -= 1;
                self.fault("malformed json: unknown escape in a string")
            }
        }
    }

    /// The digits after `\u`, and the second half of a pair.
    fn unicode_escape(&mut self) -> Scanned<char> {
        let first = self.hex4()?;
        if let Some(plain) = char::from_u32(first) {
            return Ok(plain);
        }
        let is_pair = (0xD800..0xDC00).contains(&first) && self.text[self.at..].starts_with("\\u");
        if is_pair {
            self.at += 2;
            let second = self.hex4()?;
            let low = second.wrapping_sub(0xDC00);
            if low < 0x400
                && let Some(paired) = char::from_u32(0x1_0000 + ((first - 0xD800) << 10) + low)
            {
                return Ok(paired);
            }
        }
        self.fault("lone surrogate in a string")
    }

    fn hex4(&mut self) -> Scanned<u32> {
        let digits = self.text.get(self.at..self.at + 4).unwrap_or_default();
        let is_hex = digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let code = is_hex.then(|| u32::from_str_radix(digits, 16).ok()).flatten();
        let Some(code) = code else {
            return self.fault("malformed json: expected four hex digits after \\u");
        };
        self.at += 4;
        Ok(code)
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let taken = self.peek() == Some(byte);
        self.at += usize::from(taken);
        taken
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn fault<T>(&self, message: &str) -> Scanned<T> {
        Err(Fault {
            message: message.to_owned(),
            offset: self.at,
            path: Vec::new(),
        })
    }
}

/// The first name that stands twice.
fn duplicate(members: &[Member<'_>]) -> Option<String> {
    let mut names: Vec<&str> = members.iter().map(|member| &*member.name).collect();
    names.sort_unstable();
    let pair = names.windows(2).find(|pair| pair[0] == pair[1])?;
    Some(shown(pair[0]))
}

/// As much of a client's key as an error repeats.
fn shown(name: &str) -> String {
    name.chars().take(NAME_SHOWN_CHARS).collect()
}
