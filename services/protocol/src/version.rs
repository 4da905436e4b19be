//! `ma2h_version` (§10).

use std::fmt;

use crate::error::{ErrorCode, Problem};

/// What this hub speaks.
pub const HUB_VERSION: &str = "0.6";
/// The minor of [`HUB_VERSION`].
pub const HUB_MINOR: u32 = 6;
/// Below it a pushed Response could not be verified: the signature changed here (§10).
pub const PUSH_MINOR_MIN: u32 = 3;
/// From here on resolver entries follow the address grammar (§9.1), and `to` and `agent.session` exist.
pub const ADDRESS_MINOR_MIN: u32 = 5;
/// From here on `permissions.allow_edit` means something (§5.2).
pub const EDIT_MINOR_MIN: u32 = 6;

/// A version of major 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    minor: u32,
}

impl Version {
    /// Reads a canonical `0.x`. Another major is not supported; another spelling (`0.03`) is malformed, so that it can
    /// never pass for the version it resembles.
    pub fn parse(text: &str) -> Result<Version, Problem> {
        let malformed = || Problem::validation("ma2h_version: expected MAJOR.MINOR, for example \"0.6\"");
        let (major, minor) = text.split_once('.').ok_or_else(malformed)?;
        if !is_canonical_number(major) || !is_canonical_number(minor) {
            return Err(malformed());
        }
        if major != "0" {
            let message = format!(
                "ma2h_version: major {} is not supported, this hub speaks 0.x",
                clip(major)
            );
            return Err(Problem::new(ErrorCode::VersionNotSupported, message));
        }
        let too_large = |_| {
            Problem::new(
                ErrorCode::VersionNotSupported,
                "ma2h_version: the minor is out of range",
            )
        };
        Ok(Version {
            minor: minor.parse().map_err(too_large)?,
        })
    }

    /// The number after the dot.
    pub fn minor(self) -> u32 {
        self.minor
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0.{}", self.minor)
    }
}

fn is_canonical_number(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_digit())
        && (text == "0" || !text.starts_with('0'))
}

/// A client's text in an error stays short; the caller has made sure that it is ASCII.
fn clip(text: &str) -> &str {
    text.get(..8).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::{HUB_MINOR, HUB_VERSION, Version};
    use crate::error::ErrorCode::{ValidationError, VersionNotSupported};

    #[test]
    fn spellings() {
        let accepted = [
            ("0.0", 0),
            ("0.3", 3),
            (HUB_VERSION, HUB_MINOR),
            ("0.10", 10),
            ("0.4294967295", u32::MAX),
        ];
        for (text, minor) in accepted {
            let version = Version::parse(text).unwrap();
            assert_eq!(version.minor(), minor, "{text}");
            assert_eq!(version.to_string(), text);
        }
        let refused = [
            ("1.0", VersionNotSupported),
            ("12345678901234567890.1", VersionNotSupported),
            ("0.4294967296", VersionNotSupported),
            ("0.03", ValidationError),
            ("00.3", ValidationError),
            ("0", ValidationError),
            ("0.", ValidationError),
            (".3", ValidationError),
            ("0.3.1", ValidationError),
            ("0.3 ", ValidationError),
            ("0.+3", ValidationError),
            ("0.٣", ValidationError),
            ("", ValidationError),
        ];
        for (text, code) in refused {
            assert_eq!(Version::parse(text).unwrap_err().code, code, "{text:?}");
        }
    }

    #[test]
    fn minors_compare_as_numbers() {
        assert!(Version::parse("0.10").unwrap() > Version::parse("0.6").unwrap());
    }
}
