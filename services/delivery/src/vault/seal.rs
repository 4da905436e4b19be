//! Sealing under the key-encryption key: AES-256-GCM, bound to the place where the sealed value is kept.

use aes_gcm::aead::{Aead as _, KeyInit as _, Payload};
use aes_gcm::{Aes256Gcm, Nonce};
use ma2h::digest::sha256_hex;
use rand::TryRng as _;
use rand::rngs::SysRng;
use zeroize::Zeroizing;

/// The layout of what is sealed: this byte, the nonce, then the ciphertext with its tag.
const LAYOUT: u8 = 1;
const NONCE_BYTES: usize = 12;
const HEAD_BYTES: usize = 1 + NONCE_BYTES;
/// Of the digest that a key is known by.
const ID_CHARS: usize = 16;

/// The table a sealed value is kept in.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Table {
    /// `delivery.secrets`
    Secrets,
    /// `delivery.entry_keys`
    EntryKeys,
    /// `delivery.signing_keys`
    SigningKeys,
}

impl Table {
    fn as_str(self) -> &'static str {
        match self {
            Self::Secrets => "delivery.secrets",
            Self::EntryKeys => "delivery.entry_keys",
            Self::SigningKeys => "delivery.signing_keys",
        }
    }
}

/// Where a sealed value belongs. It opens nowhere else, so a row that is copied over another does not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    /// The table.
    pub(crate) table: Table,
    /// The account; empty for what belongs to the installation.
    pub(crate) account: &'a str,
    /// Whose it is: `agent:…`; empty for what belongs to the installation.
    pub(crate) owner: &'a str,
    /// The name it goes by there.
    pub(crate) name: &'a str,
    /// Its version under that name.
    pub(crate) version: &'a str,
}

impl Place<'_> {
    /// Each part with its length before it: no two places have the same bytes.
    fn associated_data(&self) -> Vec<u8> {
        let parts = [
            self.table.as_str(),
            self.account,
            self.owner,
            self.name,
            self.version,
        ];
        let mut bytes = Vec::with_capacity(parts.iter().map(|part| part.len() + 8).sum());
        for part in parts {
            bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
            bytes.extend_from_slice(part.as_bytes());
        }
        bytes
    }
}

/// Why a value could not be sealed or opened. Says no more: whoever altered a row learns nothing from it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SealError {
    /// The value was sealed under another key than the one configured.
    #[error("the value is sealed under another key-encryption key")]
    OtherKey,
    /// The value was altered, or does not belong where it was found.
    #[error("the sealed value does not open")]
    Altered,
    /// No randomness, or a value beyond what the cipher takes.
    #[error("the value cannot be sealed")]
    Unsealable,
}

/// A sealed value as it is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sealed<'a> {
    /// The key-encryption key it is sealed under.
    pub(crate) kek_id: &'a str,
    /// Layout, nonce, ciphertext, tag.
    pub(crate) bytes: &'a [u8],
}

/// The key that seals and opens.
pub(super) struct KeyEncryptionKey {
    cipher: Aes256Gcm,
    id: String,
}

impl KeyEncryptionKey {
    /// From its bytes; it is known from then on by a digest of them.
    pub(super) fn new(key: &[u8; 32]) -> Self {
        let named = Zeroizing::new([b"ma2h-hub key-encryption key\0".as_slice(), key].concat());
        let mut id = sha256_hex(&*named);
        id.truncate(ID_CHARS);
        Self {
            cipher: Aes256Gcm::new(key.into()),
            id,
        }
    }

    /// The name of the key, to be kept beside what is sealed.
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// Seals `plaintext` for `place`, with a nonce of its own.
    pub(super) fn seal(&self, place: &Place<'_>, plaintext: &[u8]) -> Result<Vec<u8>, SealError> {
        let mut sealed = vec![LAYOUT; HEAD_BYTES];
        SysRng
            .try_fill_bytes(&mut sealed[1..])
            .map_err(|_| SealError::Unsealable)?;
        let nonce = Nonce::try_from(&sealed[1..]).map_err(|_| SealError::Unsealable)?;
        let payload = Payload {
            msg: plaintext,
            aad: &place.associated_data(),
        };
        let ciphertext = self
            .cipher
            .encrypt(&nonce, payload)
            .map_err(|_| SealError::Unsealable)?;
        sealed.extend_from_slice(&ciphertext);
        Ok(sealed)
    }

