//! Secrets that are left with the hub, and the names they go by: `secret_ref`, `token_ref` (§9.2).

use crate::error::Problem;
use crate::sign::Algorithm;

/// Characters of a reference.
pub const REFERENCE_CHARS_MAX: usize = 256;
/// Bytes of a secret.
pub const VALUE_BYTES_MAX: usize = 4096;
/// Bytes of an entry key. The protocol sets no floor; what is shorter can be guessed from one signature.
pub const ENTRY_KEY_BYTES_MIN: usize = 16;

/// Whether a text can be a reference: short, and printable.
pub fn is_reference(text: &str) -> bool {
    (1..=REFERENCE_CHARS_MAX).contains(&text.chars().count()) && !text.contains(char::is_control)
}

/// Refuses what cannot be a reference.
pub fn check_reference(text: &str) -> Result<(), Problem> {
    if is_reference(text) {
        return Ok(());
    }
    Err(Problem::invalid_field(format!(
        "ref: expected 1 to {REFERENCE_CHARS_MAX} characters, no control characters"
    )))
}

/// Refuses what cannot be a secret; `member` says where it stands.
pub fn check_value(member: &str, value: &str) -> Result<(), Problem> {
    if (1..=VALUE_BYTES_MAX).contains(&value.len()) {
        return Ok(());
    }
    Err(Problem::invalid_field(format!(
        "{member}: expected 1 to {VALUE_BYTES_MAX} bytes"
    )))
}

/// Refuses an entry key without the secret that its algorithm needs, or with one that it does not take.
pub fn check_entry_key(algorithm: Algorithm, secret: Option<&str>) -> Result<(), Problem> {
    match (algorithm, secret) {
        (Algorithm::HmacSha256, Some(secret)) if secret.len() < ENTRY_KEY_BYTES_MIN => {
            Err(Problem::invalid_field(format!(
                "secret: expected {ENTRY_KEY_BYTES_MIN} to {VALUE_BYTES_MAX} bytes"
            )))
        }
        (Algorithm::HmacSha256, Some(secret)) => check_value("secret", secret),
        (Algorithm::HmacSha256, None) => Err(Problem::invalid_field("secret: required for hmac-sha256")),
        (Algorithm::Ed25519, None) => Ok(()),
        (Algorithm::Ed25519, Some(_)) => Err(Problem::invalid_field(
            "secret: ed25519 signs with the hub's own key",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::{Algorithm, check_entry_key, check_reference, check_value};

    #[test]
    fn a_reference_is_a_short_printable_name() {
        let (longest, too_long) = ("r".repeat(256), "r".repeat(257));
        for name in ["env:MA2H_CALLBACK_SECRET", "vault://team/пароль", &longest] {
            assert!(check_reference(name).is_ok(), "{name:?}");
        }
        for name in ["", "env:\0", "line\nbreak", &too_long] {
            assert!(
                check_reference(name).unwrap_err().message.starts_with("ref: "),
                "{name:?}"
            );
        }
    }

    #[test]
    fn a_secret_is_neither_empty_nor_endless() {
        assert!(check_value("value", "x").is_ok());
        assert!(check_value("value", &"x".repeat(4096)).is_ok());
        for value in ["", &"x".repeat(4097)] {
            assert!(
                check_value("value", value)
                    .unwrap_err()
                    .message
                    .starts_with("value: ")
            );
        }
    }

    #[test]
    fn each_algorithm_has_its_secret_or_none() {
        let (shortest, too_short) = ("k".repeat(16), "k".repeat(15));
        assert!(check_entry_key(Algorithm::HmacSha256, Some(&shortest)).is_ok());
        assert!(check_entry_key(Algorithm::Ed25519, None).is_ok());
        for (algorithm, secret) in [
            (Algorithm::HmacSha256, None),
            (Algorithm::HmacSha256, Some("")),
            (Algorithm::HmacSha256, Some(&too_short)),
            (Algorithm::Ed25519, Some("x")),
        ] {
            assert!(
                check_entry_key(algorithm, secret).is_err(),
                "{algorithm:?} {secret:?}"
            );
        }
    }
}
