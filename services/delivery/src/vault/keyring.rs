//! The key-encryption keys of the configuration: one seals, all open.

use hub_platform::config::{self, Security};
use zeroize::Zeroizing;

use super::seal::{KeyEncryptionKey, Place, SealError, Sealed};

/// The key that seals from now on, and those that still open what was sealed under them. While the key is being changed,
/// the replicas of before and of after read what each other sealed.
pub(crate) struct Keyring {
    current: KeyEncryptionKey,
    accepted: Vec<KeyEncryptionKey>,
}

impl Keyring {
    /// The keys that are configured.
    pub(crate) fn of(security: &Security) -> Result<Self, config::Error> {
        let accepted = security.accepted_key_encryption_keys_bytes()?;
        Ok(Self {
            current: KeyEncryptionKey::new(&security.key_encryption_key_bytes()?),
            accepted: accepted.iter().map(KeyEncryptionKey::new).collect(),
        })
    }

    /// The name of the key that seals, to be kept beside what is sealed.
    pub(crate) fn id(&self) -> &str {
        self.current.id()
    }

    /// The names of all keys that open.
    pub(crate) fn ids(&self) -> Vec<&str> {
        self.keys().map(KeyEncryptionKey::id).collect()
    }

    /// Seals `plaintext` for `place` under the current key.
    pub(crate) fn seal(&self, place: &Place<'_>, plaintext: &[u8]) -> Result<Vec<u8>, SealError> {
        self.current.seal(place, plaintext)
    }

    /// Opens what was sealed for `place` under any of the keys. The plaintext is wiped when it is dropped.
    pub(crate) fn open(
        &self,
        place: &Place<'_>,
        sealed: Sealed<'_>,
    ) -> Result<Zeroizing<Vec<u8>>, SealError> {
        let key = self.keys().find(|key| key.id() == sealed.kek_id);
        key.ok_or(SealError::OtherKey)?.open(place, sealed)
    }

    fn keys(&self) -> impl Iterator<Item = &KeyEncryptionKey> {
        std::iter::once(&self.current).chain(&self.accepted)
    }
}

#[cfg(test)]
mod tests {
    use hub_platform::config::Config;

    use super::*;
    use crate::vault::Table;

    const PLACE: Place<'static> = Place {
        table: Table::Secrets,
        account: "acme",
        owner: "agent:a",
        name: "env:S",
        version: "1",
    };

    fn keyring(current: &str, accepted: &str) -> Keyring {
        let variables = [
            ("HUB_KEY_ENCRYPTION_KEY", current.repeat(32)),
            (
                "HUB_KEY_ENCRYPTION_KEYS_ACCEPTED",
                accepted
                    .split_terminator(',')
                    .map(|key| key.repeat(32) + ",")
                    .collect(),
            ),
        ];
        let config = Config::load(variables.map(|(name, value)| (name.to_owned(), value))).unwrap();
        Keyring::of(&config.security).unwrap()
    }

    #[test]
    fn before_and_after_a_change_of_keys_each_opens_what_the_other_sealed() {
        let (before, after) = (keyring("0a", "0b"), keyring("0b", "0a"));
        for (sealer, opener) in [(&before, &after), (&after, &before), (&after, &after)] {
            let bytes = sealer.seal(&PLACE, b"s3cret").unwrap();
            let sealed = Sealed {
                kek_id: sealer.id(),
                bytes: &bytes,
            };
            assert_eq!(opener.open(&PLACE, sealed).unwrap().as_slice(), b"s3cret");
        }
        let without = keyring("0b", "");
        let bytes = before.seal(&PLACE, b"s3cret").unwrap();
        let sealed = Sealed {
            kek_id: before.id(),
            bytes: &bytes,
        };
        assert_eq!(without.open(&PLACE, sealed).err(), Some(SealError::OtherKey));
        assert_eq!(before.ids(), [before.id(), after.id()]);
    }
}