    /// Opens what was sealed for `place`. The plaintext is wiped when it is dropped.
    pub(super) fn open(
        &self,
        place: &Place<'_>,
        sealed: Sealed<'_>,
    ) -> Result<Zeroizing<Vec<u8>>, SealError> {
        if sealed.kek_id != self.id {
            return Err(SealError::OtherKey);
        }
        let (head, ciphertext) = sealed
            .bytes
            .split_at_checked(HEAD_BYTES)
            .ok_or(SealError::Altered)?;
        if head[0] != LAYOUT {
            return Err(SealError::Altered);
        }
        let nonce = Nonce::try_from(&head[1..]).map_err(|_| SealError::Altered)?;
        let payload = Payload {
            msg: ciphertext,
            aad: &place.associated_data(),
        };
        self.cipher
            .decrypt(&nonce, payload)
            .map(Zeroizing::new)
            .map_err(|_| SealError::Altered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: Place<'static> = Place {
        table: Table::Secrets,
        account: "acme",
        owner: "agent:a",
        name: "env:S",
        version: "1",
    };

    fn open(kek: &KeyEncryptionKey, place: &Place<'_>, bytes: &[u8]) -> Result<Vec<u8>, SealError> {
        kek.open(
            place,
            Sealed {
                kek_id: kek.id(),
                bytes,
            },
        )
        .map(|value| value.to_vec())
    }

    #[test]
    fn a_sealed_value_opens_where_it_belongs_and_nowhere_else() {
        let kek = KeyEncryptionKey::new(&[7; 32]);
        let sealed = kek.seal(&PLACE, b"s3cret").unwrap();
        assert_eq!(open(&kek, &PLACE, &sealed), Ok(b"s3cret".to_vec()));
        for other in [
            Place {
                table: Table::EntryKeys,
                ..PLACE
            },
            Place {
                account: "other",
                ..PLACE
            },
            Place {
                owner: "agent:b",
                ..PLACE
            },
            Place {
                name: "env:T",
                ..PLACE
            },
            Place {
                version: "2",
                ..PLACE
            },
            // The same letters, divided otherwise.
            Place {
                account: "acmeagent:",
                owner: "a",
                ..PLACE
            },
        ] {
            assert_eq!(open(&kek, &other, &sealed), Err(SealError::Altered), "{other:?}");
        }
    }

    #[test]
    fn an_altered_value_does_not_open() {
        let kek = KeyEncryptionKey::new(&[7; 32]);
        let sealed = kek.seal(&PLACE, b"s3cret").unwrap();
        for position in 0..sealed.len() {
            let mut altered = sealed.clone();
            altered[position] ^= 1;
            assert_eq!(
                open(&kek, &PLACE, &altered),
                Err(SealError::Altered),
                "byte {position}"
            );
        }
        for length in 0..sealed.len() {
            assert_eq!(
                open(&kek, &PLACE, &sealed[..length]),
                Err(SealError::Altered),
                "{length} bytes"
            );
        }
    }

    #[test]
    fn another_key_is_told_from_an_altered_value() {
        let (old, new) = (KeyEncryptionKey::new(&[1; 32]), KeyEncryptionKey::new(&[2; 32]));
        let bytes = old.seal(&PLACE, b"s3cret").unwrap();
        let sealed = Sealed {
            kek_id: old.id(),
            bytes: &bytes,
        };
        assert_eq!(new.open(&PLACE, sealed).map(|_| ()), Err(SealError::OtherKey));
        assert_eq!(open(&new, &PLACE, &bytes), Err(SealError::Altered));
    }

    #[test]
    fn each_seal_has_a_nonce_of_its_own() {
        let kek = KeyEncryptionKey::new(&[7; 32]);
        assert_ne!(
            kek.seal(&PLACE, b"s3cret").unwrap(),
            kek.seal(&PLACE, b"s3cret").unwrap()
        );
    }
}
