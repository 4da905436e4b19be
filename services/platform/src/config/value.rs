//! What a field can hold, and how it is read from text.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use super::Secret;

/// A type that a field of the configuration can have.
pub trait Value: Sized {
    /// Whether it is never shown.
    const SECRET: bool = false;

    /// Reads it; the error says what was expected.
    fn parse(text: &str) -> Result<Self, String>;

    /// The text that reads back as this value.
    fn text(&self) -> String;

    /// Whether a number lies between the two, both included; other values have no range.
    fn is_within(&self, _min: u64, _max: u64) -> bool {
        true
    }
}

macro_rules! whole_numbers {
    ($($kind:ty),+) => {$(
        impl Value for $kind {
            fn parse(text: &str) -> Result<Self, String> {
                text.parse().map_err(|_| "a whole number".to_owned())
            }

            fn text(&self) -> String {
                self.to_string()
            }

            fn is_within(&self, min: u64, max: u64) -> bool {
                u64::try_from(*self).is_ok_and(|number| (min..=max).contains(&number))
            }
        }
    )+};
}

whole_numbers!(u16, u32, u64, usize);

impl Value for f64 {
    fn parse(text: &str) -> Result<Self, String> {
        let number: f64 = text.parse().map_err(|_| "a number".to_owned())?;
        if number.is_finite() {
            Ok(number)
        } else {
            Err("a finite number".to_owned())
        }
    }

    fn text(&self) -> String {
        self.to_string()
    }

    fn is_within(&self, min: u64, max: u64) -> bool {
        let bound = |limit: u64| u32::try_from(limit).map_or(f64::MAX, f64::from);
        (bound(min)..=bound(max)).contains(self)
    }
}

impl Value for bool {
    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "true" | "1" => Ok(true),
            "false" | "0" => Ok(false),
            _ => Err("true or false".to_owned()),
        }
    }

    fn text(&self) -> String {
        self.to_string()
    }
}

macro_rules! parsed {
    ($($kind:ty: $expected:literal),+) => {$(
        impl Value for $kind {
            fn parse(text: &str) -> Result<Self, String> {
                text.parse().map_err(|_| $expected.to_owned())
            }

            fn text(&self) -> String {
                self.to_string()
            }
        }
    )+};
}

parsed!(String: "text", IpAddr: "an IP address", SocketAddr: "an IP address and a port, such as 127.0.0.1:7101");

impl Value for PathBuf {
    fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            Err("a path".to_owned())
        } else {
            Ok(PathBuf::from(text))
        }
    }

    fn text(&self) -> String {
        self.display().to_string()
    }
}

impl Value for Secret {
    const SECRET: bool = true;

    fn parse(text: &str) -> Result<Self, String> {
        Ok(Secret::new(text))
    }

    fn text(&self) -> String {
        self.expose().to_owned()
    }
}

/// Empty text is `None`.
impl<T: Value> Value for Option<T> {
    const SECRET: bool = T::SECRET;

    fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            Ok(None)
        } else {
            T::parse(text).map(Some)
        }
    }

    fn text(&self) -> String {
        self.as_ref().map(T::text).unwrap_or_default()
    }

    fn is_within(&self, min: u64, max: u64) -> bool {
        self.as_ref().is_none_or(|value| value.is_within(min, max))
    }
}

/// Separated by commas; empty text is the empty list.
impl Value for Vec<String> {
    fn parse(text: &str) -> Result<Self, String> {
        Ok(items(text).map(str::to_owned).collect())
    }

    fn text(&self) -> String {
        self.join(",")
    }
}

/// Separated by commas; empty text is the empty list.
impl Value for Vec<SocketAddr> {
    fn parse(text: &str) -> Result<Self, String> {
        items(text).map(SocketAddr::parse).collect()
    }

    fn text(&self) -> String {
        let items: Vec<_> = self.iter().map(SocketAddr::text).collect();
        items.join(",")
    }
}

fn items(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty())
}

/// How log lines are written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LogFormat {
    /// One JSON object a line, for machines.
    Json,
    /// Lines for a person.
    Text,
}

impl fmt::Display for LogFormat {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Json => "json",
            Self::Text => "text",
        })
    }
}

impl Value for LogFormat {
    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "json" => Ok(Self::Json),
            "text" => Ok(Self::Text),
            _ => Err("json or text".to_owned()),
        }
    }

    fn text(&self) -> String {
        self.to_string()
    }
}
